/**
 * Graphs that are edited while threads use them: versions of a graph, random edits, and the promises about what fits (5.7), written
 * from `docs/runs.md` and without the engine's code. A channel and a node have a number that no edit changes.
 */
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { below, chance, hash, pick, type Random } from "./random.ts";

export type Type = "int" | "string" | "int | null" | "json" | "string[]";
export type Reducer = "none" | "sum" | "max" | "append" | "union";

export interface Channel {
  readonly id: number;
  readonly name: string;
  readonly was: readonly string[];
  readonly role: "state" | "memory" | "input";
  readonly type: Type;
  readonly reducer: Reducer;
  readonly hasDefault: boolean;
}

export interface Node {
  readonly id: number;
  readonly name: string;
  readonly was: readonly string[];
  readonly kind: "work" | "ask" | "receive" | "sleep" | "each" | "poll";
  readonly channel: number;
  /** The write replaces the value of a channel with a reducer. */
  readonly isSet: boolean;
  /** Of `each` and `poll`, which asks about each item. */
  readonly items: readonly string[];
  /** Of `each` and `poll`: the channel that has the items instead. */
  readonly list: number | undefined;
  readonly gate: boolean;
}

/** The nodes of a stage run in one step; all of them signal the next stage. */
export interface Version {
  readonly name: string;
  readonly was: readonly string[];
  readonly drop: readonly string[];
  readonly channels: readonly Channel[];
  readonly stages: readonly { readonly id: number; readonly nodes: readonly Node[] }[];
}

/** The time of a `sleep`, in milliseconds: longer than all that passes by the way. */
export const SLEEP = 240 * 3_600_000;

export const SCALARS: readonly Type[] = ["int", "string", "int | null", "json"];

export function textOf({ name, was, drop, channels, stages }: Version): string {
  const former = (names: readonly string[]): string => (names.length === 0 ? "" : ` was ${names.join(", ")}`);
  const lines = [`graph ${name}${former(was)} {`];
  for (const channel of channels) {
    const start = channel.hasDefault ? ` = ${JSON.stringify(startOf(channel))}` : "";
    const reduce = channel.reducer === "none" ? "" : ` reduce ${channel.reducer}`;
    lines.push(`  ${channel.role} ${channel.name}: ${channel.type}${start}${reduce}${former(channel.was)}`);
  }
  if (drop.length > 0) lines.push(`  drop ${drop.join(", ")}`);
  for (const node of stages.flatMap(({ nodes }) => nodes)) {
    const channel = channels.find(({ id }) => id === node.channel)!;
    const list = channels.find(({ id }) => id === node.list)?.name ?? JSON.stringify(node.items);
    const call = {
      work: `work(${node.id}, "${channel.type}")`,
      ask: `ask("n${node.id}")`,
      receive: `receive("s${node.id}")`,
      sleep: `sleep(${SLEEP})`,
      each: `item(${node.id}, x) for x in ${list}`,
      poll: `ask(x) for x in ${list}`,
    }[node.kind];
    const policies = [
      ...(node.gate ? ["pause before"] : []),
      ...(node.was.length > 0 ? [former(node.was).trim()] : []),
    ];
    const braces = policies.length === 0 ? "" : ` { ${policies.join(" ")} }`;
    const into = node.kind === "sleep" ? "" : ` into ${node.isSet ? "set " : ""}${channel.name}`;
    lines.push(`  node ${node.name} = ${call}${into}${braces}`);
  }
  lines.push(`  start -> ${namesOf(stages[0]!).join(", ")}`);
  for (const [index, stage] of stages.entries()) {
    const next = stages[index + 1];
    if (next === undefined) continue;
    const from = namesOf(stage);
    lines.push(`  ${from.length === 1 ? from[0]! : `all(${from.join(", ")})`} -> ${namesOf(next).join(", ")}`);
  }
  return [...lines, "}"].join("\n");
}

export function channelOf(version: Version, id: number): Channel | undefined {
  return version.channels.find((channel) => channel.id === id);
}

function namesOf({ nodes }: Version["stages"][number]): readonly string[] {
  return nodes.map(({ name }) => name);
}

/** The value of a channel that was never written. */
export function startOf({ type, hasDefault }: Channel): Json {
  if (type === "string[]") return [];
  return hasDefault ? (type === "string" ? "start" : 0) : null;
}

