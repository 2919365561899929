import type { ThreadId } from "../interface/checkpoint.ts";
import { systemClock } from "../interface/clock.ts";
import type {
  Engine,
  EngineOptions,
  ResumeOptions,
  RunOptions,
  RunResult,
  RunStream,
  StreamOptions,
} from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { LongTermMemory } from "../interface/memory.ts";
import { compileDirect, hasParts, type DirectModule } from "../direct/direct-graph.ts";
import { startDirect } from "../direct/direct-loop.ts";
import type { TakeOver } from "../direct/direct-run.ts";
import type { GeneratedExpression } from "../expression/compile-expression.ts";
import type { ExpressionFunction } from "../expression/call-function.ts";
import { LazyMemory } from "../memory/lazy-memory.ts";
import { checkEngineOptions, checkView } from "../run/check-options.ts";
import { NO_OPTIONS } from "../run/no-options.ts";
import { copyArguments } from "../run/copy-arguments.ts";
import type { OptionKind } from "../run/option-kinds.ts";
import {
  checkOptions,
  ENGINE_OPTIONS,
  MEMORY_OPTIONS,
  RUN_OPTIONS,
  STREAM_OPTIONS,
  STREAM_RESUME_OPTIONS,
} from "../run/option-names.ts";
import { turnOf } from "../run/take-turns.ts";
import { freezeGenerated } from "../table/freeze-generated.ts";
import { refuseEffects } from "../table/refuse-effects.ts";
import type { Table } from "../table/table.ts";
import type { JsonObject, MaybePromise } from "../value/json.ts";
import { isRecord } from "../value/plain-object.ts";
import { isThenable } from "../value/promise.ts";
import type { DirectEngine } from "./direct-engine.ts";
import { loadThreads } from "./loaded-threads.ts";

/**
 * Creates an engine for a generated module whose graph runs directly: without a store, listeners and limits of the caller, its runs
 * need `runtime/direct/` alone. The engine is loaded for all other calls, and when something in a run is out of the ordinary.
 */
export function openDirect(table: Table, options: EngineOptions, module: DirectModule): Engine {
  checkOptions("an engine", options, ENGINE_OPTIONS);
  if (options.host !== undefined) return options.host.connect(table, options);
  freezeGenerated(table);
  refuseEffects(table, options.allow, "graph");
  checkEngineOptions(options);
  if (options.memory !== undefined) checkOptions("the memory of an engine", options.memory, MEMORY_OPTIONS);
  const functions = functionsOf(table, options);
  const secrets = module.secrets?.read(table, options);
  const clock = options.clock ?? systemClock;
  const memory = memoryOf(options, () => clock.now());
  let opened: DirectEngine | undefined;
  const load = (): MaybePromise<DirectEngine> =>
    opened ??
    import("./direct-engine.ts").then(
      (code) => (opened ??= code.openDirectEngine(table, secrets?.options ?? options, memory)),
    );
  const onEngine = (name: Operation, ...args: readonly unknown[]): Promise<never> => {
    const call = (engine: Engine, given: readonly unknown[]): Promise<never> =>
      (engine as unknown as Operations)[name](...given);
    const loaded = load();
    if (!isThenable(loaded)) return call(loaded.engine, args);
    // The caller may change the arguments while the engine is loaded.
    const copies = copyArguments(args);
    return Promise.resolve(loaded).then(({ engine }) => call(engine, copies));
  };
  const onStream = (name: Operation, ...args: readonly unknown[]): RunStream<never> => {
    const open = async (): Promise<RunStream<never>> => onEngine(name, ...args);
    const streaming = open();
    const result = streaming.then((stream) => stream.result);
    // A consumer that reads only the items still receives the error.
    result.catch(() => undefined);
    async function* items(): AsyncGenerator<never> {
      // The options select the type of the items.
      yield* await streaming;
    }
    return { result, [Symbol.asyncIterator]: () => items() };
  };
  const code =
    isPlain(options, module) && hasParts(table, module) && secrets?.isComplete !== false
      ? compileDirect(table, module, {
          functions,
          expressions: (options.expressions ?? []) as readonly GeneratedExpression[],
          clock,
          turn: turnOf(clock),
          memory,
          secrets,
        })
      : undefined;
  const takeOver: TakeOver = async (run, tasks) => (await load()).takeOver(run, tasks);
  const run = (input: JsonObject, settings: RunOptions): Promise<RunResult> => {
    const given = settings === NO_OPTIONS ? settings : directOptions(settings);
    if (code === undefined || given === undefined) return onEngine("run", input, settings);
    // The code of signals is loaded with the engine, which has the first of their runs.
    const guarded = given.signal && opened?.runGuarded;
    const isDirect = given.signal === undefined || guarded !== undefined;
    return (isDirect && startDirect(code, input, given, takeOver, guarded)) || onEngine("run", input, settings);
  };
  // With a store, the first call is near: the engine is loaded before it.
  if (options.store !== undefined) void loadEarly(load);
  const loaded = ON_ENGINE.map((name) => [name, (...args: readonly unknown[]) => onEngine(name, ...args)]);
  return {
    ...(Object.fromEntries(loaded) as Pick<Engine, (typeof ON_ENGINE)[number]>),
    table,
    memory,
    run: (input, settings = NO_OPTIONS) => run(input, settings),
    stream: (input: JsonObject, settings: Streaming<RunOptions> = {}) => {
      checkStream(settings, STREAM_OPTIONS);
      return onStream("stream", input, settings);
    },
    streamResume: (thread: ThreadId, settings: Streaming<ResumeOptions> = {}) => {
      checkStream(settings, STREAM_RESUME_OPTIONS);
      return onStream("streamResume", thread, settings);
    },
    update: (thread, values, settings = {}) => onEngine("update", thread, values, settings),
    signal: (thread, name, value = null, settings = {}) => onEngine("signal", thread, name, value, settings),
  };
}

