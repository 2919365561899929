/**
 * Graphs whose nodes read and write one common state: those of NeoGraph and LangGraph. Each node is a function that receives the
 * state as a record and returns the fields that it writes.
 */
import { PRINT_WIDTH } from "../grammar/format/print-file.ts";
import { comment, Names, quoted, recordKey } from "./imported.ts";

/** The built-in nodes, in edges. No name of a source is equal to them. */
export const START = "\u0000start";
export const END = "\u0000end";

export interface StateChannel {
  /** The name in the source. */
  readonly name: string;
  readonly type: string;
  /** The type of the channel in TypeScript. */
  readonly stubType: string;
  /** The start value, as an expression. */
  readonly initial?: string;
  /** `append`, `last`, … or the name of an imported function. */
  readonly reducer?: string;
  /** The field of the record that functions receive and return; absent: it has the name of the channel. */
  readonly field?: string;
  readonly notes?: readonly string[];
}

export interface StateNode {
  readonly name: string;
  /** The imported function; or, with `graph`, a graph of the file. */
  readonly call: string;
  readonly graph?: {
    readonly input: readonly (readonly [inner: string, outer: string])[];
    readonly output: readonly (readonly [inner: string, outer: string])[];
  };
  /** A record of the node's configuration, as an expression. */
  readonly config?: string;
  /** The channels that the node reads; `undefined`: any. */
  readonly reads?: readonly string[];
  /** The channels that the node may write; `undefined`: any. */
  readonly writes?: readonly string[];
  readonly policies?: readonly string[];
  /** The nodes that the function of the node may jump to. */
  readonly goes?: readonly string[];
  readonly notes?: readonly string[];
}

/** A branch of a conditional edge. `target` may be `end`. */
export interface StateRoute {
  readonly key: string;
  readonly targets: readonly string[];
}

export type StateEdge =
  | {
      readonly kind: "plain";
      readonly from: readonly string[];
      readonly to: readonly string[];
      readonly join?: "all";
      readonly notes?: readonly string[];
    }
  | {
      readonly kind: "routes";
      readonly from: string;
      /** The imported function that returns the key. */
      readonly condition: string;
      /** The channel that holds the key; then there is no condition. */
      readonly channel?: string;
      readonly routes: readonly StateRoute[];
      /** Further keys that the condition is known to return. One without a route is then a finding of the check. */
      readonly returns?: readonly string[];
      /** The targets of every other key. */
      readonly otherwise?: readonly string[];
      readonly notes?: readonly string[];
    };

export type RoutesEdge = Extract<StateEdge, { readonly kind: "routes" }>;

export interface StateGraph {
  readonly name: string;
  readonly notes: readonly string[];
  readonly doc?: string;
  readonly channels: readonly StateChannel[];
  readonly nodes: readonly StateNode[];
  /** `start` and `end` are names of the language here. */
  readonly edges: readonly StateEdge[];
  readonly graphs: readonly StateGraph[];
  readonly limits?: readonly string[];
}

export interface WrittenGraph {
  readonly text: string;
  readonly stubs: string;
}

type FunctionKind = "node" | "condition" | "reducer";

/** The names of functions, types and graphs of a file. */
export interface FileNames {
  readonly globals: Names;
  /** By their kinds and names: a source may use one name for a node function and a condition. */
  readonly functions: Map<
    string,
    /** The states of the graphs that call it. */
    { readonly source: string; readonly kind: FunctionKind; readonly states: Set<string> }
  >;
  /** Of a condition: the keys that it returns. */
  readonly keys: Map<string, Set<string>>;
  /** Conditions that return other keys, too. */
  readonly open: Set<string>;
  /** The graphs that are written: their channels, and the fields of their inputs, by the names of the source. */
  readonly written: Map<
    string,
    { readonly channels: ReadonlyMap<string, string>; readonly fields: ReadonlyMap<string, string> }
  >;
}

/** The text of a file with a graph and the graphs that it calls. */
export function writeStateGraph(graph: StateGraph, module: string, header: readonly string[]): WrittenGraph {
  const names: FileNames = {
    globals: new Names(),
    functions: new Map(),
    keys: new Map(),
    open: new Set(),
    written: new Map(),
  };
  const bodies: string[] = [];
  const types: string[] = [];
  const stubTypes: string[] = [];
  // Functions keep their names: they may exist.
  const reserve = (each: StateGraph): void => {
    for (const inner of each.graphs) reserve(inner);
    for (const node of each.nodes) if (node.graph === undefined) names.globals.of("node", node.call);
    for (const edge of each.edges)
      if (edge.kind === "routes" && edge.channel === undefined) names.globals.of("condition", edge.condition);
  };
  reserve(graph);
  const visit = (each: StateGraph): void => {
    for (const inner of each.graphs) visit(inner);
    const written = graphText(each, names);
    bodies.push(written.text);
    types.push(written.type);
    stubTypes.push(written.stubType);
  };
  visit(graph);
  const functions = [...names.functions.values()].map(({ kind, source }) => names.globals.of(kind, source));
  const imports = functions.length === 0 ? "" : `import { ${functions.join(", ")} } from ${quoted(module)}\n`;
  const text = [header.map((line) => comment(line)).join("\n"), imports, types.join("\n"), bodies.join("\n\n")]
    .filter((part) => part !== "")
    .join("\n\n");
  return { text: `${text}\n`, stubs: stubsOf(names, stubTypes) };
}