export function fits(type: Type, value: Json): boolean {
  switch (type) {
    case "int":
      return Number.isSafeInteger(value);
    case "int | null":
      return value === null || Number.isSafeInteger(value);
    case "string":
      return typeof value === "string";
    case "string[]":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "json":
      return true;
  }
}

/** Items of lists. */
const LETTERS = ["a", "b", "c", "d"] as const;

/** What a node writes, under the present type of its channel. */
export function valueFor(id: number, type: Type): Json {
  const dice = hash(`value ${id}`) % 40;
  if (type === "string[]") return Array.from({ length: 1 + (dice % 3) }, (_, index) => LETTERS[(dice + index) % 4]!);
  return type === "int" || type === "int | null" ? dice : `v${dice}`;
}

export function reduce(reducer: Reducer, current: Json, update: Json): Json {
  if (reducer === "none") return update;
  if (reducer === "sum") return (current as number) + (update as number);
  if (reducer === "max") return Math.max(current as number, update as number);
  const [list, added] = [current as readonly Json[], update as readonly Json[]];
  if (reducer === "append") return [...list, ...added];
  const all = [...list];
  for (const item of added) if (!all.includes(item)) all.push(item);
  return all;
}

/** A value of one type as a value of another: what the user's migration does. */
export function converted(value: Json, type: Type): Json {
  if (fits(type, value)) return value;
  if (type === "string") return `was ${JSON.stringify(value)}`;
  if (type === "string[]") return [JSON.stringify(value)];
  return JSON.stringify(value).length;
}

/** The channel or node of another version that continues this one by name: the same name, or a former one (`was`). */
export function continues<T extends { readonly name: string; readonly was: readonly string[] }>(
  name: string,
  all: readonly T[],
): T | undefined {
  return all.find((each) => each.name === name) ?? all.find(({ was }) => was.includes(name));
}

/** A result that is stored with an unfinished step. */
export interface Stored {
  readonly node: string;
  readonly updates: readonly { readonly channel: string; readonly value: Json; readonly isItem: boolean }[];
}

/** What a checkpoint holds, under the names of the version that wrote it. */
export interface Held {
  readonly version: Version;
  readonly values: JsonObject;
  /** Nodes of the step; empty if the next nodes do not matter. */
  readonly nodes: readonly string[];
  readonly results: readonly Stored[];
}

/** 5.7: why a thread cannot continue under a version; empty if it can. */
export function driftOf({ version: before, values, nodes, results }: Held, now: Version): readonly string[] {
  if (before.name !== now.name && !now.was.includes(before.name)) return ["another graph"];
  const allNodes = now.stages.flatMap((stage) => stage.nodes);
  const problems: string[] = [];
  for (const name of nodes) if (continues(name, allNodes) === undefined) problems.push(`node ${name}`);
  const fit = (name: string, value: Json, isItem: boolean): void => {
    const channel = continues(name, now.channels);
    if (channel === undefined && !now.drop.includes(name)) problems.push(`channel ${name}`);
    else if (channel !== undefined && value !== null && !fits(isItem ? "string" : channel.type, value))
      problems.push(`type of ${name}`);
  };
  for (const [name, value] of Object.entries(values)) fit(name, value, false);
  for (const { updates } of results) for (const { channel, value, isItem } of updates) fit(channel, value, isItem);
  for (const former of before.channels) {
    const channel = continues(former.name, now.channels);
    if (channel !== undefined && channel.reducer !== former.reducer) problems.push(`reducer of ${former.name}`);
  }
  for (const channel of now.channels) {
    const isNew = !before.channels.some(({ name }) => continues(name, now.channels) === channel);
    if (isNew && channel.role === "input" && !channel.hasDefault) problems.push(`new input ${channel.name}`);
    else if (isNew && !fits(channel.type, startOf(channel))) problems.push(`new channel ${channel.name}`);
  }
  return problems;
}

/** Why a new run would lose memory of the last one. */
export function lossOf({ version: before, values }: Held, now: Version): readonly string[] {
  if (before.name !== now.name && !now.was.includes(before.name)) return ["another graph"];
  return before.channels.flatMap(({ name, role, reducer }) => {
    const value = Object.hasOwn(values, name) ? values[name]! : null;
    if (role !== "memory" || value === null || now.drop.includes(name)) return [];
    const channel = continues(name, now.channels);
    if (channel?.role !== "memory") return [`memory ${name} is gone`];
    if (!fits(channel.type, value)) return [`type of memory ${name}`];
    return channel.reducer === reducer ? [] : [`reducer of memory ${name}`];
  });
}

