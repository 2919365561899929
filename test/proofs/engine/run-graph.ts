/**
 * Runs a graph in the real engine, against an adversary: each choice that the graph leaves open is made by a `Chooser`.
 * These are results of nodes within their types, failures, delays, jumps, answers, and what imported functions in
 * expressions return.
 */
import { ask } from "../../../stdlib/nodes/ask.ts";
import { fail } from "../../../stdlib/nodes/fail.ts";
import { receive } from "../../../stdlib/nodes/receive.ts";
import { sleep } from "../../../stdlib/nodes/sleep.ts";
import type { BuiltinNode, ExpectedType, NodeContext } from "../../../runtime/interface/context.ts";
import type { PauseItem } from "../../../runtime/interface/checkpoint.ts";
import type { RunResult } from "../../../runtime/interface/engine-options.ts";
import { ThreadError } from "../../../runtime/interface/thread-error.ts";
import type { RunEvent } from "../../../runtime/interface/events.ts";
import { createEngine, type Engine, MemoryStore } from "../../../runtime/index.ts";
import { END, type NodeSpec, ROLLBACK, type Table } from "../../../runtime/table/table.ts";
import type { Json, JsonObject } from "../../../runtime/value/json.ts";
import type { Chooser } from "./choices.ts";
import { type Constants, constantsOf, sampleValues } from "./sample-values.ts";
import { PumpedClock } from "./virtual-time.ts";

/** One super-step of a run. */
export interface RanStep {
  /** The nodes that ran, one entry for each task. A `for` node has one entry. */
  readonly nodes: readonly string[];
  /** Its results were applied. */
  readonly committed: boolean;
  /** Where its nodes led; `start` only in the first step. */
  readonly routes: readonly RanRoute[];
  readonly fired: readonly {
    readonly barrier: string;
    readonly targets: readonly string[];
    readonly arrived: readonly string[];
  }[];
  /** Pauses were answered before this step, or inside it. */
  readonly pausedBefore: boolean;
}

export interface RanRoute {
  readonly node: string;
  readonly via: Extract<RunEvent, { type: "route" }>["via"];
  readonly targets: readonly string[];
  readonly discarded: boolean;
}

export interface RanGraph {
  readonly steps: readonly RanStep[];
  /** Where `start` led. */
  readonly start: RanRoute | undefined;
  readonly result: RunResult;
  /** Calls of the outside world by what they are. */
  readonly calls: ReadonlyMap<string, number>;
  /** What nodes did beside returning values. */
  readonly did: ReadonlySet<ContextUse>;
  /** Failures of nodes in the run's own graph. */
  readonly failures: readonly { readonly node: string; readonly code: string; readonly message: string }[];
  readonly choices: Chooser["made"];
  /** How many of the choices decide what the caller supplies. */
  readonly given: number;
  /** The run pauses more often than the judge answers. */
  readonly isLeft: boolean;
  /** The `finally` part of the run; absent if the graph has none, or the run does not end. */
  readonly finally?: RanGraph;
}

export type ContextUse =
  | "goto one"
  | "goto one beside a result"
  | "goto several"
  | "exclusive goto"
  | "send one"
  | "send several"
  | "send twice to one"
  | "stop"
  | "stop beside a result"
  | "emit"
  | "interrupt"
  | "interrupt with a deadline"
  | "fails"
  | "timeout"
  | "bad result"
  | "empty list"
  | "failing item"
  | "delay"
  | "answer"
  | "signal"
  | "signal in advance"
  | "signal that does not fit"
  | "no signal"
  | "deadline passes"
  | "timer"
  | "second run of a thread"
  | "rolled back"
  | "undo"
  | "undo fails"
  | "cancelled"
  | "configured";

/** Steps of a run at most: loops without a bound are cut here. */
export const MAX_STEPS = 50;
/** A run with more events is cut. */
const MOST_EVENTS = 20_000;
const MAX_ANSWERS = 25;
/** The step of the events that stand for answers. */
const ANSWERED = -2;

/** What ends a wait: answers and signals for all pauses, or for the first one; time; signals for later nodes, too; nothing. */
type Move = "all" | "first" | "time" | "more signals" | "no signal";