function graphText(
  graph: StateGraph,
  names: FileNames,
): { readonly text: string; readonly type: string; readonly stubType: string } {
  const name = names.globals.of("graph", graph.name);
  const typeName = names.globals.fresh(`${pascal(graph.name)}State`);
  const local = new Names(["input"]);
  const channels = new Map(graph.channels.map((channel) => [channel.name, local.of("channel", channel.name)]));
  const fieldNames = new Map(
    graph.channels.map((channel) => [
      channel.name,
      channel.field === undefined ? channels.get(channel.name)! : recordKey(channel.field),
    ]),
  );
  names.written.set(graph.name, { channels, fields: fieldNames });
  /** The channel as a field of a record: `a`, or `field: a`; with the mark of a field that need not be there. */
  const fieldOf = (channel: string, mark = ""): string => {
    const [field, own] = [fieldNames.get(channel)!, channels.get(channel)!];
    return field === own ? `${own}${mark}` : `${field}${mark}: ${own}`;
  };
  const record = (of: Iterable<string>, mark?: string): string =>
    `{ ${[...of].map((channel) => fieldOf(channel, mark)).join(", ")} }`;
  const nodeNames = new Map(graph.nodes.map((node) => [node.name, local.of("node", node.name)]));
  const current = local.fresh("current");
  const begin = local.fresh("begin");
  const nodeOf = (source: string): string =>
    source === START ? "start" : source === END ? "end" : (nodeNames.get(source) ?? source);
  const functionOf = (source: string, kind: FunctionKind): string => {
    const key = `${kind} ${source}`;
    const called = names.functions.get(key) ?? { source, kind, states: new Set() };
    names.functions.set(key, called);
    called.states.add(channels.size === 0 ? "object" : typeName);
    return names.globals.of(kind, source);
  };
  const lines: string[] = [];
  const say = (notes: readonly string[] | undefined): void => {
    for (const note of notes ?? []) lines.push(comment(note, "//", "  "));
  };

  if (channels.size > 0) lines.push(`  input input: ${typeName} = {}`);
  for (const channel of graph.channels) {
    say(channel.notes);
    const initial = channel.initial === undefined ? "" : ` = ${channel.initial}`;
    const known = channel.reducer === undefined || BUILT_IN.has(channel.reducer);
    const reducer =
      channel.reducer === undefined
        ? ""
        : ` reduce ${known ? channel.reducer : functionOf(channel.reducer!, "reducer")}`;
    lines.push(`  output ${channels.get(channel.name)}: ${channel.type}${initial}${reducer}`);
  }
  lines.push("");
  const readsAll =
    graph.nodes.some((node) => node.graph === undefined && node.reads === undefined) ||
    graph.edges.some((edge) => edge.kind === "routes" && edge.channel === undefined);
  if (channels.size > 0 && readsAll) lines.push(`  derive ${current} = ${record(channels.keys())}`, "");
  const state = (reads: readonly string[] | undefined): string =>
    reads === undefined ? (channels.size > 0 ? current : "{}") : record(reads);
  if (channels.size > 0) {
    lines.push(comment("The input of a run writes the state.", "///", "  "));
    lines.push(`  node ${begin} = input into ${record(channels.keys(), "?")}`);
  }
  for (const node of graph.nodes) {
    say(node.notes);
    const args = [state(node.reads), ...(node.config === undefined ? [] : [node.config])].join(", ");
    // A result need not have each field: NeoGraph and LangGraph apply those that are there.
    const writes = node.writes ?? [...channels.keys()];
    const goes = node.goes === undefined ? [] : [`goes ${node.goes.map(nodeOf).join(", ")}`];
    const own = [...goes, ...(node.policies ?? [])];
    const policies = own.length === 0 ? "" : ` { ${own.join("  ")} }`;
    let call: string;
    let into: string;
    if (node.graph === undefined) {
      call = `${functionOf(node.call, "node")}(${args})`;
      into = writes.length === 0 ? "" : ` into ${record(writes, "?")}`;
    } else {
      const called = names.written.get(node.call);
      const fields = node.graph.input.map(([source, outer]) => {
        const inner = called?.fields.get(source) ?? source;
        return inner === channels.get(outer) ? inner : `${inner}: ${channels.get(outer)}`;
      });
      call = `${names.globals.of("graph", node.call)}(${fields.length === 0 ? "" : `input: { ${fields.join(", ")} }`})`;
      const outputs = node.graph.output.map(([source, outer]) => {
        const inner = called?.channels.get(source) ?? source;
        // The inner graph starts with the value of the channel: its result replaces the value.
        const isKept = (graph.channels.find((channel) => channel.name === outer)?.reducer ?? "last") === "last";
        const channel = channels.get(outer)!;
        if (!isKept) return `${inner}: set ${channel}`;
        return inner === channel ? inner : `${inner}: ${channel}`;
      });
      into = outputs.length === 0 ? "" : ` into { ${outputs.join(", ")} }`;
    }
    lines.push(`  node ${nodeNames.get(node.name)} = ${call}${into}${policies}`);
  }
  lines.push("");
  const first = channels.size > 0 ? begin : "start";
  const begins = graph.edges.find((edge) => edge.kind === "plain" && edge.from.length === 1 && edge.from[0] === START);
  if (channels.size > 0 && begins === undefined) lines.push(`  start -> ${begin}`);
  for (const [edge, ...following] of chainsOf(graph.edges)) {
    say(edge.notes);
    if (edge.kind === "plain") {
      const from = edge.from.map((source) => (source === START ? first : nodeOf(source)));
      if (edge === begins && channels.size > 0) from[0] = `start -> ${begin}`;
      const left = from.length === 1 ? from[0]! : `${edge.join ?? "any"}(${from.join(", ")})`;
      let line = `  ${left} -> ${edge.to.map(nodeOf).join(", ")}`;
      for (const {
        from: [source = ""],
        to,
      } of following) {
        const next = ` -> ${to.map(nodeOf).join(", ")}`;
        if (line.length + next.length <= PRINT_WIDTH) line += next;
        else {
          lines.push(line);
          line = `  ${nodeOf(source)}${next}`;
        }
      }
      lines.push(line);
      continue;
    }
    const from = edge.from === START ? first : nodeOf(edge.from);
    const subject =
      edge.channel === undefined
        ? `${functionOf(edge.condition, "condition")}(${state(undefined)})`
        : channels.get(edge.channel)!;
    if (edge.channel === undefined) {
      const keys = names.keys.get(edge.condition) ?? new Set<string>();
      names.keys.set(edge.condition, keys);
      for (const { key } of edge.routes) keys.add(key);
      for (const key of edge.returns ?? []) keys.add(key);
      if (edge.otherwise !== undefined) names.open.add(edge.condition);
    }
    const arms = edge.routes.map(({ key, targets }) => `    ${quoted(key)} -> ${targets.map(nodeOf).join(", ")}`);
    if (edge.otherwise !== undefined) arms.push(`    else -> ${edge.otherwise.map(nodeOf).join(", ")}`);
    lines.push(`  ${from} -> match ${subject} {`, ...arms, "  }");
  }
  for (const limit of graph.limits ?? []) lines.push("", `  ${limit}`);
  const doc = graph.doc === undefined ? "" : `${comment(graph.doc, "///")}\n`;
  const notes = graph.notes.map((note) => `${comment(note)}\n`).join("");
  const fields = graph.channels.map((channel) => `${fieldNames.get(channel.name)}?: ${channel.type}`);
  const stubFields = graph.channels.map((channel) => `  ${fieldNames.get(channel.name)}?: ${channel.stubType};`);
  return {
    text: `${notes}${doc}graph ${name} {\n${lines.join("\n")}\n}`,
    type: channels.size === 0 ? "" : `type ${typeName} = { ${fields.join(", ")} }`,
    stubType: `export interface ${typeName} {\n${stubFields.join("\n")}\n}`,
  };
}