/** Numbers for names that were never used. */
export class Names {
  #next = 0;
  next(): number {
    return ++this.#next;
  }
}

export function randomVersion(random: Random, names: Names): Version {
  const channels = Array.from({ length: 3 + below(random, 3) }, () => randomChannel(random, names, true));
  channels.push(newChannel(names, "string[]", pick(random, ["append", "union"]), pick(random, ["state", "memory"])));
  const list = newChannel(names, "string[]", "none", "input", false);
  const stages = Array.from({ length: 2 + below(random, 3) }, () => {
    const free = [...channels];
    const count = Math.min(free.length, 1 + below(random, 3));
    const hasWaits = chance(random, 0.5);
    const nodes = Array.from({ length: count }, () => {
      const [channel] = free.splice(below(random, free.length), 1);
      return randomNode(random, names, channel!, hasWaits, [...channels, list]);
    });
    return { id: names.next(), nodes };
  });
  return { name: `g${names.next()}`, was: [], drop: [], channels: [...channels, list], stages };
}

function newChannel(names: Names, type: Type, reducer: Reducer, role: Channel["role"], hasDefault = true): Channel {
  const id = names.next();
  return { id, name: `c${id}`, was: [], role, type, reducer, hasDefault: hasDefault && type !== "json" };
}

function randomChannel(random: Random, names: Names, mayRemember: boolean): Channel {
  const type = pick(random, [...SCALARS, "int", "string[]"] as const);
  const role = mayRemember && chance(random, 0.25) ? "memory" : "state";
  const reducers: readonly Reducer[] =
    type === "string[]" ? ["append", "union"] : type === "int" ? ["none", "sum", "max"] : ["none"];
  const reducer = pick(random, reducers);
  return newChannel(names, type, reducer, role, reducer !== "none" || chance(random, 0.5));
}

/** @param hasWaits nodes of the stage may wait; otherwise they may fail */
function randomNode(
  random: Random,
  names: Names,
  channel: Channel,
  hasWaits: boolean,
  channels: readonly Channel[],
): Node {
  const id = names.next();
  const isList = channel.type === "string[]";
  const kind = isList
    ? pick(random, hasWaits ? (["poll", "work"] as const) : (["each", "each", "work"] as const))
    : pick(random, hasWaits ? (["ask", "ask", "receive", "sleep", "work"] as const) : (["work"] as const));
  return {
    id,
    name: `n${id}`,
    was: [],
    kind,
    channel: channel.id,
    isSet: channel.reducer !== "none" && chance(random, 0.3),
    items: randomItems(random),
    list:
      isList && chance(random, 0.4)
        ? pick(
            random,
            channels.filter(({ type }) => type === "string[]"),
          ).id
        : undefined,
    gate: chance(random, 0.15),
  };
}

function randomItems(random: Random): string[] {
  return Array.from({ length: 1 + below(random, 3) }, () => pick(random, LETTERS));
}

const EDITS = [
  ...(["rename channel", "rename channel", "rename node", "rename node", "rename graph"] as const),
  ...(["retype", "retype", "reducer", "reducer", "add channel", "add channel", "add input", "remove channel"] as const),
  ...(["list", "list", "list", "add node", "add stage", "remove node", "gate"] as const),
] as const;
export type Edit = (typeof EDITS)[number];

/**
 * An edit of a graph; `undefined` if the graph has no place for it.
 *
 * @param stage the stage that a thread is in: the edit does not change which nodes it has, except for a removal
 */
