/**
 * Looks for a run that takes the path of a trace with its conditions computed. Inputs, results of functions and
 * messages of failures are chosen: depth first, with a jump back to the last choice that a condition can depend on, and
 * then at random. The engine computes everything else.
 */
import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import { controlModel } from "../../compiler/explore/build-model.ts";
import { constantsOfAll, samplesOf } from "../../compiler/explore/witnesses.ts";
import { lowerGraph } from "../../compiler/lower/lower.ts";
import type { TraceStep } from "../../diagnostics/diagnostic.ts";
import type { ExpectedType, NodeContext } from "../../runtime/interface/context.ts";
import { createEngine, MemoryStore, NodeError } from "../../runtime/index.ts";
import type { RunResult } from "../../runtime/interface/engine-options.ts";
import type { RunEvent } from "../../runtime/interface/events.ts";
import type { NodeSpec, Table } from "../../runtime/table/table.ts";
import type { Json } from "../../runtime/value/json.ts";
import { type ChoiceScript, createScript, nextScript, randomFrom } from "./choice-script.ts";
import { armValues, channelsWritten, computedTable, type Dependencies, dependenciesOf } from "./computed-table.ts";
import { openTasks, readTasks, type TaskChoice } from "./read-tasks.ts";
import type { Replayed, ReplayOptions } from "./replay-trace.ts";
import { sampleValue } from "./sample-value.ts";

/** Runs that are tried in depth-first order, and as many at random. */
const MAX_TRIES = 1500;

/** Limit of the values that are tried for one choice. */
const MAX_VALUES = 60;

/** Choices of the tasks of each node of each step; more than one if its tasks differ, or if the trace leaves them open. */
type Plan = readonly ReadonlyMap<string, readonly TaskChoice[]>[];

/** Returns `undefined` if no such run was found. It may still exist. */
export async function replayComputed(
  graph: BoundGraph,
  trace: readonly TraceStep[],
  options: ReplayOptions & { readonly tries?: number },
): Promise<Replayed | undefined> {
  const plan = planOf(graph, trace);
  if (plan === undefined) return undefined;
  const table = computedTable(lowerGraph(graph), { keepRaces: options.keepRaces === true });
  const search: Search = { table, plan, trace, options, dependencies: dependenciesOf(table), ...samplesFor(table) };
  const tries = options.tries ?? MAX_TRIES;
  let script: readonly number[] | undefined = [];
  for (let count = 0; count < tries && script !== undefined; count++) {
    const choices = createScript(script);
    const { replayed, relevant } = await attempt(search, choices);
    if (replayed !== undefined) return replayed;
    script = nextScript(choices.made, relevant);
  }
  if (script === undefined) return undefined;
  const random = randomFrom(trace.length);
  for (let count = 0; count < tries; count++) {
    const { replayed } = await attempt(search, createScript([], random));
    if (replayed !== undefined) return replayed;
  }
  return undefined;
}

/** The choices that a trace states; `undefined` if it does not fit the graph. */
function planOf(graph: BoundGraph, trace: readonly TraceStep[]): Plan | undefined {
  const model = controlModel(graph);
  const nodes = new Map(model.nodes.map((node) => [node.name, node]));
  const plan: Map<string, readonly TaskChoice[]>[] = [];
  for (const [index, { ran, chose }] of trace.entries()) {
    const found = new Map<string, readonly TaskChoice[]>();
    for (const name of new Set(ran)) {
      const node = nodes.get(name);
      if (node === undefined) return undefined;
      const isStated = Object.hasOwn(chose, name);
      const tasks =
        isStated || index < trace.length - 1
          ? readTasks(isStated ? (chose[name] ?? "") : "", node.routing, node.errorRouting)
          : openTasks(node, (target) => model.nodes[target]?.name ?? "end");
      if (tasks === undefined) return undefined;
      // Of several tasks that were sent to a node, each can also take its edges.
      const isSent = Object.values(trace[index - 1]?.chose ?? {}).some((choice) =>
        new RegExp(`\\bsend (?:\\w+, )*${name}\\b`).test(choice),
      );
      const isTwice = ran.filter((each) => each === name).length > 1;
      found.set(name, isTwice || isSent ? [...tasks, { kind: "own", sends: [] }] : tasks);
    }
    plan.push(found);
  }
  return plan;
}