/** What a node's code may do in one attempt. */
interface Option {
  readonly weight: number;
  readonly use?: ContextUse;
  /** As a trace names it: `goto b`, `send b`; `fails` where the node fails. */
  readonly label?: string;
  act(context: NodeContext): unknown;
}

interface Current {
  readonly chooser: Chooser;
  readonly memo: Map<string, Json>;
  readonly calls: Map<string, number>;
  /** Results of nodes with a `cache` policy. */
  readonly cache: Map<string, Json>;
  readonly did: Set<ContextUse>;
  readonly events: RunEvent[];
  readonly isAsync: boolean;
  readonly guide: Guide | undefined;
  readonly thread: string | undefined;
  /** The choice of a signal at the start is made. */
  isSignalled: boolean;
  given: number;
  /** Cancels the run, also one whose lists grow. */
  readonly abort: AbortController;
  /** Cancels the run if it is to be cancelled at the start of this step. */
  cancel?: (step: number) => void;
}

export interface GraphRunner {
  readonly table: Table;
  /** Runs the graph once, or (with memory) twice on one thread: a record for each. */
  run(chooser: Chooser, guide?: Guide, maxSteps?: number): Promise<readonly RanGraph[]>;
}

/** Leads a run along a trace. */
export interface Guide {
  /** The choice of a node in the trace: empty if it chose nothing, `undefined` if the trace leaves the choice open. */
  readonly hint: (step: number, node: string) => string | undefined;
  readonly maxSteps: number;
  /** Whether the run goes as the trace in a step that starts. */
  readonly accepts: (step: number, nodes: readonly string[]) => boolean;
  /** Set when the run has left the trace: how many choices were made until then. */
  left: number | undefined;
}

