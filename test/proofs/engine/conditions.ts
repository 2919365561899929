/** The data of random graphs: channels of every kind, values for them, and conditions on them. */
import type { Random } from "./random.ts";

/** The arms of a choice, one for each target. */
export interface Choice {
  /** `value`: `match SUBJECT { ARM -> … }`; `cases`: `match { ARM -> … }`; `edges`: one edge an arm. */
  readonly form: "value" | "cases" | "edges";
  readonly subject?: string;
  readonly arms: readonly string[];
}

interface Channel {
  readonly name: string;
  readonly declaration: string;
  readonly kind: Kind;
  readonly role: "input" | "state" | "output" | "memory";
  readonly reducer?: string;
  /** It is null until something writes it. */
  readonly isNullAtFirst: boolean;
}

type Kind =
  | "bool"
  | "int"
  | "level"
  | "float"
  | "enum"
  | "text"
  | "maybe"
  | "maybeKind"
  | "list"
  | "words"
  | "record"
  | "map"
  | "json"
  | "union";

/** By kind: its type, and a value that it may start with. */
const TYPES: Readonly<Record<Kind, readonly [type: string, start: string]>> = {
  bool: ["bool", "false"],
  int: ["int", "0"],
  level: ["0 | 1 | 2", "0"],
  float: ["float", "0.0"],
  enum: [`"x" | "y" | "z"`, `"x"`],
  text: ["string", `""`],
  maybe: ["int | null", "null"],
  maybeKind: [`"x" | "y" | null`, "null"],
  list: ["int[]", "[]"],
  words: ["string[]", `["a"]`],
  record: ["{ ok: bool, n: int, note?: string }", "{ ok: false, n: 0 }"],
  map: ["map<int>", "{}"],
  json: ["json", "null"],
  union: ["int | string", "0"],
};

const REDUCERS: Partial<Record<Kind, readonly string[]>> = {
  bool: ["last"],
  enum: ["last"],
  int: ["last", "sum", "min", "max", "fold"],
  float: ["last", "sum", "min", "max"],
  text: ["last"],
  list: ["append", "union", "last"],
  words: ["append", "union"],
  record: ["merge", "last"],
  map: ["merge"],
};

export interface Conditions {
  readonly declarations: readonly string[];
  /** Channels that nodes may write. */
  readonly writable: readonly string[];
  readonly readable: readonly string[];
  /** What a `for` may go over. */
  readonly lists: readonly string[];
  isReduced(channel: string): boolean;
  /** Some choice; `writes` is the channel that its conditions are about, where the deciding node should write it. */
  choice(writable: readonly string[]): Choice & { readonly writes?: string };
  /** Two arms that always cover every value. */
  cover(): Choice;
  /** A choice of `start`. */
  givenChoice(): Choice;
  condition(): string;
  /** A choice by the value of one channel. */
  choiceAbout(channel: string): Choice;
  /** An expression that fits a channel. */
  valueFor(channel: string): string;
  intTarget(writable: readonly string[]): string | undefined;
  /** A channel for the results of a `for` node. */
  eachTarget(writable: readonly string[]): string | undefined;
}

