/** Completion inside of a call: parameters by name, and what a lock file knows of the tools of MCP servers. */
import type { CompletionItem } from "vscode-languageserver-protocol";
import type { CompilerHost } from "../compiler/load/host.ts";
import { type LockedTool, readToolLocks } from "../compiler/load/tool-lock.ts";
import { typeToText } from "../compiler/types/type-text.ts";
import type * as Ast from "../grammar/ast.ts";
import { nodeSignatures } from "../stdlib/signatures.ts";
import type { CheckedDocument } from "./document.ts";
import type { FileNames, NameIndex } from "./name-index.ts";
import { openBrackets, type OpenBracket } from "./signature-help.ts";

/** `CompletionItemKind` of the protocol. */
const KIND = { property: 10, value: 12 } as const;

export interface CallSources {
  readonly checked: CheckedDocument;
  readonly file: FileNames;
  readonly index: NameIndex;
  readonly host: CompilerHost;
}

/** The parameters of a call that a name can begin with, and the values that a string of it can have. */
export function callItems(before: string, sources: CallSources): CompletionItem[] {
  const open = openBrackets(before);
  const [outer, inner] = [open.at(-2), open.at(-1)];
  if (inner === undefined) return [];
  const written = before.slice(inner.from);
  if (inner.callee !== "") {
    const tools = inner.callee === "tool" ? toolItems(before, inner, sources) : [];
    if (tools.length > 0) return tools;
    if (!/^\s*\w*$/.test(written)) return [];
    const others = before.slice(inner.at, inner.from);
    return parameterItems(inner.callee, others, inner.commas - namesIn(others), sources);
  }
  if (outer === undefined) return [];
  const name = /^\s*(\w+)\s*:\s*[[{]$/.exec(before.slice(outer.from, inner.at))?.[1];
  if (outer.callee === "llm" && name === "servers")
    return quotedItems(written, [...serversOf(sources).keys()].map(itemOf));
  if (outer.callee !== "tool" || name !== "arguments") return [];
  const [server = "", tool = ""] = stringsOf(before.slice(outer.at, inner.at));
  return argumentItems(written, before.slice(inner.at), serversOf(sources).get(server)?.get(tool));
}

/**
 * The parameters of a built-in node or of a graph, without those that the call has.
 *
 * @param positional the number of arguments without a name
 */
export function parameterItems(
  callee: string,
  written: string,
  positional: number,
  sources: CallSources,
): CompletionItem[] {
  return parametersOf(callee, sources)
    .slice(positional)
    .filter(({ name }) => !new RegExp(`\\b${name}\\s*:`).test(written))
    .map(({ name, type }) => ({
      label: name,
      kind: KIND.property,
      detail: type,
      insertText: `${name}: `,
      sortText: `00${name}`,
    }));
}

function parametersOf(
  callee: string,
  { file, index }: CallSources,
): readonly { readonly name: string; readonly type: string }[] {
  const target = file.uses.find(({ name, kind }) => name === callee && (kind === "graph" || kind === "plan"))?.target;
  if (target === undefined)
    return (nodeSignatures.get(callee)?.parameters ?? []).map(({ name, type }) => ({ name, type: typeToText(type) }));
  // The text of the graph: a call that is not finished is not bound to it.
  const [path = "", name = ""] = target.split("\n");
  const owner = index.of(path);
  const called = owner?.file.items.find(
    (item) => (item.kind === "Graph" || item.kind === "Plan") && item.name.name === name,
  );
  if (owner === undefined || (called?.kind !== "Graph" && called?.kind !== "Plan")) return [];
  const statements: readonly (Ast.Statement | Ast.PlanStatement)[] = called.statements;
  return statements.flatMap((each) =>
    each.kind === "Channel" && each.role === "input"
      ? [{ name: each.name.name, type: owner.source.text.slice(each.type.span.start, each.type.span.end) }]
      : [],
  );
}

function toolItems(before: string, call: OpenBracket, sources: CallSources): CompletionItem[] {
  const servers = serversOf(sources);
  const written = before.slice(call.from);
  if (!/^\s*(?:"[^"]*)?$/.test(written)) return [];
  if (call.commas === 0) return quotedItems(written, [...servers.keys()].map(itemOf));
  const [server = ""] = stringsOf(before.slice(call.at));
  const tools = call.commas === 1 ? [...(servers.get(server) ?? [])] : [];
  return quotedItems(
    written,
    tools.map(([name, { description }]) => ({
      ...itemOf(name),
      ...(description === undefined ? {} : { documentation: description }),
    })),
  );
}

/** The tools of the lock files by server; the nearest file wins. */
export function serversOf({ checked, host }: CallSources): ReadonlyMap<string, ReadonlyMap<string, LockedTool>> {
  const found = new Map<string, ReadonlyMap<string, LockedTool>>();
  for (const { servers } of readToolLocks(checked.document.path, host))
    for (const [name, tools] of servers ?? []) if (!found.has(name)) found.set(name, tools);
  return found;
}

/** The arguments that the schema of a tool names, or the values of the one that is being written. */
function argumentItems(written: string, all: string, tool: LockedTool | undefined): CompletionItem[] {
  const properties = objectOf(objectOf(tool?.inputSchema)?.["properties"]) ?? {};
  const name = /^\s*(\w+)\s*:\s*(?:"[^"]*)?$/.exec(written)?.[1];
  if (name !== undefined) {
    const values = Object.hasOwn(properties, name) ? objectOf(properties[name])?.["enum"] : undefined;
    const texts = Array.isArray(values) ? values.filter((each): each is string => typeof each === "string") : [];
    return quotedItems(written, texts.map(itemOf));
  }
  if (!/^\s*\w*$/.test(written)) return [];
  return Object.entries(properties)
    .filter(([key]) => !new RegExp(`(?:^|,)\\s*${key.replaceAll(/\W/g, "\\$&")}\\s*[:,}]`).test(all))
    .map(([key, schema]) => {
      const { type, description } = objectOf(schema) ?? {};
      return {
        label: key,
        kind: KIND.property,
        insertText: `${key}: `,
        sortText: `00${key}`,
        ...(typeof type === "string" ? { detail: type } : {}),
        ...(typeof description === "string" ? { documentation: description } : {}),
      };
    });
}

/** The number of named arguments, without names inside of brackets. */
function namesIn(written: string): number {
  let flat = written.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, "");
  for (let before = ""; before !== flat;) [before, flat] = [flat, flat.replaceAll(/[([{][^()[\]{}]*[)\]}]/g, "")];
  return (flat.match(/(?:^|,)\s*\w+\s*:/g) ?? []).length;
}

function itemOf(label: string): CompletionItem {
  return { label, kind: KIND.value, sortText: `00${label}` };
}

/** Strings: with quotes, unless the first one is there. */
function quotedItems(written: string, items: readonly CompletionItem[]): CompletionItem[] {
  return written.includes('"')
    ? [...items]
    : items.map((item) => ({ ...item, insertText: JSON.stringify(item.label) }));
}

function stringsOf(text: string): readonly string[] {
  return [...text.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(([, inner = ""]) => inner);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}