/** Makes an engine for a table once; it then serves any number of runs. */
export function createRunner(table: Table): GraphRunner {
  const constants = constantsOf(table);
  const clock = new PumpedClock();
  const hasTimers = table.nodes.some((node) => node.timeout !== undefined);
  // Lists that a loop appends to may double in each step.
  const hasLists = table.nodes.some(({ each }) => each !== undefined);
  const needsStore = pauses(table) || table.channels.some(({ role }) => role === "memory");
  const receives = waits(table, RECEIVE);
  const nodes = new Map(table.nodes.map((node) => [node.name, node]));
  const options = new Map<string, readonly Option[]>();
  let now: Current | undefined;
  const current = (): Current => {
    if (now === undefined) throw new Error("no run is under way");
    return now;
  };
  const choose = (node: string, key: string, make: () => readonly Option[], context: NodeContext): unknown => {
    let known = options.get(key);
    if (known === undefined) options.set(key, (known = make()));
    const { chooser, did, isAsync, guide } = current();
    const hint = guide?.hint(context.step, node);
    if (guide?.left !== undefined) return undefined;
    if (hint !== undefined) known = known.filter((option) => fitsHint(option, hint));
    const option = known[known.length === 1 ? 0 : chooser.choose(known.map(({ weight }) => weight))];
    if (option === undefined) return undefined;
    if (option.use !== undefined) did.add(option.use);
    if (!isAsync || option.use === "timeout") return option.act(context);
    const delay = chooser.choose([4, 1, 1, 1]);
    if (delay === 0) return option.act(context);
    did.add("delay");
    return clock.sleep(delay * 2).then(() => option.act(context));
  };
  const act = (...args: readonly unknown[]): unknown => {
    const context = args.at(-1) as NodeContext;
    const name = String(args[0]);
    const node = nodes.get(name);
    return choose(name, name, () => optionsOf(node, context.expects, table, constants, clock, needsStore), context);
  };
  const count = (kind: string): void => {
    const { calls } = current();
    calls.set(kind, (calls.get(kind) ?? 0) + 1);
  };
  const outside =
    (kind: string, made?: Json): BuiltinNode =>
    (args, context) => {
      count(kind);
      const key = made === undefined ? `${kind} ${JSON.stringify(context.expects?.type)}` : kind;
      const values = made === undefined ? undefined : [made];
      return choose(nameIn(args), key, () => plainOptions(context.expects, constants, values, 4), context);
    };
  /** The same for equal arguments within a run, as a pure function is. */
  const pure =
    (name: string, values: (args: readonly unknown[]) => readonly Json[]) =>
    (...args: readonly unknown[]): Json => {
      const { memo, chooser } = current();
      const key = `${name}${JSON.stringify(args)}`;
      let value = memo.get(key);
      if (value === undefined) {
        const candidates = values(args);
        value = candidates[chooser.choose(candidates.map(() => 1))] ?? null;
        memo.set(key, value);
      }
      return value;
    };
  const store = needsStore ? new MemoryStore() : undefined;
  const engine: Engine = createEngine(table, {
    functions: {
      act,
      back: () => {
        const { did, chooser } = current();
        did.add("undo");
        if (chooser.choose([5, 1]) === 0) return null;
        did.add("undo fails");
        throw failure("broken", true);
      },
      test: pure("test", () => [false, true]),
      fold: pure("fold", ([old, update]) => [
        ...new Set([typeof update === "number" ? Math.trunc(update) : 1, old as Json, 2]),
      ]),
    },
    builtins: {
      ask,
      fail,
      print: (args, context) =>
        choose(nameIn(args), "print", () => plainOptions(undefined, constants, [null], 1), context),
      receive,
      sleep: async (args, context) => {
        await sleep(args, context);
        return choose("", "sleep", () => plainOptions(undefined, constants, [null], 1), context);
      },
      llm: outside("model call"),
      http: outside("request", { status: 200, headers: {}, body: "", json: null }),
      shell: outside("shell command", { code: 0, stdout: "", stderr: "" }),
      tool: outside("tool call"),
    },
    clock,
    cache: {
      get: (key) => now?.cache.get(key),
      set: (key, value) => void now?.cache.set(key, value),
      clear: () => now?.cache.clear(),
    },
    random: () => 0.5,
    onFailure: "finish",
    wake: false,
    onEvent: (event) => {
      if (now === undefined) return;
      now.events.push(event);
      if (now.events.length > MOST_EVENTS) now.abort.abort();
      const { guide, chooser } = now;
      if (event.type === "step" && event.phase === "start" && event.namespace.length === 0) now.cancel?.(event.step);
      if (receives && event.type === "step" && event.phase === "start" && event.step === 0) signalAtStart(now);
      if (guide === undefined || guide.left !== undefined || event.type !== "step" || event.phase !== "start") return;
      if (event.namespace.length === 0 && !guide.accepts(event.step, event.nodes)) guide.left = chooser.made.length;
    },
    ...(store === undefined ? {} : { store }),
  });
  let threads = 0;

  /** A signal that arrives before any node waits for it. */
  const signalAtStart = (at: Current): void => {
    const { chooser, did, thread } = at;
    if (thread === undefined || at.isSignalled) return;
    at.isSignalled = true;
    const values: readonly Json[] = [1, "x", true, { unfit: [1] }];
    const chosen = chooser.choose([8, ...values.map(() => 1)]) - 1;
    const value = values[chosen];
    if (value === undefined) return;
    did.add(chosen < values.length - 1 ? "signal in advance" : "signal that does not fit");
    store?.putSignal(thread, { id: "start", name: chosen === 2 ? "t" : "s", value });
  };

  const valueFor = ({ expects }: PauseItem, chooser: Chooser): Json => {
    const values = expects === undefined ? [true] : sampleValues(expects, constants);
    const value = values[chooser.choose(values.map(() => 1))];
    return value === undefined ? true : value;
  };
  /** Answers pauses, sends signals, or lets time pass; `undefined` where the rest of the run is waiting. */
  const endWaits = async (
    at: Current,
    thread: string,
    pauses: readonly PauseItem[],
    maxSteps: number,
  ): Promise<RunResult | undefined> => {
    const { chooser, did } = at;
    const due = Math.min(...pauses.flatMap((pause) => pause.due ?? []));
    const active = pauses.filter(({ kind }) => kind !== "timer");
    const signals = active.filter(({ kind }) => kind === "signal");
    const isTimed = Number.isFinite(due);
    const moves: readonly (readonly [move: Move, weight: number])[] = [
      ...(active.length > 0 ? [["all", 3] as const] : []),
      ...(active.length > 1 ? [["first", 1] as const] : []),
      ...(isTimed ? [["time", active.length > 0 ? 2 : 3] as const] : []),
      ...(signals.length > 0 ? [["more signals", 1] as const] : []),
      ...(signals.length === pauses.length && !isTimed ? [["no signal", 0.4] as const] : []),
    ];
    const [move] = moves[chooser.choose(moves.map(([, weight]) => weight))] ?? ["no signal"];
    const answered = (): void => {
      at.events.push({ type: "custom", node: "", data: "answered", seq: 0, namespace: [], runId: "", step: ANSWERED });
    };
    if (move === "no signal") {
      did.add("no signal");
      return undefined;
    }
    if (move === "time") {
      clock.advance(due);
      const over = pauses.filter((pause) => (pause.due ?? Infinity) <= due);
      if (over.some(({ kind }) => kind === "timer")) did.add("timer");
      if (over.some(({ kind }) => kind !== "timer")) {
        did.add("deadline passes");
        answered();
      }
      return engine.resume(thread, { answers: {}, maxSteps, ...(hasLists ? { signal: at.abort.signal } : {}) });
    }
    const answers: Record<string, Json> = {};
    for (const pause of move === "first" ? active.slice(0, 1) : active) {
      if (pause.kind !== "signal") {
        did.add("answer");
        answers[pause.id] = valueFor(pause, chooser);
        continue;
      }
      if (await signal(thread, String(pause.payload), valueFor(pause, chooser))) did.add("signal");
      if (move === "more signals") await signalInAdvance(at, thread, pause);
    }
    answered();
    return engine.resume(thread, { answers, maxSteps, ...(hasLists ? { signal: at.abort.signal } : {}) });
  };
  /** One more signal, which a later node takes. */
  const signalInAdvance = async ({ chooser, did }: Current, thread: string, pause: PauseItem): Promise<void> => {
    const name = chooser.choose([1, 1]) === 0 ? "s" : "t";
    const isFit = chooser.choose([2, 1]) === 0;
    if (await signal(thread, name, isFit ? valueFor(pause, chooser) : { unfit: [1] }))
      did.add(isFit ? "signal in advance" : "signal that does not fit");
  };
  /** Returns false if a node that waits for the signal refuses its value. Another node may wait for another type. */
  const signal = async (thread: string, name: string, value: Json): Promise<boolean> => {
    try {
      await engine.signal(thread, name, value);
      return true;
    } catch (error) {
      if (error instanceof ThreadError && error.code === "NG_BAD_ANSWER") return false;
      throw error;
    }
  };

  const once = async (
    chooser: Chooser,
    thread: string | undefined,
    guide: Guide | undefined,
    maxSteps: number,
  ): Promise<RanGraph> => {
    const isAsync = hasTimers || (guide === undefined && chooser.choose([9, 1]) === 1);
    now = {
      guide,
      chooser,
      memo: new Map(),
      cache: new Map(),
      calls: new Map(),
      did: new Set(),
      events: [],
      isAsync,
      thread,
      isSignalled: false,
      given: 0,
      abort: new AbortController(),
    };
    const at = now;
    const config = configOf(table, chooser, constants);
    if (config !== undefined) at.did.add("configured");
    // A `finally` part can begin at any point.
    const cancelAt = table.finally === undefined || guide !== undefined ? -1 : chooser.choose([6, 1, 1, 1]) - 1;
    at.cancel = (step) => {
      if (step !== cancelAt) return;
      at.did.add("cancelled");
      at.abort.abort();
    };
    if (cancelAt === 0) at.cancel(0);
    const input = inputOf(table, chooser, constants);
    at.given = chooser.made.length;
    let result = await engine.run(input, {
      maxSteps,
      ...(config === undefined ? {} : { config }),
      ...(cancelAt === -1 && !hasLists ? {} : { signal: at.abort.signal }),
      ...(thread === undefined ? {} : { thread, abandon: true }),
    });
    let left = MAX_ANSWERS;
    for (; left > 0 && result.status === "paused" && thread !== undefined; left--) {
      const next = await endWaits(at, thread, result.pauses, maxSteps);
      if (next === undefined) break;
      result = next;
    }
    now = undefined;
    // A run that was cut because its lists grow without end is one that met its limit of steps.
    const isCut = at.events.length > MOST_EVENTS;
    if (isCut && table.finally === undefined) result = { ...result, status: "limit" };
    if (result.rollback !== undefined) at.did.add("rolled back");
    const run = { ...recordOf(at, result), isLeft: left === 0 || isCut };
    const { finally: ended } = result;
    if (ended === undefined) return run;
    const isPart = ({ namespace, step }: RunEvent): boolean => namespace[0] === "finally" || step === ANSWERED;
    const events = at.events.filter(isPart).map((event) => ({ ...event, namespace: event.namespace.slice(1) }));
    const missing =
      ended.status === "incomplete" ? [{ id: "finally", target: "", arrived: [], missing: ["finally"] }] : [];
    const part = { ...result, status: ended.status, error: ended.error, incompleteBarriers: missing };
    return { ...run, finally: { ...recordOf({ ...at, events }, part), isLeft: run.isLeft } };
  };
  return {
    table,
    run: async (chooser, guide, maxSteps = guide?.maxSteps ?? MAX_STEPS) => {
      if (store === undefined) return [await once(chooser, undefined, guide, maxSteps)];
      const thread = `t${threads++}`;
      const first = await once(chooser, thread, guide, maxSteps);
      if (guide !== undefined || !table.channels.some(({ role }) => role === "memory") || chooser.choose([1, 1]) === 0)
        return [first];
      const second = await once(chooser, thread, undefined, maxSteps);
      return [first, { ...second, did: new Set([...second.did, "second run of a thread"]) }];
    },
  };
}