export function createConditions(random: Random): Conditions {
  const channels = drawChannels(random);
  const named = new Map(channels.map((channel) => [channel.name, channel]));
  const writable = channels.filter(({ role }) => role !== "input").map(({ name }) => name);
  const readable = channels.map(({ name }) => name);
  const lists = [
    "[1, 2]",
    "[]",
    "range(0, 2)",
    ...channels.filter(({ kind }) => kind === "list" || kind === "words").map(({ name }) => name),
  ];
  const aboutOf = (from: readonly string[]): Channel | undefined => {
    const found = from.flatMap((name) => named.get(name) ?? []);
    return found.length === 0 ? undefined : random.pick(found);
  };
  const otherwise = (arms: readonly string[]): readonly string[] => [...arms, "otherwise"];
  const self: Conditions = {
    declarations: channels.map(({ declaration }) => declaration),
    writable,
    readable,
    lists,
    isReduced: (name) => named.get(name)?.reducer !== undefined,
    choice: (allowed) => {
      const writes = random.chance(0.75)
        ? aboutOf(allowed.filter((name) => named.get(name)?.reducer === undefined || random.chance(0.5)))
        : undefined;
      const channel = writes ?? random.pick(channels);
      const choice = choiceOn(random, channel, channels);
      return writes === undefined ? choice : { ...choice, writes: writes.name };
    },
    cover: () => {
      const condition = self.condition();
      return random.chance(0.5)
        ? { form: "edges", arms: otherwise([`when ${condition}`]) }
        : { form: "cases", arms: [condition, "else"] };
    },
    givenChoice: () => {
      const given = channels.filter(({ role }) => role === "input");
      return choiceOn(random, random.pick(given.length === 0 ? channels : given), channels);
    },
    choiceAbout: (name) => choiceOn(random, named.get(name) ?? random.pick(channels), channels),
    condition: () => conditionOn(random, random.pick(channels), channels),
    valueFor: (name) => {
      const channel = named.get(name);
      return channel === undefined ? "1" : valueOf(random, channel, channels);
    },
    intTarget: (allowed) => allowed.find((name) => named.get(name)?.kind === "int"),
    eachTarget: (allowed) => {
      const fits = allowed.filter((name) => {
        const channel = named.get(name);
        if (channel === undefined) return false;
        if (channel.kind === "list" || channel.kind === "words") return true;
        return channel.reducer !== undefined && channel.reducer !== "last";
      });
      return fits.length === 0 ? undefined : random.pick(fits);
    },
  };
  return self;
}

function drawChannels(random: Random): readonly Channel[] {
  const kinds: readonly Kind[] = [
    "bool",
    "int",
    "level",
    "float",
    "enum",
    "text",
    "maybe",
    "maybeKind",
    "list",
    "words",
    "record",
    "map",
    "json",
    "union",
  ];
  const channels: Channel[] = [];
  const add = (name: string, kind: Kind, role: Channel["role"], reducer?: string): void => {
    const [type, start] = TYPES[kind];
    const hasOwnStart = reducer !== undefined && ["sum", "min", "max", "append", "union"].includes(reducer);
    // Some channels start as null: what reads them has to be after a write.
    const initial =
      role === "input"
        ? random.chance(0.5)
          ? ""
          : ` = ${start}`
        : hasOwnStart
          ? random.chance(0.4)
            ? ` = ${start}`
            : ""
          : random.chance(0.12) && reducer !== "fold"
            ? ""
            : ` = ${start}`;
    const declaration = `${role} ${name}: ${type}${initial}${reducer === undefined ? "" : ` reduce ${reducer}`}`;
    const isNullAtFirst = (reducer === "min" || reducer === "max") && initial === "";
    channels.push({ name, declaration, kind, role, isNullAtFirst, ...(reducer === undefined ? {} : { reducer }) });
  };
  add("given", random.pick(["bool", "enum", "int", "list", "float"]), "input");
  add("flag", "bool", "state");
  add("count", "int", "state");
  if (random.chance(0.4)) add("count2", "int", "state");
  add("kind", "enum", "state");
  const more = 2 + random.below(4);
  for (let index = 0; index < more; index++) {
    const kind = random.pick(kinds);
    const reducers = REDUCERS[kind];
    const reducer = reducers !== undefined && random.chance(0.55) ? random.pick(reducers) : undefined;
    const role = random.chance(0.1)
      ? "memory"
      : random.chance(0.1)
        ? "output"
        : random.chance(0.08) && reducer === undefined
          ? "input"
          : "state";
    add(`c${index}`, kind, role, reducer);
  }
  return channels;
}

