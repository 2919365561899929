/**
 * Graphs of the simulation, in a representation that neither the engine nor the reference interpreter defines. The
 * number of a node is its position in the declaration.
 */
import { hash } from "./random.ts";

export interface Model {
  readonly name: string;
  readonly nodes: readonly ModelNode[];
  readonly start: readonly number[];
  readonly barriers: readonly ModelBarrier[];
  /** Called graphs, by number. */
  readonly graphs: readonly Model[];
}

export interface ModelBarrier {
  readonly target: number;
  /** Any one of its nodes fills a member. */
  readonly members: readonly (readonly number[])[];
  /** It gates every signal into its target (`waits`). */
  readonly gates: boolean;
  /** It fires with the members that can still signal (`settled`). */
  readonly settles: boolean;
}

/** True if the counter modulo `by` is `rest`. */
export interface ModelCondition {
  readonly by: number;
  readonly rest: number;
}

export type ModelEdge =
  | { readonly kind: "plain" | "otherwise"; readonly to: readonly number[] }
  | ({ readonly kind: "when"; readonly to: readonly number[] } & ModelCondition)
  | {
      readonly kind: "match";
      readonly by: number;
      readonly arms: readonly (readonly number[])[];
      readonly otherwise: readonly number[];
    };

export interface ModelNode {
  readonly name: string;
  readonly edges: readonly ModelEdge[];
  /** Barriers that it signals in addition to its edges. */
  readonly joins: readonly number[];
  /** Targets of its error edges; empty if it has none. */
  readonly onError: readonly number[];
  /** The error edge applies only if this is true. */
  readonly onErrorWhen?: ModelCondition;
  /** Number of items of a `for`. */
  readonly items?: number;
  readonly parallel?: number;
  /** The items of its `for` may fail. */
  readonly allows?: true;
  readonly graph?: number;
  readonly tries: number;
  /** Milliseconds. Bodies take less, unless they hang. */
  readonly timeout?: number;
  readonly pauseBefore: boolean;
  readonly pauseAfter: boolean;
  readonly goes: readonly number[];
  /** Channels of its result. */
  readonly writes: readonly Written[];
  readonly does: Habits;
}

/** What a body does besides returning a result. Its input decides. */
export interface Habits {
  readonly jumps: boolean;
  readonly sends: boolean;
  readonly asks: number;
  /** It fails for good on some inputs. */
  readonly fails?: HowToFail;
  /** Attempts that fail before one succeeds; fewer than `tries`. */
  readonly stumbles: number;
  readonly stumblesBy: "throws" | "hangs";
  /** Number of executions that end the run before one succeeds: a resume needs them. */
  readonly breaks: number;
  /** It returns a promise. */
  readonly waits: boolean;
}

/**
 * `throws` and `hangs` are retried (4.1). An error with `retryable: false`, and a result that does not fit, are not
 * (2.3).
 */
export type HowToFail = "throws" | "hangs" | "permanent" | "misfit";

/** Channels and their reducers. `solo` takes one writer in each step, `picky` throws on some updates. */
export const CHANNELS = {
  log: { role: "output", reducer: "append", initial: [] },
  counter: { role: "output", reducer: "sum", initial: 0 },
  last: { role: "output", reducer: "last", initial: null },
  solo: { role: "state", reducer: "none", initial: null },
  picky: { role: "state", reducer: "picky", initial: 0 },
  diary: { role: "memory", reducer: "append", initial: [] },
  total: { role: "memory", reducer: "sum", initial: 0 },
} as const;
export type Written = keyof typeof CHANNELS;
export type Values = { readonly input: number } & Readonly<Record<Written, unknown>>;

/** The reducer of `picky`. */
export function pickyReducer(current: number, update: number): number {
  const next = current * 2 + update;
  if (next % 6 === 5) throw new Error("not this one");
  return next % 50;
}

/** The number of `end` among targets. No node has this number. */
export const STOP = -1;
/** The counter has a small modulus, so that conditions are often true. */
export const RANGE = 12;

/** The barrier that gates a node, or -1. */
export function gateOf(model: Model, node: number): number {
  return model.barriers.findIndex((barrier) => barrier.gates && barrier.target === node);
}

/**
 * 3.4: whether work at a node can lead to a signal of a member of a `settled` barrier, by any edge, but not through the
 * target of the barrier.
 */
export function canLead(model: Model, barrier: number, from: number, member: number): boolean {
  const { members, target } = model.barriers[barrier]!;
  const seen = new Set([from]);
  for (const node of seen) {
    if (node === target || node === STOP) continue;
    if (members[member]!.includes(node)) return true;
    const { edges, onError, goes, joins } = model.nodes[node]!;
    const signalled = [...edges.flatMap(targetsOfEdge), ...onError];
    for (const to of signalled) {
      const gate = to === STOP ? -1 : gateOf(model, to);
      // 3.2: signals of other nodes do not count at a gate.
      if (gate === -1 || model.barriers[gate]!.members.flat().includes(node)) seen.add(to);
    }
    for (const to of [...goes, ...joins.map((joined) => model.barriers[joined]!.target)]) seen.add(to);
  }
  return false;
}

