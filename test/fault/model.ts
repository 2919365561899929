/**
 * Graphs of the simulation, in words of its own: neither the engine nor the reference interpreter is asked what they
 * mean. A node's number is its place in the declaration.
 */
import { below, chance, hash, pick, someOf, type Random } from "./random.ts";

export interface Model {
  readonly name: string;
  readonly nodes: readonly ModelNode[];
  readonly start: readonly number[];
  readonly barriers: readonly ModelBarrier[];
  /** Called by nodes, by number. */
  readonly graphs: readonly Model[];
}

export interface ModelBarrier {
  readonly target: number;
  /** Each is filled by any one of its nodes. */
  readonly members: readonly (readonly number[])[];
  /** It gates every signal into its target (`waits`). */
  readonly gates: boolean;
}

export type ModelEdge =
  | { readonly kind: "plain" | "otherwise"; readonly to: readonly number[] }
  /** Taken when the counter, divided by `by`, leaves `rest`. */
  | { readonly kind: "when"; readonly by: number; readonly rest: number; readonly to: readonly number[] }
  | {
      readonly kind: "match";
      readonly by: number;
      readonly arms: readonly (readonly number[])[];
      readonly otherwise: readonly number[];
    };

export interface ModelNode {
  readonly name: string;
  readonly edges: readonly ModelEdge[];
  /** Barriers that it signals beside its edges. */
  readonly joins: readonly number[];
  /** Where a failure leads; empty: nowhere. */
  readonly onError: readonly number[];
  /** How many items a `for` goes over. */
  readonly items?: number;
  readonly parallel?: number;
  readonly graph?: number;
  readonly tries: number;
  readonly pauseBefore: boolean;
  readonly pauseAfter: boolean;
  readonly goes: readonly number[];
  readonly does: Habits;
}

/** What a body does, beside returning a result; decided by what it is given. */
export interface Habits {
  readonly jumps: boolean;
  readonly sends: boolean;
  readonly asks: number;
  /** Fails for good on some inputs. Only nodes with an error edge do. */
  readonly fails: boolean;
  /** Attempts that fail before one succeeds; fewer than `tries`. */
  readonly stumbles: number;
  /** Returns a promise. */
  readonly waits: boolean;
}

/** `end` among targets. */
export const STOP = -1;
/** The counter's modulus stays small, so that conditions meet. */
export const RANGE = 12;

export function randomModel(random: Random, name = "main", depth = 0): Model {
  const isChild = depth > 0;
  const count = 2 + below(random, isChild ? 3 : 6);
  const graphs =
    depth < 2 && chance(random, isChild ? 0.2 : 0.4) ? [randomModel(random, `${name}_called`, depth + 1)] : [];
  const later = (from: number): number[] => Array.from({ length: count - from - 1 }, (_, i) => from + 1 + i);
  const target = (from: number): number => {
    const ahead = later(from);
    // A called graph has no loops: its limit is not the caller's to raise.
    if (!isChild && chance(random, 0.15)) return below(random, count);
    return ahead.length === 0 || chance(random, 0.1) ? STOP : pick(random, ahead);
  };
  const targets = (from: number): number[] => [
    ...new Set(Array.from({ length: 1 + below(random, 2) }, () => target(from))),
  ];

  const barriers: ModelBarrier[] = [];
  const joins = Array.from({ length: count }, (): number[] => []);
  const gated = new Set<number>();
  for (let i = below(random, 3); i > 0; i--) {
    const to = below(random, count);
    const members = Array.from({ length: 2 + below(random, 2) }, () => [
      ...new Set(Array.from({ length: chance(random, 0.25) ? 2 : 1 }, () => below(random, count))),
    ]).filter((nodes) => !isChild || nodes.every((node) => node < to));
    if (members.length < 2 || gated.has(to) || barriers.some((barrier) => barrier.target === to)) continue;
    const gates = chance(random, 0.3);
    if (gates) gated.add(to);
    else for (const node of new Set(members.flat())) joins[node]!.push(barriers.length);
    barriers.push({ target: to, members: gates ? members.map((nodes) => nodes.slice(0, 1)) : members, gates });
  }

  const nodes = Array.from({ length: count }, (_, index): ModelNode => {
    const hasErrorEdge = chance(random, 0.3);
    const tries = chance(random, 0.3) ? 2 + below(random, 2) : 1;
    const kind = below(random, 10);
    const isCall = kind === 0 && graphs.length > 0;
    const isFor = isCall ? chance(random, 0.3) : kind < 3;
    const goes = isCall ? [] : [...new Set([...targets(index), ...(chance(random, 0.5) ? later(index) : [])])];
    return {
      name: `n${index}`,
      edges: randomEdges(random, () => targets(index)),
      joins: joins[index]!,
      onError: hasErrorEdge ? targets(index) : [],
      ...(isFor ? { items: below(random, 4) } : {}),
      ...(isFor && chance(random, 0.3) ? { parallel: 1 + below(random, 2) } : {}),
      ...(isCall ? { graph: 0 } : {}),
      tries,
      pauseBefore: chance(random, isChild ? 0.03 : 0.06),
      pauseAfter: chance(random, isChild ? 0.03 : 0.06),
      goes,
      does: {
        jumps: goes.length > 0 && chance(random, 0.3),
        sends: goes.some((node) => node > index) && chance(random, 0.25),
        asks: chance(random, 0.12) ? 1 + below(random, 2) : 0,
        fails: hasErrorEdge && chance(random, 0.6),
        stumbles: tries > 1 && chance(random, 0.5) ? 1 + below(random, tries - 1) : 0,
        waits: chance(random, 0.7),
      },
    };
  });
  const start = [0, ...someOf(random, count, 0.2).filter((node) => node !== 0)];
  return { name, nodes, start, barriers, graphs };
}