interface Samples {
  /** Values of a type. */
  values(expects: ExpectedType): readonly Json[];
  readonly texts: readonly string[];
  /** The values that imported functions in expressions may return. */
  readonly results: readonly Json[];
}

function samplesFor(table: Table): Samples {
  const constants = constantsOfAll(table.expressions, armValues(table));
  const known = new Map<string, readonly Json[]>();
  return {
    texts: constants.texts,
    results: [false, true, ...constants.numbers.slice(0, 6), ...constants.texts.slice(0, 6), null],
    values: (expects) => {
      const key = JSON.stringify(expects.type);
      let values = known.get(key);
      if (values === undefined) {
        const types = new Map(expects.types.map(({ name, type }) => [name, type]));
        const samples = [sampleValue(expects), ...samplesOf(expects.type, constants, (name) => types.get(name), 3)];
        values = [...new Map(samples.map((value) => [JSON.stringify(value), value])).values()].slice(0, MAX_VALUES);
        known.set(key, values);
      }
      return values;
    },
  };
}

interface Search extends Samples {
  readonly table: Table;
  readonly plan: Plan;
  readonly trace: readonly TraceStep[];
  readonly options: ReplayOptions;
  readonly dependencies: Dependencies;
}

interface Attempt {
  readonly replayed?: Replayed;
  /** The channels that decide where the run left the trace; `undefined` if anything can. */
  readonly relevant: ReadonlySet<number> | undefined;
}