function targetsOfEdge(edge: ModelEdge): readonly number[] {
  return edge.kind === "match" ? [...edge.arms.flat(), ...edge.otherwise] : edge.to;
}

export function holds({ by, rest }: ModelCondition, { input, counter }: Values): boolean {
  return (input + (counter as number)) % by === rest;
}

/** 2.4: plain edges; every `when` that is true; `otherwise` if none was; one arm of a `match`. */
export function follow(edges: readonly ModelEdge[], values: Values): readonly number[] {
  return edges.flatMap((edge): readonly number[] => {
    if (edge.kind === "plain") return edge.to;
    if (edge.kind === "when") return holds(edge, values) ? edge.to : [];
    if (edge.kind === "match")
      return edge.arms[(values.input + (values.counter as number)) % edge.by] ?? edge.otherwise;
    return edges.some((other) => other.kind === "when" && holds(other, values)) ? [] : edge.to;
  });
}

/** The input of a body, from the engine or from the reference interpreter. */
export interface BodyInput {
  readonly model: Model;
  readonly node: number;
  /** `input` and the channel `counter` combined. */
  readonly counter: number;
  readonly last: unknown;
  readonly solo: unknown;
  readonly picky: unknown;
  readonly total: unknown;
  readonly item: unknown;
  readonly error: unknown;
}

/** The requests that a body may make. */
export interface BodyTools {
  readonly attempt: number;
  goto(targets: readonly string[], exclusive: boolean): void;
  stop(): void;
  send(target: string, item: unknown): void;
  ask(question: string): unknown;
}

/** The body ended abnormally: its caller makes that happen. */
export class Mishap extends Error {
  readonly how: HowToFail;

  constructor(how: HowToFail) {
    super(`it ${how}`);
    this.how = how;
  }
}

/** The body of a node: a pure function of its input, so that both callers get the same result. */
export function body(input: BodyInput, tools: BodyTools): Readonly<Record<Written, unknown>> {
  const { model, counter, last, solo, picky, total, item, error } = input;
  const node = model.nodes[input.node]!;
  const { does } = node;
  const given = [counter, last, solo, picky, total, item ?? null, error];
  const dice = hash(`${model.name}.${node.name}${JSON.stringify(given)}`);
  // Short, and different for different inputs.
  const seen = `${model.name}.${node.name}#${dice.toString(36)}`;
  if (tools.attempt <= does.stumbles) throw new Mishap(does.stumblesBy);
  const answers: unknown[] = [];
  for (let i = 0; i < does.asks; i++) answers.push(tools.ask(`${seen}?${i}`));
  if (does.fails !== undefined && dice % 3 === 0) throw new Mishap(does.fails);
  if (does.sends && dice % 2 === 0) {
    const to = node.goes.filter((target) => target > input.node);
    for (let i = 0; i < 1 + (dice % 5 === 0 ? 2 : dice % 3 === 0 ? 1 : 0); i++) {
      tools.send(model.nodes[to[i % to.length]!]!.name, i % 2 === 0 ? i : { deep: [i] });
    }
  }
  const way = (dice >>> 4) % 8;
  if (does.jumps && way < 5) {
    const to = node.goes[(dice >>> 8) % node.goes.length]!;
    if (way === 4 && node.goes.includes(STOP)) tools.stop();
    else tools.goto([to === STOP ? "end" : model.nodes[to]!.name], way > 1);
  }
  return {
    log: [[seen, ...answers]],
    counter: dice % RANGE,
    last: node.name,
    solo: `${node.name}:${dice % 100}`,
    picky: dice % 10,
    diary: [`${node.name}:${dice % 10}`],
    total: dice % 5,
  };
}

/** Calls a body and collects its requests. */
export interface Played {
  readonly result?: Readonly<Record<Written, unknown>>;
  readonly mishap?: HowToFail;
  readonly goto?: readonly number[];
  readonly exclusive?: boolean;
  readonly stopped?: boolean;
  readonly sends: readonly { readonly node: number; readonly item: unknown }[];
  readonly questions: readonly string[];
}

/** @param answers answers to its pauses, in order; `answerTo` supplies the missing ones */
export function play(input: BodyInput, attempt: number, answers: readonly unknown[]): Played {
  const number = (name: string): number => input.model.nodes.findIndex((node) => node.name === name);
  let way: Pick<Played, "goto" | "exclusive" | "stopped"> = {};
  const sends: { node: number; item: unknown }[] = [];
  const questions: string[] = [];
  const tools: BodyTools = {
    attempt,
    goto: (names, exclusive) => void (way = { goto: names.map(number), exclusive }),
    stop: () => void (way = { stopped: true }),
    send: (name, item) => void sends.push({ node: number(name), item }),
    ask: (question) => {
      questions.push(question);
      return answers[questions.length - 1] ?? answerTo(question);
    },
  };
  try {
    return { result: body(input, tools), sends, questions, ...way };
  } catch (thrown) {
    return { mishap: (thrown as Mishap).how, sends: [], questions };
  }
}

/** The answer of the simulated person. */
export function answerTo(question: unknown): string {
  return `answer ${hash(String(question)) % 100}`;
}