type PlainEdge = Extract<StateEdge, { readonly kind: "plain" }>;

/** The edges in their order. Those that continue the edge before them are one chain with it. */
function chainsOf(edges: readonly StateEdge[]): readonly (readonly [StateEdge, ...PlainEdge[]])[] {
  const chains: [StateEdge, ...PlainEdge[]][] = [];
  for (const edge of edges) {
    const last = chains.at(-1)?.at(-1);
    const continues =
      last?.kind === "plain" &&
      last.to.length === 1 &&
      edge.kind === "plain" &&
      edge.from.length === 1 &&
      edge.from[0] === last.to[0] &&
      (edge.notes ?? []).length === 0;
    if (continues) chains.at(-1)!.push(edge);
    else chains.push([edge]);
  }
  return chains;
}

const BUILT_IN: ReadonlySet<string> = new Set(["last", "append", "sum", "min", "max", "merge", "union"]);

function stubsOf({ functions, globals, keys, open }: FileNames, types: readonly string[]): string {
  const bodies = [...functions.values()].map(({ source, kind, states }) => {
    const state = [...states].join(" & ");
    const name = globals.of(kind, source);
    const missing = `throw new Error(${quoted(`${name} is not written yet`)});`;
    if (kind === "reducer")
      return `export function ${name}(current: unknown, update: unknown): unknown {\n  ${missing}\n}`;
    const known = (open.has(source) ? [] : [...(keys.get(source) ?? [])]).map((each) => quoted(each)).join(" | ");
    if (kind === "condition")
      return `export function ${name}(state: ${state}): ${known || "string"} {\n  ${missing}\n}`;
    return `export async function ${name}(state: ${state}, config?: object): Promise<${state}> {\n  ${missing}\n}`;
  });
  return `${["// The functions of the graph. Each receives the state, and returns the fields that it writes.", ...types, ...bodies].join("\n\n")}\n`;
}

function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .filter((part) => part !== "")
    .map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join("");
}
