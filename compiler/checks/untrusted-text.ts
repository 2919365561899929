/** Untrusted text in values and expressions: where it comes from, and what passes it on. */
import type { BoundGraph, BoundNode } from "../bind/bound-graph.ts";
import type { Expression } from "../../runtime/expression/expression.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";

/** Where untrusted text comes from. */
export interface Source {
  /** For messages: "an input", "the answer of a model". */
  readonly what: string;
  readonly kind: SourceKind;
  /** The channel that carries it; absent for an error. */
  readonly channel?: number;
  /** The model node that writes it; absent for an input. */
  readonly node?: number;
}

/** `foreign`: of a person, a signal, a server or a tool. `local`: of a file, a command, the memory or an error. */
export type SourceKind = "model" | "foreign" | "local" | "input";

/** What a sink reports: only models, also foreign ones, or all. */
export type Wanted = "model" | "foreign" | "any";

export const REPORTED: Readonly<Record<Wanted, readonly SourceKind[]>> = {
  model: ["model"],
  foreign: ["model", "foreign"],
  any: ["model", "foreign", "local", "input"],
};

/** The untrusted text in a value: one source of each kind, and the inputs of the graph that it comes from, one bit for each. */
export interface Held {
  readonly sources: Readonly<Partial<Record<SourceKind, Source>>>;
  readonly inputs: bigint;
}

/** Channel -> the untrusted text that it can hold. */
export type Taint = ReadonlyMap<number, Held>;

export const NOTHING: Held = { sources: {}, inputs: 0n };

/** Both; the first one itself if the second adds nothing. */
export function joined(first: Held, second: Held): Held {
  const inputs = first.inputs | second.inputs;
  const kinds = REPORTED.any.filter((kind) => first.sources[kind] === undefined && second.sources[kind] !== undefined);
  if (kinds.length === 0 && inputs === first.inputs) return first;
  return { sources: { ...second.sources, ...first.sources }, inputs };
}

/** The source of a value that a sink reports. Output of a model is found first. */
export function sourceFor({ sources }: Held, wanted: Wanted): Source | undefined {
  for (const kind of REPORTED[wanted]) if (sources[kind] !== undefined) return sources[kind];
  return undefined;
}

/** The untrusted text that the value of an expression contains. */
export function textIn(expression: Expression, taint: Taint, node: Pick<BoundNode, "each">, graph: BoundGraph): Held {
  let held = NOTHING;
  const pending: Expression[] = [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    switch (part.op) {
      case "channel":
        held = joined(held, taint.get(part.channel) ?? NOTHING);
        break;
      case "local":
        if (part.name === node.each?.item) pending.push(node.each.list.expression);
        break;
      case "error":
      case "outcome":
        held = joined(held, { sources: { local: { what: "the message of an error", kind: "local" } }, inputs: 0n });
        break;
      case "member": {
        const type = typeOf(part, node, graph);
        if (type === undefined || holdsText(type, graph)) pending.push(part.of);
        break;
      }
      case "if":
        pending.push(part.then, part.else);
        break;
      case "comprehension":
        pending.push(part.list, part.value);
        break;
      case "binary":
        if (part.operator === "+" || part.operator === "??") pending.push(part.left, part.right);
        break;
      case "library":
        if (!WITHOUT_TEXT.has(part.name)) for (const argument of part.args) pending.push(argument);
        break;
      // An imported function is trusted: it is where text is checked.
      case "call":
      case "not":
      case "negate":
        break;
      default:
        for (const each of expressionParts(part)) pending.push(each);
    }
  }
  return held;
}

/** The declared type of a field of a channel or of an item; `undefined` where it is not that simple. */
function typeOf(expression: Expression, node: Pick<BoundNode, "each">, graph: BoundGraph): ValueType | undefined {
  const fields: string[] = [];
  let base = expression;
  for (; base.op === "member"; base = base.of) fields.push(base.name);
  let type: ValueType | undefined;
  if (base.op === "channel") type = graph.channels[base.channel]?.type;
  else if (base.op === "local" && base.name === node.each?.item) {
    const list = node.each.list.type;
    if (list.kind === "list") type = list.item;
  }
  for (const name of fields.reverse()) {
    if (type?.kind === "ref") {
      const { name: named } = type;
      type = graph.types.find((candidate) => candidate.name === named)?.type;
    }
    if (type?.kind !== "record") return undefined;
    type = type.fields.find((field) => field.name === name)?.type;
  }
  return type;
}

/** Library functions whose result holds no text of their arguments, or quoted text only. */
const WITHOUT_TEXT: ReadonlySet<string> = new Set([
  "quote",
  "len",
  "contains",
  "startsWith",
  "endsWith",
  "matches",
  "sum",
  "min",
  "max",
  "abs",
  "round",
  "range",
  "parseInt",
  "parseFloat",
]);

/** Whether values of a type can contain text that is not written in the graph. */
export function holdsText(type: ValueType, graph: BoundGraph): boolean {
  const seen = new Set<string>();
  const pending: ValueType[] = [type];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    switch (part.kind) {
      case "string":
      case "json":
      case "opaque":
      case "map":
        return true;
      case "list":
        pending.push(part.item);
        break;
      case "record":
        for (const field of part.fields) pending.push(field.type);
        break;
      case "union":
        for (const member of part.members) pending.push(member);
        break;
      case "ref": {
        const { name } = part;
        if (seen.has(name)) break;
        seen.add(name);
        const named = graph.types.find((candidate) => candidate.name === name);
        if (named === undefined) return true;
        pending.push(named.type);
      }
    }
  }
  return false;
}