/** The name of the node, which its call holds. */
function nameIn(args: Readonly<Record<string, Json>>): string {
  const name = args["name"] ?? args["text"] ?? args["prompt"] ?? args["url"] ?? args["command"];
  return typeof name === "string" ? name : "";
}

function pauses(table: Table): boolean {
  return (
    table.nodes.some(
      (node) =>
        node.pauseBefore === true ||
        node.pauseAfter === true ||
        (node.call.kind === "builtin" && (WAITS.has(node.call.name) || isLongSleep(node, table))),
    ) || table.graphs.some(pauses)
  );
}

const WAITS: ReadonlySet<string> = new Set(["ask", "receive"]);
const RECEIVE: ReadonlySet<string> = new Set(["receive"]);

/** Whether a graph or one that it calls has a built-in node of `names`. */
function waits({ nodes, graphs }: Table, names: ReadonlySet<string>): boolean {
  return (
    nodes.some(({ call }) => call.kind === "builtin" && names.has(call.name)) ||
    graphs.some((graph) => waits(graph, names))
  );
}

/** A sleep that pauses the run. */
function isLongSleep({ call }: NodeSpec, { expressions }: Table): boolean {
  if (call.kind !== "builtin" || call.name !== "sleep") return false;
  const [argument] = call.args;
  const value = argument === undefined ? undefined : expressions[argument.expression];
  return value?.op === "const" && typeof value.value === "number" && value.value > 60_000;
}

