/** What an editor shows about a name: its declaration, its documentation, and what the compiler knows of it. */
import type { CompiledGraph } from "../compiler/compile.ts";
import type { BoundChannel, BoundGraph, BoundNode } from "../compiler/bind/bound-graph.ts";
import type { BoundPlan, BoundTask } from "../compiler/bind/plan/bound-plan.ts";
import { librarySignatures } from "../compiler/expressions/library-signatures.ts";
import { typeToText } from "../compiler/types/type-text.ts";
import type { Span } from "../diagnostics/source.ts";
import type * as Ast from "../grammar/ast.ts";
import { nodeSignatures } from "../stdlib/signatures.ts";
import type { NodeSignature } from "../stdlib/signature.ts";
import type { CheckedDocument } from "./document.ts";
import { declarationsOf, namesAt } from "./navigate.ts";
import type { FileNames, NameIndex } from "./name-index.ts";
import type { NameUse } from "./names.ts";

/** Markdown about the name at an offset, and the span of the name. */
export interface HoverText {
  readonly text: string;
  readonly span: Span;
}

/** The longest declaration that is shown, in characters. */
const LONGEST = 1200;

export function findHover(
  checked: CheckedDocument,
  file: FileNames,
  offset: number,
  index: NameIndex,
): HoverText | undefined {
  const [use] = namesAt(file, offset);
  if (use === undefined) return undefined;
  const parts = describe(use, checked, index).filter((part) => part !== "");
  return parts.length === 0 ? undefined : { text: parts.join("\n\n"), span: use.span };
}

function describe(use: NameUse, checked: CheckedDocument, index: NameIndex): readonly string[] {
  switch (use.kind) {
    case "builtin":
      return ofBuiltin(nodeSignatures.get(use.name));
    case "library": {
      const usage = librarySignatures.get(use.name)?.usage;
      return usage === undefined ? [] : [code(usage), "A function of the expression library."];
    }
    default: {
      const exported = index.exportOf(use.target);
      if (exported !== undefined) return [code(exported.text, "ts"), docOf(exported.source.text, exported.span.start)];
      return ofDeclared(use, checked, index);
    }
  }
}

/** `shell(command, cwd?, …)` with the types of its parameters. */
export function signatureText({ name, parameters }: NodeSignature): string {
  const shown = parameters.map((each) => `${each.name}${each.optional === true ? "?" : ""}: ${typeToText(each.type)}`);
  return `${name}(${shown.join(", ")})`;
}

function ofBuiltin(signature: NodeSignature | undefined): readonly string[] {
  if (signature === undefined) return [];
  const { effects, summary } = signature;
  const about = effects.length === 0 ? "" : `Effects: ${effects.join(", ")}.`;
  return [code(signatureText(signature)), `${capitalised(summary)}.`, about];
}

function ofDeclared(use: NameUse, checked: CheckedDocument, index: NameIndex): readonly string[] {
  const [place] = declarationsOf(use.target, index);
  const owner = place === undefined ? undefined : index.of(place.source.path);
  const declaration = owner === undefined ? undefined : declarationAt(owner.file, place!.span);
  const shown = declaration === undefined ? "" : code(firstLines(owner!.source.text, declaration));
  const doc = (declaration as { readonly doc?: Ast.DocComment } | undefined)?.doc?.text ?? "";
  return [shown, doc, ...facts(use, checked)];
}

/** The declaration whose name is at a span. */
function declarationAt(file: Ast.File, name: Span): { readonly span: Span } | undefined {
  for (const item of file.items) {
    if ("name" in item && item.name.span.start === name.start) return item;
    if (item.kind !== "Graph" && item.kind !== "Plan") continue;
    for (const statement of item.statements) {
      if ("name" in statement && statement.name.span.start === name.start) return statement;
    }
  }
  return undefined;
}