/** Reads as a number, whatever the channel may hold. */
function asNumber(channel: Channel): string {
  const { name, reducer } = channel;
  return reducer === "min" || reducer === "max" ? `(${name} ?? 0)` : name;
}

function choiceOn(random: Random, channel: Channel, channels: readonly Channel[]): Choice {
  const { name, kind } = channel;
  const edges = (...arms: readonly string[]): Choice => ({ form: "edges", arms });
  const values = (...arms: readonly string[]): Choice => ({ form: "value", subject: name, arms });
  const cases = (...arms: readonly string[]): Choice => ({ form: "cases", arms });
  if (channel.isNullAtFirst && random.chance(0.5)) {
    return random.pick([values("null", "else"), edges(`when ${name} == null`, `when ${name} != null`)]);
  }
  switch (kind) {
    case "bool":
      return random.pick([
        values("true", "false"),
        values("true", "else"),
        edges(`when ${name}`, "otherwise"),
        edges(`when ${name}`, `when !${name}`),
        cases(name, "else"),
      ]);
    case "enum":
      return random.pick([
        values(`"x"`, `"y"`, `"z"`),
        values(`"x" | "y"`, `"z"`),
        values(`"x"`, "else"),
        edges(`when ${name} == "x"`, "otherwise"),
        edges(`when ${name} == "x"`, `when ${name} != "x"`),
        edges(`when ${name} in ["x", "y"]`, "otherwise"),
      ]);
    case "level":
      return random.pick([
        values("0", "1 | 2"),
        values("0", "1", "else"),
        edges(`when ${name} < 1`, `when ${name} >= 1`),
        cases(`${name} == 2`, "else"),
      ]);
    case "int":
    case "float": {
      const value = asNumber(channel);
      const limit = kind === "int" ? String(random.below(4)) : random.pick(["0.0", "1.0", "0.5", "2.5"]);
      return random.pick([
        edges(`when ${value} < ${limit}`, `when ${value} >= ${limit}`),
        edges(`when ${value} > ${limit}`, "otherwise"),
        cases(`${value} > ${limit}`, "else"),
        cases(`${value} < ${limit}`, `${value} == ${limit}`, "else"),
        edges(`when ${value} + 1 > ${limit}`, `when ${value} + 1 <= ${limit}`),
      ]);
    }
    case "maybe":
    case "maybeKind":
      return random.pick([
        values("null", "else"),
        edges(`when ${name} != null`, "otherwise"),
        edges(`when ${name} == null`, `when ${name} != null`),
        ...(kind === "maybeKind" ? [values("null", `"x"`, `"y"`)] : []),
      ]);
    default: {
      const condition = conditionOn(random, channel, channels);
      return random.pick([
        edges(`when ${condition}`, "otherwise"),
        cases(condition, "else"),
        edges(`when ${condition}`, `when !(${condition})`),
      ]);
    }
  }
}

function conditionOn(random: Random, channel: Channel, channels: readonly Channel[]): string {
  const { name, kind } = channel;
  if (random.chance(0.06)) return `test(${name})`;
  if (random.chance(0.08)) {
    const other = random.pick(channels);
    return `${simpleCondition(random, channel)} ${random.pick(["&&", "||"])} ${simpleCondition(random, other)}`;
  }
  if (random.chance(0.05) && (kind === "int" || kind === "level"))
    return random.pick([
      `${asNumber(channel)} % 2 == 0`,
      `${asNumber(channel)} * 2 == 3`,
      `10 / ${asNumber(channel)} > 2`,
    ]);
  return simpleCondition(random, channel);
}

