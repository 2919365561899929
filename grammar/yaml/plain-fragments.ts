/** Fragments that are read without the parser of the text spelling, which takes ten times as long for them: one name, and edges between names. */
import type { EdgeDecl, Identifier, Output } from "../ast.ts";
import type { Fragments } from "../fragments.ts";
import { RESERVED_WORDS } from "../words.ts";
import type { YamlScalar } from "./yaml-tree.ts";

const NAME = /^[A-Za-z_]\w*$/;
const RESERVED: ReadonlySet<string> = new Set(RESERVED_WORDS);

/** Whether a text is a name and not a word of the language. */
export function isName(text: string): boolean {
  return NAME.test(text) && !RESERVED.has(text);
}

/** A name without quotes. */
export function isPlainName(node: YamlScalar): node is YamlScalar & { readonly value: string } {
  return isWritten(node) && isName(node.value);
}

/** Its text in the file is its value. */
function isWritten(node: YamlScalar): node is YamlScalar & { readonly value: string } {
  return typeof node.value === "string" && node.span.end - node.span.start === node.value.length;
}

const EDGE = /^[A-Za-z_]\w*(?: -> [A-Za-z_]\w*)+(?:, [A-Za-z_]\w*)*$/;

/** The fragment of a scalar without quotes; `undefined` where the parser must read it. */
export function plainFragment<Kind extends keyof Fragments>(kind: Kind, node: YamlScalar): Fragments[Kind] | undefined {
  const fragment = kind === "output" ? plainOutput(node) : kind === "edge" ? plainEdge(node) : undefined;
  return fragment as Fragments[Kind] | undefined;
}

/** `notes` */
function plainOutput(node: YamlScalar): Output | undefined {
  if (!isPlainName(node)) return undefined;
  const { span, value } = node;
  return { kind: "ChannelOutput", span, channel: { kind: "Identifier", span, name: value } };
}

/** `a -> b -> c, d` */
function plainEdge(node: YamlScalar): EdgeDecl | undefined {
  if (!isWritten(node) || !EDGE.test(node.value)) return undefined;
  const names: Identifier[] = [];
  let at = node.span.start;
  for (const name of node.value.split(/ -> |, /)) {
    if (RESERVED.has(name)) return undefined;
    names.push({ kind: "Identifier", span: { start: at, end: at + name.length }, name });
    at += name.length + (node.value.startsWith(",", at + name.length - node.span.start) ? 2 : 4);
  }
  const comma = node.value.indexOf(",");
  const links = (comma === -1 ? node.value : node.value.slice(0, comma)).split(" -> ").length;
  const [first] = names;
  const targets = names.slice(links - 1);
  const [target] = targets;
  if (first === undefined || target === undefined) return undefined;
  return {
    kind: "Edge",
    span: node.span,
    source: { kind: "NodeList", span: first.span, nodes: [first] },
    chain: names.slice(1, links - 1),
    to: { kind: "Targets", span: { start: target.span.start, end: node.span.end }, nodes: targets, onError: false },
  };
}
