import type { MigrateOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { Renaming } from "../checkpoint/rename-checkpoint.ts";
import type { Program } from "../program/program.ts";
import { programUnder } from "../program/tool-segment.ts";
import { similarName } from "../run/option-names.ts";
import { FINALLY } from "../run/run.ts";
import type { Json } from "../value/json.ts";
import { Mismatch } from "../value/mismatch.ts";
import { readRecord } from "../value/read-record.ts";

/** What a migration changes in the checkpoints of one graph. */
export interface GraphChanges {
  /** New names of nodes and channels by old name. */
  readonly renaming: Renaming;
  /** Channels, by their old names, whose values are removed. */
  readonly dropped: ReadonlySet<string>;
  readonly map: Readonly<Record<string, (value: Json) => Json>>;
  readonly set: Readonly<Record<string, Json>>;
}

/** The changes by graph. The options name parts of a called graph as `graph.name`. */
export interface Changes {
  readonly of: (program: Program) => GraphChanges;
  /** Former names of graphs by present name. */
  readonly formerGraphs: ReadonlyMap<string, string>;
}

/** @throws RunError NG_BAD_INPUT for options that contradict the graphs */
export function readChanges(program: Program, options: MigrateOptions): Changes {
  const { rename = {}, drop = [], map = {}, set = {}, graph } = options;
  if (!Array.isArray(drop) || !drop.every((name) => typeof name === "string")) {
    throw new RunError("NG_BAD_INPUT", "`drop` is a list of channel names");
  }
  checkRecordOf("rename", rename, "old names to new names", (value) => typeof value === "string");
  checkRecordOf("map", map, "channels to functions", (value) => typeof value === "function");
  checkRecordOf("set", set, "channels to values", () => true);
  const both = Object.keys(map).find((name) => Object.hasOwn(set, name));
  if (both !== undefined) {
    throw new RunError("NG_BAD_INPUT", `channel \`${both}\` is in \`map\` and in \`set\`: use one of them`);
  }
  const programs = new Map<string, Program>();
  collectGraphs(program, programs);
  const root = program.table.name;
  const renames = new Map<string, Record<string, string>>();
  const formerGraphs = new Map(graph === undefined ? [] : [[root, graph]]);
  for (const [old, name] of Object.entries(rename)) {
    const { of, part } = splitName(old, root, programs);
    if (of === root && programs.has(name) && old === part) formerGraphs.set(name, old);
    entriesOf(renames, of)[part] = name;
  }
  const changes = new Map<string, GraphChanges>();
  for (const [name, each] of programs) {
    const own = (names: readonly string[]): readonly (readonly [string, string])[] =>
      names.flatMap((full) => {
        const { of, part } = splitName(full, root, programs);
        return of === name ? [[part, full] as const] : [];
      });
    const pick = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
      Object.fromEntries(own(Object.keys(record)).map(([part, full]) => [part, record[full]!]));
    const found: GraphChanges = {
      renaming: readRenaming(each, renames.get(name) ?? {}, formerGraphs),
      dropped: new Set(own(drop).map(([part]) => part)),
      map: pick(map),
      set: pick(set),
    };
    for (const channel of [...Object.keys(found.map), ...Object.keys(found.set)]) {
      if (each.channelIndex.has(channel)) continue;
      const similar = hintOf(channel, [...each.channelIndex.keys()]);
      const message = `\`${channel}\` is not a channel of graph \`${name}\`${similar}: \`map\` and \`set\` use the new names of channels`;
      throw new RunError("NG_BAD_INPUT", message);
    }
    changes.set(name, found);
  }
  return { of: ({ table }) => changes.get(table.name) ?? NO_CHANGES, formerGraphs };
}

/** Whether the options change checkpoints of the graph or of a graph that it calls. */
export function changesGraph(changes: Changes, program: Program): boolean {
  const { renaming, dropped, map, set } = changes.of(program);
  const count = renaming.nodes.size + renaming.channels.size + dropped.size;
  if (count + Object.keys(map).length + Object.keys(set).length > 0) return true;
  return program.graphs.some((called) => changesGraph(changes, called));
}

/**
 * The id of a task or a pause under the new names: `call@0/ask@1.…`. Each part names a node of the graph that the part before it
 * calls.
 *
 * @param depth the parts that have their new names already
 */
export function migratedPath(program: Program, changes: Changes, id: string, depth: number): string {
  let called: Program | undefined = program;
  const parts = id.split("/").map((part, index) => {
    // The `finally` part of a graph is the same graph.
    if (called === undefined || PART.exec(part)?.[2] === FINALLY) return part;
    const { nodes } = changes.of(called).renaming;
    const rename = (name: string): string => (index < depth ? name : (nodes.get(name) ?? name));
    const renamed = part.replace(PART, (_, gate: string | undefined, name: string) => `${gate ?? ""}${rename(name)}`);
    called = programUnder(called, withoutGate(renamed));
    return renamed;
  });
  return parts.join("/");
}

/** `before:` and `after:` begin the ids of gates, which call no graph. */
function withoutGate(part: string): string {
  return part.replace(/^(?:before:|after:)/, "");
}

const PART = /^(before:|after:)?(\w+)/;

const NO_CHANGES: GraphChanges = {
  renaming: { nodes: new Map(), channels: new Map() },
  dropped: new Set(),
  map: {},
  set: {},
};

function collectGraphs(program: Program, found: Map<string, Program>): void {
  if (found.has(program.table.name)) return;
  found.set(program.table.name, program);
  for (const called of program.graphs) collectGraphs(called, found);
}

function splitName(
  full: string,
  root: string,
  programs: ReadonlyMap<string, Program>,
): { readonly of: string; readonly part: string } {
  const dot = full.indexOf(".");
  if (dot === -1) return { of: root, part: full };
  const of = full.slice(0, dot);
  if (programs.has(of)) return { of, part: full.slice(dot + 1) };
  const known = [...programs.keys()].map((name) => `\`${name}\``).join(", ");
  throw new RunError("NG_BAD_INPUT", `\`${full}\` names graph \`${of}\`, which is none of ${known}`);
}

function entriesOf(all: Map<string, Record<string, string>>, graph: string): Record<string, string> {
  let found = all.get(graph);
  // A name may be `__proto__`.
  if (found === undefined) all.set(graph, (found = Object.create(null) as Record<string, string>));
  return found;
}

/**
 * Reads the new names of one graph. Each name applies to nodes, to channels or to both, if the graph has the new name and no
 * longer has the old one.
 */
function readRenaming(
  { table, nodeIndex, channelIndex }: Program,
  rename: Readonly<Record<string, string>>,
  formerGraphs: ReadonlyMap<string, string>,
): Renaming {
  const targets = new Set(Object.values(rename));
  const nodes = new Map<string, string>();
  const channels = new Map<string, string>();
  for (const [old, name] of Object.entries(rename)) {
    // An old name that is in use again belongs to a swap: `{ a: "b", b: "a" }`.
    const isFree = (index: ReadonlyMap<string, number>): boolean => !index.has(old) || targets.has(old);
    const isNode = nodeIndex.has(name) && isFree(nodeIndex);
    const isChannel = channelIndex.has(name) && isFree(channelIndex);
    if (isNode) nodes.set(old, name);
    if (isChannel) channels.set(old, name);
    if (isNode || isChannel || formerGraphs.get(name) === old) continue;
    const reason =
      nodeIndex.has(name) || channelIndex.has(name)
        ? `graph \`${table.name}\` still has \`${old}\``
        : `graph \`${table.name}\` has neither a node nor a channel \`${name}\`${hintOf(name, [...nodeIndex.keys(), ...channelIndex.keys()])}`;
    throw new RunError("NG_BAD_INPUT", `\`${old}\` cannot be renamed to \`${name}\`: ${reason}`);
  }
  if (targets.size < Object.keys(rename).length) {
    throw new RunError("NG_BAD_INPUT", "`rename` gives two names the same new name: drop the value of one of them");
  }
  return { nodes, channels };
}

/** A similar name, for a message. */
function hintOf(name: string, known: readonly string[]): string {
  const similar = similarName(name, known);
  return similar === undefined ? "" : ` (did you mean \`${similar}\`?)`;
}

function checkRecordOf(name: string, given: unknown, what: string, fits: (value: unknown) => boolean): void {
  const record = readRecord(given);
  if (!(record instanceof Mismatch) && Object.values(record).every(fits)) return;
  throw new RunError("NG_BAD_INPUT", `\`${name}\` is a record of ${what}`);
}