function simpleCondition(random: Random, channel: Channel): string {
  const { name, kind } = channel;
  switch (kind) {
    case "bool":
      return random.pick([name, `!${name}`]);
    case "int":
    case "level":
      return `${asNumber(channel)} ${random.pick(["<", "<=", ">", ">=", "==", "!="])} ${random.below(3)}`;
    case "float":
      return `${asNumber(channel)} ${random.pick(["<", "<=", ">", ">="])} ${random.pick(["0.0", "1.0", "0.5"])}`;
    case "enum":
      return `${name} ${random.pick(["==", "!="])} ${random.pick([`"x"`, `"y"`])}`;
    case "text":
      return random.pick([
        `${name} == "a"`,
        `lower(${name}) == "Yes"`,
        `upper(${name}) == "A"`,
        `len(${name}) > 0`,
        `startsWith(${name}, "a")`,
        `matches(${name}, "^a")`,
      ]);
    case "maybe":
      return random.pick([`${name} != null`, `${name} == null`, `(${name} ?? 0) > 1`, `${name} == 1`]);
    case "maybeKind":
      return random.pick([`${name} != null`, `${name} == "x"`]);
    case "list":
      return random.pick([
        `len(${name}) > 1`,
        `${name}[0] == 1`,
        `last(${name}) == 1`,
        `1 in ${name}`,
        `sum(${name}) > 1`,
      ]);
    case "words":
      return random.pick([`len(${name}) == 0`, `first(${name}) == "a"`, `"a" in ${name}`, `contains(${name}, "b")`]);
    case "record":
      return random.pick([`${name}.ok`, `${name}.n > 0`, `${name}.note != null`, `${name}.note == "a"`]);
    case "map":
      return random.pick([`"k" in ${name}`, `${name}["k"] == 1`, `len(${name}) > 0`]);
    case "json":
      return random.pick([`${name} == 1`, `${name} != null`, `${name} == "a"`]);
    case "union":
      return random.pick([`${name} == 1`, `${name} == "a"`, `${name} != 0`]);
  }
}

function valueOf(random: Random, channel: Channel, channels: readonly Channel[]): string {
  const { name, kind } = channel;
  const number = asNumber(channel);
  const others = channels.filter(
    (other) => other.kind === kind && other !== channel && other.reducer !== "min" && other.reducer !== "max",
  );
  if (others.length > 0 && random.chance(0.2)) return random.pick(others).name;
  switch (kind) {
    case "bool":
      return random.pick(["true", "false", `!${name}`, "count > 1", `kind == "x"`]);
    case "int":
      return random.pick([
        "0",
        "1",
        "2",
        `${number} + 1`,
        `${number} + 1`,
        `min(${number}, 3) ?? 0`,
        "len([1, 2])",
        `${number} - 1`,
        "count + 1",
        "round(10 / count)",
      ]);
    case "level":
      return random.pick(["0", "1", "2", "flag ? 1 : 2"]);
    case "float":
      return random.pick([
        "1.0",
        `${number} + 1.0`,
        `${number} * 0.5`,
        `${number} + 1e-20`,
        "0.0",
        `${number} - 1.0`,
        "count / 2",
      ]);
    case "enum":
      return random.pick([`"x"`, `"y"`, `flag ? "x" : "z"`, `count > 1 ? "y" : "x"`]);
    case "text":
      return random.pick([`"a"`, `"b"`, "`v ${count}`", `upper("a")`]);
    case "maybe":
      return random.pick(["null", "1", "count", "first([1, 2])"]);
    case "maybeKind":
      return random.pick(["null", `"x"`, `flag ? null : "y"`]);
    case "list":
      return random.pick(["[1]", "[]", "[count]", "[1, 2, 3]", "[x + 1 for x in [0, 1] if x > 0]"]);
    case "words":
      return random.pick([`["a"]`, "[]", `split("a b", " ")`, `["b"]`]);
    case "record":
      return random.pick([`{ ok: true, n: 1 }`, `{ ok: flag, n: count }`, `{ ok: false, n: 0, note: "a" }`]);
    case "map":
      return random.pick([`{ k: 1 }`, `{ k: count }`, "{}"]);
    case "json":
      return random.pick(["1", `"a"`, "null", `{ a: 1 }`]);
    case "union":
      return random.pick(["1", `"a"`, "count"]);
  }
}