function randomEdges(random: Random, targets: () => readonly number[]): ModelEdge[] {
  switch (below(random, 4)) {
    case 0: {
      const by = 2 + below(random, 2);
      return [
        { kind: "when", by, rest: below(random, by), to: targets() },
        ...(chance(random, 0.3) ? [{ kind: "plain" as const, to: targets() }] : []),
        { kind: "otherwise", to: targets() },
      ];
    }
    case 1: {
      const by = 2 + below(random, 2);
      const arms = Array.from({ length: by - 1 }, targets);
      return [{ kind: "match", by, arms, otherwise: targets() }];
    }
    case 2:
      return chance(random, 0.3) ? [] : [{ kind: "plain", to: targets() }];
    default:
      return [{ kind: "plain", to: targets() }];
  }
}

/** What a body is given, by the engine or by the reference interpreter. */
export interface BodyInput {
  readonly model: Model;
  readonly node: number;
  readonly counter: number;
  readonly last: unknown;
  readonly item: unknown;
  readonly error: unknown;
}

/** What it may ask for. */
export interface BodyTools {
  readonly attempt: number;
  goto(targets: readonly string[], exclusive: boolean): void;
  stop(): void;
  send(target: string, item: unknown): void;
  ask(question: string): unknown;
}

export interface BodyResult {
  readonly log: readonly unknown[];
  readonly counter: number;
  readonly last: string;
}

/** A node's body: a pure function of what it is given, so that whoever runs it gets the same. */
export function body(input: BodyInput, tools: BodyTools): BodyResult {
  const { model, counter, last, item, error } = input;
  const node = model.nodes[input.node]!;
  const { does } = node;
  const seen = `${model.name}.${node.name}(${counter},${JSON.stringify(last)},${JSON.stringify(item ?? null)},${JSON.stringify(error)})`;
  const dice = hash(seen);
  if (tools.attempt <= does.stumbles) throw new Error("stumbled");
  const answers: unknown[] = [];
  for (let i = 0; i < does.asks; i++) answers.push(tools.ask(`${seen}?${i}`));
  if (does.fails && dice % 3 === 0) throw new Error("no good");
  if (does.sends && dice % 2 === 0) {
    const to = node.goes.filter((target) => target > input.node);
    for (let i = 0; i < 1 + (dice % 5 === 0 ? 2 : dice % 3 === 0 ? 1 : 0); i++) {
      tools.send(model.nodes[to[i % to.length]!]!.name, i % 2 === 0 ? i : { deep: [i] });
    }
  }
  const way = (dice >>> 4) % 8;
  if (does.jumps && way < 5) {
    const to = node.goes[(dice >>> 8) % node.goes.length]!;
    if (way === 4) tools.stop();
    else tools.goto([to === STOP ? "end" : model.nodes[to]!.name], way > 1);
  }
  return { log: [[seen, ...answers]], counter: dice % RANGE, last: node.name };
}

/** What the person at the other end says. */
export function answerTo(question: unknown): string {
  return `answer ${hash(String(question)) % 100}`;
}