function inputOf(table: Table, chooser: Chooser, constants: Constants): JsonObject {
  const given: Record<string, Json> = {};
  for (const { name, role, type, initial } of table.channels) {
    if (role !== "input") continue;
    const values = sampleValues({ type, types: table.types }, constants);
    const chosen = chooser.choose([...values.map(() => 1), ...(initial === undefined ? [] : [1])]);
    const value = values[chosen];
    if (value !== undefined) given[name] = value;
  }
  return given;
}

/** Values for some of the configuration; `undefined` without any. */
function configOf(table: Table, chooser: Chooser, constants: Constants): JsonObject | undefined {
  const given: Record<string, Json> = {};
  for (const { name, role, type, initial } of table.channels) {
    if (role !== "config") continue;
    const values = sampleValues({ type, types: table.types }, constants);
    const value = values[chooser.choose([...values.map(() => 1), ...(initial === undefined ? [] : [1])])];
    if (value !== undefined) given[name] = value;
  }
  return Object.keys(given).length === 0 ? undefined : given;
}

/** Whether the text `hint` of a trace can describe this option. */
function fitsHint({ use, label }: Option, hint: string): boolean {
  const isFailure = use === "fails" || use === "timeout" || use === "bad result";
  if (hint.startsWith("on error")) return isFailure;
  if (isFailure) return false;
  const jump = /(?:exclusive )?(?:goto|send) .*$|stop(?:\(\))?$/.exec(hint)?.[0];
  if (jump !== undefined && label !== undefined) return label === jump || (label === "stop" && jump === "goto end");
  return label === undefined && jump === undefined;
}