/** Operations that only the engine has. The last of their arguments is their settings, or the name of a thread or a label. */
const ON_ENGINE = [
  "resume",
  "rollback",
  "state",
  "history",
  "label",
  "fork",
  "migrate",
  "threads",
  "cancel",
  "drain",
  "recover",
  "due",
  "prune",
] as const satisfies readonly (keyof Engine)[];
type Operation = Exclude<keyof Engine, "table" | "memory">;
type Operations = Readonly<Record<Operation, (...args: readonly unknown[]) => Promise<never>>>;

/** The options of a stream, whatever its views are. */
type Streaming<Options> = Options & StreamOptions;

function checkStream(options: Streaming<object>, known: Readonly<Record<string, OptionKind>>): void {
  checkOptions("a stream", options, known);
  checkView(options);
}

async function loadEarly(load: () => MaybePromise<DirectEngine>): Promise<void> {
  try {
    await load();
    await loadThreads();
  } catch {
    // The import runs again with the call that needs it.
  }
}

/** Whether no option of the engine concerns its runs. Built-in nodes of the caller may use what only the engine has. */
function isPlain(options: EngineOptions, { builtins = {} }: DirectModule): boolean {
  return (
    ENGINE_ONLY.every((name) => options[name] === undefined) &&
    options.onFailure !== "abort" &&
    Object.entries(builtins).every(([name, node]) => options.builtins?.[name] === node)
  );
}

const ENGINE_ONLY = [
  "store",
  "onEvent",
  "mocks",
  "execute",
  "allow",
  "maxSteps",
  "maxTokens",
  "maxCost",
  "maxParallel",
] as const satisfies readonly (keyof EngineOptions)[];

/** A copy of the options of a run that are at most a signal, and objects for its bodies; `undefined` for others. */
function directOptions(options: RunOptions): RunOptions | undefined {
  if (typeof options !== "object" || options === null || Object.getPrototypeOf(options) !== Object.prototype)
    return undefined;
  for (const name in options) {
    if (name === "context" || name === "signal") continue;
    if (options[name as keyof RunOptions] !== undefined || !Object.hasOwn(RUN_OPTIONS, name)) return undefined;
  }
  const { context, signal } = options;
  if (context !== undefined && !isRecord(context)) return undefined;
  if (signal === undefined) return context === undefined ? NO_OPTIONS : { context };
  return signal instanceof AbortSignal ? ({ context, signal } as RunOptions) : undefined;
}

/** The functions by index. @throws RunError NG_MISSING_FUNCTION with a list of all that are missing */
function functionsOf(table: Table, options: EngineOptions): readonly (ExpressionFunction | undefined)[] {
  const given = options.functions ?? {};
  const found = table.functions.map(({ name }) => (Object.hasOwn(given, name) ? given[name] : undefined));
  // Code that only mocked nodes call may be missing. The engine, which runs such graphs, checks the rest.
  if (options.mocks === undefined) {
    const missing = table.functions.flatMap(({ name, module }, at) =>
      typeof found[at] === "function" ? [] : [`function \`${name}\` of "${module}" (in \`functions\`)`],
    );
    if (missing.length > 0) {
      throw new RunError(
        "NG_MISSING_FUNCTION",
        `graph \`${table.name}\` needs code that is missing: ${[...new Set(missing)].join(", ")}`,
      );
    }
  }
  return found as readonly (ExpressionFunction | undefined)[];
}

function memoryOf({ store, memory = {} }: EngineOptions, now: () => number): LongTermMemory {
  return new LazyMemory(async () => (await loadThreads()).openMemory({ store, now, options: memory }));
}