async function attempt(search: Search, choices: ChoiceScript): Promise<Attempt> {
  const { plan, trace, options, dependencies } = search;
  const events: RunEvent[] = [];
  const steps: (readonly string[])[] = [];
  let hasLeft = false;
  const pick = <T>(values: readonly T[], channels: readonly number[] | undefined): T | undefined =>
    values[values.length < 2 ? 0 : choices.choose(values.length, channels)];
  const value = (expects: ExpectedType | undefined, channels: readonly number[]): Json => {
    if (expects === undefined) return null;
    const isRead = channels.some((channel) => dependencies.read.has(channel));
    return (isRead ? pick(search.values(expects), channels) : undefined) ?? sampleValue(expects);
  };
  const mock =
    (node: NodeSpec) =>
    (context: NodeContext): unknown => {
      // After the run has left the path, its results do not matter.
      if (hasLeft) return context.expects === undefined ? null : sampleValue(context.expects);
      const task = pick(plan[context.step]?.get(node.name) ?? [], undefined);
      if (task?.kind === "error") throw failureOf(node, pick(failures(node, search.texts), undefined));
      for (const target of task?.sends ?? []) {
        // A trace does not state how many tasks are sent.
        const count = pick([1, 2], undefined) ?? 1;
        for (let sent = 0; sent < count; sent++) context.send(target, null);
      }
      const { goto } = task ?? {};
      if (goto?.exclusive === true && goto.targets.length === 1)
        context.goto(goto.targets[0] ?? "end", { exclusive: true });
      else if (goto !== undefined) context.goto(...goto.targets);
      return value(context.expects, channelsWritten(node.output));
    };
  const memo = new Map<string, Json>();
  const functionOf =
    (name: string) =>
    (...args: readonly Json[]): Json => {
      const key = `${name}${JSON.stringify(args)}`;
      let result = memo.get(key);
      if (result === undefined) {
        const isReducer = search.table.channels.some(
          ({ reducer }) => reducer?.kind === "function" && search.table.functions[reducer.function]?.name === name,
        );
        result = pick(isReducer ? [args[1] ?? null, args[0] ?? null] : search.results, undefined) ?? null;
        memo.set(key, result);
      }
      return result;
    };
  const { channels, types } = search.table;
  const table: Table = {
    ...search.table,
    channels: channels.map((channel, index) => {
      // An earlier run of the thread has left any value.
      if (channel.role !== "memory") return channel;
      const values = search.values({ type: channel.type, types });
      const left = dependencies.read.has(index) ? choices.choose(values.length + 1, [index]) : 0;
      return left === 0 ? channel : { ...channel, initial: values[left - 1]! };
    }),
  };
  const engine = createEngine(table, {
    functions: Object.fromEntries(table.functions.map(({ name }) => [name, functionOf(name)])),
    mocks: Object.fromEntries(
      table.nodes.flatMap((node) => (isComputed(search.table, node) ? [] : [[node.name, mock(node)]])),
    ),
    secrets: () => "",
    store: new MemoryStore(),
    random: () => 0,
    onEvent: (event) => {
      events.push(event);
      if (event.type !== "step" || event.phase !== "start") return;
      steps.push(event.nodes);
      hasLeft ||= !isSameStep(event.nodes, trace[event.step]?.ran);
    },
  });
  const given: Record<string, Json> = {};
  channels.forEach(({ name, role, type, initial }, index) => {
    if (role !== "input") return;
    const values = dependencies.read.has(index) ? search.values({ type, types }) : [sampleValue({ type, types })];
    const chosen = pick(initial === undefined ? values : [undefined, ...values], [index]);
    if (chosen !== undefined) given[name] = chosen;
  });
  const limit = options.ownLimit === true ? {} : { maxSteps: trace.length };
  const result = await engine.run(given, { thread: "replay", ...limit });
  const isCut = result.status === "failed" || result.status === "limit";
  const left = trace.findIndex(({ ran }, step) => {
    const own = steps[step];
    return own === undefined ? step === 0 || !isCut : !isSameStep(own, ran);
  });
  if (left !== -1) {
    const before = left === 0 ? [""] : [...(trace[left - 1]?.ran ?? []), ...(left === 1 ? [""] : [])];
    return { relevant: dependencies.of(before) };
  }
  const checkpoints = [...(await engine.history("replay", { limit: 10_000 }))].reverse();
  const replayed: Replayed = { table, result, events, steps, checkpoints, given, isComputed: true };
  const isAccepted = isWithin(result) && (options.accept === undefined || options.accept(replayed));
  return isAccepted ? { replayed, relevant: undefined } : { relevant: undefined };
}

/** Whether the engine computes the result of a node itself. */
function isComputed({ expressions }: Table, { call }: NodeSpec): boolean {
  // `computedTable` replaces every other call by its last expression.
  return call.kind === "expression" && call.expression !== expressions.length - 1;
}

/** A run that no edge of a node leads on has not followed the trace to its end. */
function isWithin({ status, error }: RunResult): boolean {
  return status !== "failed" || error?.code !== "NG_UNDECLARED_GOTO";
}

function isSameStep(nodes: readonly string[], ran: readonly string[] | undefined): boolean {
  const sorted = (names: readonly string[] = []): string => [...new Set(names)].sort().join();
  return sorted(nodes) === sorted(ran);
}

interface Failure {
  readonly message: string;
  readonly isTimeout: boolean;
  readonly isFinal: boolean;
}

function failures({ tries }: NodeSpec, texts: readonly string[]): readonly Failure[] {
  const messages = ["fails in the trace", ...texts];
  const make = (isFinal: boolean): Failure[] => messages.map((message) => ({ message, isTimeout: false, isFinal }));
  const timeout: Failure = { message: "", isTimeout: true, isFinal: true };
  return [...make(true), ...(tries === undefined ? [] : make(false)), timeout];
}

function failureOf({ name }: NodeSpec, failure: Failure | undefined): Error {
  if (failure?.isTimeout === true) {
    return new NodeError("NG_NODE_TIMEOUT", name, `node \`${name}\` has no result in time`, { attempts: 1 });
  }
  return Object.assign(new Error(failure?.message), failure?.isFinal === false ? {} : { retryable: false });
}