function failure(message: string, retryable: boolean): Error {
  return Object.assign(new Error(message), retryable ? {} : { retryable: false });
}

/** Results of a type, and failures. */
function plainOptions(
  expects: ExpectedType | undefined,
  constants: Constants,
  made: readonly Json[] | undefined,
  failing: number,
): Option[] {
  const values = made ?? (expects === undefined ? [undefined] : sampleValues(expects, constants));
  const messages = constants.strings.filter((text) => text === "x" || text === "y");
  return [
    ...values.map((value): Option => ({ weight: 40 / values.length, act: () => value })),
    ...[...messages, "broken"].map((message, _, all): Option => ({
      weight: failing / all.length,
      use: "fails",
      act: () => {
        throw failure(message, true);
      },
    })),
  ];
}

/** What an imported function may do: all that its type and `goes` allow. */
function optionsOf(
  node: NodeSpec | undefined,
  expects: ExpectedType | undefined,
  table: Table,
  constants: Constants,
  clock: PumpedClock,
  hasStore: boolean,
): readonly Option[] {
  const handles = (node?.onError.length ?? 0) > 0 || node?.tries !== undefined;
  const written =
    node?.output === undefined
      ? []
      : node.output.kind === "channel"
        ? [node.output.channel]
        : node.output.fields.map(({ channel }) => channel);
  // The nodes of called graphs are not in the table.
  const isRead = node === undefined || written.some((channel) => constants.read.has(channel));
  const values = expects === undefined || isRead ? undefined : sampleValues(expects, constants).slice(0, 1);
  const found = plainOptions(expects, constants, values, handles ? 12 : 1);
  const first = found[0];
  const results = node?.output === undefined ? [] : found.filter(({ use }) => use === undefined).slice(0, 4);
  const value = (): unknown => (first === undefined ? undefined : first.act(undefined as unknown as NodeContext));
  if (hasStore) {
    found.push({
      weight: 2,
      use: "interrupt",
      act: ({ interrupt }) => {
        interrupt("?");
        return value();
      },
    });
    found.push({
      weight: handles ? 2 : 0.3,
      use: "interrupt with a deadline",
      act: ({ interrupt }) => {
        interrupt("?", { within: 3_600_000 });
        return value();
      },
    });
  }
  if (node?.output !== undefined && handles)
    found.push({ weight: 2, use: "bad result", act: () => ({ unfit: [undefined] }) });
  if (node?.timeout !== undefined) {
    found.push({ weight: handles ? 8 : 1, use: "timeout", act: () => clock.sleep(1000).then(value) });
  }
  found.push({
    weight: 1,
    use: "emit",
    act: ({ emit }) => {
      emit({ note: 1 });
      return value();
    },
  });
  const goes = node?.goes;
  const mayStop = goes?.includes(END) === true;
  found.push({ weight: mayStop ? 6 : 0.4, use: "stop", label: "stop", act: ({ stop }) => stop() });
  for (const { act } of mayStop ? results : []) {
    found.push({
      weight: 8 / results.length,
      use: "stop beside a result",
      label: "stop",
      act: (context) => {
        context.stop();
        return act(context);
      },
    });
  }
  if (goes === undefined) return found;
  const names = goes.map((target) =>
    target === END ? "end" : target === ROLLBACK ? "rollback" : (table.nodes[target]?.name ?? "end"),
  );
  const nodes = names.filter((name) => name !== "end" && name !== "rollback");
  for (const name of names) {
    found.push({ weight: 8, use: "goto one", label: `goto ${name}`, act: ({ goto }) => goto(name) });
    for (const { act } of results) {
      found.push({
        weight: 10 / results.length,
        use: "goto one beside a result",
        label: `goto ${name}`,
        act: (context) => {
          context.goto(name);
          return act(context);
        },
      });
    }
    found.push({
      weight: 3,
      use: "exclusive goto",
      label: `exclusive goto ${name}`,
      act: ({ goto }) => goto(name, { exclusive: true }),
    });
  }
  const subsets = nodes.length < 2 ? [] : nodes.length === 2 ? [nodes] : [nodes, nodes.slice(0, 2), nodes.slice(1)];
  for (const chosen of subsets) {
    found.push({
      weight: 6,
      use: "goto several",
      label: `goto ${chosen.join(", ")}`,
      act: ({ goto }) => goto(...chosen),
    });
  }
  for (const name of nodes) {
    found.push({
      weight: 7,
      use: "send one",
      label: `send ${name}`,
      act: ({ send }) => {
        send(name, 1);
        return value();
      },
    });
    found.push({
      weight: 3,
      use: "send twice to one",
      label: `send ${name}`,
      act: ({ send }) => {
        send(name, 1);
        send(name, 2);
        return value();
      },
    });
    found.push({
      weight: 2,
      use: "send one",
      label: `goto ${name} and send`,
      act: ({ send, goto }) => {
        send(name, 1);
        return goto(name);
      },
    });
  }
  if (nodes.length > 1) {
    found.push({
      weight: 4,
      use: "send several",
      label: `send ${nodes.join(", ")}`,
      act: ({ send }) => {
        for (const name of nodes) send(name, 1);
        return value();
      },
    });
  }
  return found;
}