export function randomEdit(
  random: Random,
  names: Names,
  version: Version,
  stage: number | undefined,
): { readonly edit: Edit; readonly version: Version } | undefined {
  const edit = pick(random, EDITS);
  const declares = chance(random, 0.5);
  const { channels, stages } = version;
  const withChannel = (id: number, change: Partial<Channel>): Version => ({
    ...version,
    channels: channels.map((channel) => (channel.id === id ? { ...channel, ...change } : channel)),
  });
  const withNode = (id: number, change: Partial<Node>): Version => ({
    ...version,
    stages: stages.map((each) => ({
      ...each,
      nodes: each.nodes.map((node) => (node.id === id ? { ...node, ...change } : node)),
    })),
  });
  const done = (edited: Version | undefined) => edited && { edit, version: edited };
  const allNodes = stages.flatMap(({ nodes }) => nodes);
  const former = (each: { readonly name: string; readonly was: readonly string[] }): string[] =>
    declares ? [...each.was, each.name] : [...each.was];
  switch (edit) {
    case "rename channel": {
      const channel = pick(random, channels);
      return done(withChannel(channel.id, { name: `c${names.next()}`, was: former(channel) }));
    }
    case "rename node": {
      const node = pick(random, stage !== undefined && chance(random, 0.6) ? stages[stage]!.nodes : allNodes);
      return done(withNode(node.id, { name: `n${names.next()}`, was: former(node) }));
    }
    case "rename graph":
      return chance(random, 0.5) ? undefined : done({ ...version, name: `g${names.next()}`, was: former(version) });
    case "retype": {
      const scalars = channels.filter(({ type, reducer }) => type !== "string[]" && reducer === "none");
      if (scalars.length === 0) return undefined;
      const channel = pick(random, scalars);
      const type = pick(random, SCALARS);
      return done(withChannel(channel.id, { type, hasDefault: channel.hasDefault && type !== "json" }));
    }
    case "reducer": {
      const reduced = channels.filter(({ reducer }) => reducer !== "none");
      if (reduced.length === 0) return undefined;
      const channel = pick(random, reduced);
      const other = { sum: "max", max: "sum", append: "union", union: "append", none: "none" } as const;
      return done(withChannel(channel.id, { reducer: other[channel.reducer] }));
    }
    case "add channel":
      return done({ ...version, channels: [...channels, randomChannel(random, names, true)] });
    case "add input":
      return done({
        ...version,
        channels: [...channels, newChannel(names, "int", "none", "input", chance(random, 0.5))],
      });
    case "remove channel": {
      const unused = channels.filter(({ id }) => !allNodes.some((node) => node.channel === id));
      const past = stage === undefined ? [] : stages.slice(0, stage).flatMap(({ nodes }) => nodes);
      const only = channels.filter(
        ({ id }) =>
          !unused.some((each) => each.id === id) && allNodes.every((n) => n.channel !== id || past.includes(n)),
      );
      const candidates = [...unused, ...only].filter(({ id }) => !allNodes.some(({ list }) => list === id));
      if (candidates.length === 0) return undefined;
      const { id, name, was } = pick(random, candidates);
      const kept = stages
        .map((each) => ({ ...each, nodes: each.nodes.filter(({ channel }) => channel !== id) }))
        .filter(({ nodes }) => nodes.length > 0);
      if (kept.length === 0 || channels.length < 3) return undefined;
      const drop = declares ? [...version.drop, name, ...was] : version.drop;
      return done({ ...version, drop, channels: channels.filter((channel) => channel.id !== id), stages: kept });
    }
    case "list": {
      const lists = allNodes.filter(({ kind }) => kind === "each");
      if (lists.length === 0) return undefined;
      const node = pick(random, lists);
      const [first, ...rest] = node.items;
      const items = pick(random, [rest, ["d", ...node.items], [...rest, first!], randomItems(random)]);
      return done(withNode(node.id, { items: items.length === 0 ? ["d"] : items, list: undefined }));
    }
    case "add node":
    case "add stage": {
      const index = edit === "add node" ? below(random, stages.length) : stages.length;
      // A node that joins the stage of a thread would fill its barrier too late.
      if (index === stage) return undefined;
      const nodes = stages[index]?.nodes ?? [];
      const free = channels.filter(({ id, role }) => role !== "input" && nodes.every(({ channel }) => channel !== id));
      if (free.length === 0) return undefined;
      const hasWaits = nodes.some(({ kind }) => kind !== "work" && kind !== "each");
      const node = randomNode(random, names, pick(random, free), hasWaits, channels);
      const all = [...stages];
      all[index] = { id: stages[index]?.id ?? names.next(), nodes: [...nodes, node] };
      return done({ ...version, stages: all });
    }
    case "remove node": {
      const shared = stages.filter(({ nodes }) => nodes.length > 1);
      if (shared.length === 0) return undefined;
      const { id } = pick(random, pick(random, shared).nodes);
      const without = stages.map((each) => ({ ...each, nodes: each.nodes.filter((node) => node.id !== id) }));
      return done({ ...version, stages: without });
    }
    case "gate": {
      const node = pick(
        random,
        stages
          .slice((stage ?? -1) + 1)
          .flatMap(({ nodes }) => nodes)
          .concat(allNodes.slice(-1)),
      );
      if (stage !== undefined && stages[stage]?.nodes.includes(node) === true) return undefined;
      return done(withNode(node.id, { gate: !node.gate }));
    }
  }
}