/** The text of a declaration: of a graph or plan, the line that names it. */
function firstLines(
  text: string,
  declaration: {
    readonly span: Span;
    readonly kind?: string;
    readonly doc?: Ast.DocComment;
    readonly name?: { readonly span: Span };
  },
): string {
  const { span, doc, name = { span } } = declaration;
  // In YAML the documentation is one of the fields behind the name.
  const start = doc !== undefined && doc.span.end <= name.span.start ? Math.max(span.start, doc.span.end) : span.start;
  const whole = text.slice(start, declaration.span.end).trim();
  const isUnit = declaration.kind === "Graph" || declaration.kind === "Plan";
  const shown = isUnit ? (whole.split("\n", 1)[0] ?? "").replace(/\{\s*$/, "").trim() : whole;
  return shown.length <= LONGEST ? shown : `${shown.slice(0, LONGEST)}…`;
}

function facts(use: NameUse, { result }: CheckedDocument): readonly string[] {
  const [, unit = "", , name = ""] = use.target.split("\n");
  const graph = result.graphs.find((each) => each.name === unit);
  const plan = result.plans.find((each) => each.name === unit)?.bound;
  switch (use.kind) {
    case "channel":
      return graph === undefined
        ? ofChannel(plan?.channels, plan?.tasks, name)
        : ofChannel(graph.bound.channels, graph.bound.nodes, name);
    case "node":
      return graph === undefined ? [] : ofNode(graph, name);
    case "task":
      return plan === undefined ? [] : ofTask(plan, name);
    case "graph":
    case "plan": {
      const bound = graph?.bound ?? plan ?? calledUnit(use.target, result);
      return bound === undefined ? [] : ofUnit(bound.channels, graph?.verdict?.text);
    }
    case "variable":
      return ofVariable(use, result);
    default:
      return [];
  }
}

type Step = Pick<BoundNode | BoundTask, "name" | "reads" | "writes">;

function ofChannel(
  channels: readonly BoundChannel[] = [],
  steps: readonly Step[] = [],
  name: string,
): readonly string[] {
  const channel = channels.find((each) => each.name === name);
  if (channel === undefined) return [];
  const list = (of: readonly Step[]): string => [...new Set(of.map((each) => `\`${each.name}\``))].join(", ");
  const writers = list(steps.filter(({ writes }) => writes.includes(name)));
  const readers = list(steps.filter(({ reads }) => reads.includes(name)));
  return [
    `Type: \`${typeToText(channel.type)}\``,
    [writers === "" ? "" : `Written by ${writers}.`, readers === "" ? "" : `Read by ${readers}.`].join(" ").trim(),
  ];
}

function ofNode(graph: CompiledGraph, name: string): readonly string[] {
  const node = graph.bound.nodes.find((each) => each.name === name);
  if (node === undefined) return [];
  const { start, end } = node.declaration.name.span;
  const proven = graph.proofs
    .filter(({ span, message }) => (span.start <= start && end <= span.end) || message.includes(`\`${name}\``))
    .map(({ code: id, message }) => `- ${message} (${id})`);
  return [...ofStep(node), proven.length === 0 ? "" : `Proven:\n${[...new Set(proven)].slice(0, 8).join("\n")}`];
}

function ofTask(plan: BoundPlan, name: string): readonly string[] {
  const tasks = plan.tasks.filter((each) => each.declaration.name.name === name);
  const [task] = tasks;
  if (task === undefined) return [];
  const after = [...new Set(task.after.map((at) => `\`${plan.tasks[at]?.declaration.name.name ?? ""}\``))];
  return [
    ...ofStep(task),
    after.length === 0 ? "" : `After ${after.join(", ")}.`,
    tasks.length === 1 ? "" : `${tasks.length} tasks.`,
  ];
}

function ofStep({ reads, writes, effects }: Step & Pick<BoundNode, "effects">): readonly string[] {
  const list = (names: readonly string[]): string => names.map((each) => `\`${each}\``).join(", ");
  const lines = [
    reads.length === 0 ? "" : `Reads ${list(reads)}.`,
    writes.length === 0 ? "" : `Writes ${list(writes)}.`,
    effects.length === 0 ? "" : `Effects: ${effects.join(", ")}.`,
  ].filter((line) => line !== "");
  return [lines.join(" ")];
}

function ofUnit(channels: readonly BoundChannel[], verdict: string | undefined): readonly string[] {
  const list = (role: string): string =>
    channels.flatMap((each) => (each.role === role ? [`\`${each.name}: ${typeToText(each.type)}\``] : [])).join(", ");
  const [inputs, outputs] = [list("input"), list("output")];
  return [
    inputs === "" ? "" : `Inputs: ${inputs}`,
    outputs === "" ? "" : `Outputs: ${outputs}`,
    verdict === undefined ? "" : `${capitalised(verdict)}.`,
  ];
}

/** A graph or plan of another file that this one calls. */
export function calledUnit(target: string, result: CheckedDocument["result"]): BoundGraph | BoundPlan | undefined {
  const [path = "", name = ""] = target.split("\n");
  const file = path.slice(path.lastIndexOf("/") + 1);
  const called = [...result.graphs, ...result.plans].flatMap(({ bound }) => [...bound.graphs, ...(bound.plans ?? [])]);
  return called.find((each) => each.name === name && each.file.path.endsWith(file));
}

/** An item of a node's `for`, with its type. */
function ofVariable({ name, target }: NameUse, result: CheckedDocument["result"]): readonly string[] {
  const at = Number(target.slice(target.lastIndexOf("@") + 1));
  for (const { bound } of result.graphs) {
    const node = bound.nodes.find(({ declaration }) => declaration.each?.item.span.start === at);
    if (node?.each?.list.type.kind === "list")
      return [code(`${name}: ${typeToText(node.each.list.type.item)}`), `An item of \`${node.name}\`.`];
  }
  return [code(name), "A variable of `for`."];
}

/** The comment above a declaration of a TypeScript module. */
function docOf(text: string, at: number): string {
  const before = text.slice(0, text.lastIndexOf("\n", at) + 1).trimEnd();
  if (!before.endsWith("*/")) return "";
  const open = before.lastIndexOf("/**");
  return open === -1
    ? ""
    : before
        .slice(open + 3, -2)
        .replaceAll(/^\s*\* ?/gm, "")
        .trim();
}

function code(text: string, language = "ngraph"): string {
  const fence = text.includes("```") ? "````" : "```";
  return `${fence}${language}\n${text}\n${fence}`;
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