/** A summary of the events of a run. A step with a pause has its events twice and counts once. */
function recordOf({ events, calls, did, chooser, given }: Current, result: RunResult): Omit<RanGraph, "isLeft"> {
  interface Open {
    nodes: string[];
    committed: boolean;
    routes: RanRoute[];
    fired: RanStep["fired"][number][];
    pausedBefore: boolean;
  }
  const steps: Open[] = [];
  const failures: RanGraph["failures"][number][] = [];
  const started = new Set<string>();
  let start: RanRoute | undefined;
  let isAnswered = false;
  const at = (step: number): Open =>
    (steps[step] ??= { nodes: [], committed: false, routes: [], fired: [], pausedBefore: false });
  for (const event of events) {
    if (event.type === "custom" && event.data === "answered") isAnswered = true;
    if (event.namespace.length > 0) continue;
    switch (event.type) {
      case "step": {
        const step = at(event.step);
        if (isAnswered) step.pausedBefore = true;
        isAnswered = false;
        if (event.phase === "end") {
          step.committed = true;
          step.nodes = [...event.nodes];
        } else if (event.nodes.length > step.nodes.length) step.nodes = [...event.nodes];
        break;
      }
      case "node":
        if (event.phase === "start") started.add(`${event.node}@${event.step}`);
        if (event.phase === "error") {
          failures.push({ node: event.node, code: event.error.code, message: event.error.message });
          if (event.item !== undefined) did.add("failing item");
        }
        break;
      case "route": {
        const route = { node: event.node, via: event.via, targets: event.targets, discarded: event.discarded === true };
        if (
          (event.node === "start" || event.node === "finally") &&
          event.step === 0 &&
          start === undefined &&
          steps.length === 0
        )
          start = route;
        else at(event.step).routes.push(route);
        break;
      }
      case "signal":
        // A signal that was in the inbox counts as a pause.
        if (event.phase === "taken") at(event.step).pausedBefore = true;
        break;
      case "barrier":
        if (event.fired)
          at(event.step).fired.push({
            barrier: event.barrier,
            targets: [event.target, ...(event.others ?? [])],
            arrived: event.arrived,
          });
        break;
      default:
    }
  }
  const isEmpty = steps.some(
    ({ nodes, committed }, step) => committed && nodes.some((node) => !started.has(`${node}@${step}`)),
  );
  if (isEmpty) did.add("empty list");
  return { steps, start, result, calls, did, failures, choices: chooser.made, given };
}
