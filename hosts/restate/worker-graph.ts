/** The services of one graph: what Restate calls on a worker. */
import type * as Sdk from "@restatedev/restate-sdk";
import type { createEngine } from "../../runtime/engine/create-engine.ts";
import type { RunContext } from "../../runtime/interface/context.ts";
import type { BuiltinContext } from "../../runtime/interface/context.ts";
import type { Engine, EngineOptions } from "../../runtime/interface/engine-options.ts";
import { RunError } from "../../runtime/interface/errors.ts";
import type { Signal } from "../../runtime/interface/checkpoint.ts";
import { LINKER } from "../../runtime/plan/link-calls.ts";
import { compileProgram, type CallCode, type Program } from "../../runtime/program/program.ts";
import { openMemory } from "../../runtime/memory/long-term-memory.ts";
import { MemoryNodeCache } from "../../runtime/run/node-cache.ts";
import { createCore, type EngineCore } from "../../runtime/run/run-settings.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import { beginCopy, copiesService, requestCopy } from "./copies-service.ts";
import { SHORT_WORK_MS, untilCancelled } from "./cancellation.ts";
import { createDispatch, type Driving, type Spread } from "./dispatch.ts";
import { driveInvocation, type Watched } from "./drive-invocation.ts";
import type { DriveRequest } from "./drive-thread.ts";
import { EventLog } from "./event-log.ts";
import type { Ingress } from "./ingress.ts";
import { runRemote, type RemoteCall, type RemoteResult } from "./remote-body.ts";
import { jsonSerde, TEXT } from "./serdes.ts";
import { OBJECT_OPTIONS, RETRY } from "./service-options.ts";
import { serviceNames, tasksService, type ServiceNames } from "./service-names.ts";
import { ItemState } from "./store/item-state.ts";
import type { KeyValues } from "./store/key-values.ts";
import { callItemsThroughIngress, callThroughIngress } from "./store/ingress-thread.ts";
import { refuseMissingSecrets } from "../../runtime/table/missing-secrets.ts";
import { RestateStore } from "./store/restate-store.ts";
import { ThreadState } from "./store/thread-state.ts";
import { answer, type Answer } from "./wire-error.ts";
import type { WireResult } from "./wire-result.ts";

interface GraphSettings {
  readonly table: Table;
  readonly options: EngineOptions;
  readonly ingress: Ingress;
  readonly context: RunContext;
  readonly spread: Spread;
  readonly copyTo: Store | undefined;
}

export interface WorkerGraph extends GraphSettings {
  readonly names: ServiceNames;
  readonly engine: Engine;
  readonly store: RestateStore;
  /** For bodies that this worker executes for the runs of others. */
  readonly core: EngineCore;
  /** The invocations that this worker drives, by thread. */
  readonly drivers: Map<string, Driving>;
}

export function createWorkerGraph(settings: GraphSettings, create: typeof createEngine): WorkerGraph {
  const { table, options, ingress, spread } = settings;
  const names = serviceNames(table.name);
  const drivers = new Map<string, Driving>();
  const driverOf = (thread: string): Driving | undefined => drivers.get(thread);
  const store = new RestateStore(callThroughIngress(ingress, names), {
    drivenOf: (thread) => driverOf(thread)?.calls,
    callItems: callItemsThroughIngress(ingress, names),
  });
  const execute = createDispatch({ table, ingress, driverOf, spread });
  const { onEvent: _onEvent, ...coreOptions } = options;
  const engine = create(table, { ...options, store, execute, wake: false });
  const core = createCore(
    compileProgram(table, coreOptions, LINKER),
    { ...coreOptions, store },
    () => new MemoryNodeCache(),
    openMemory,
  );
  // Restate sends runs to any worker that is registered: one that cannot run them does not start.
  refuseMissingSecrets(core.missingSecrets);
  return { ...settings, names, drivers, store, core, engine };
}

type Service = { readonly name: string };

export function servicesOf(
  sdk: typeof Sdk,
  graph: WorkerGraph,
): readonly (Service & Parameters<Sdk.RestateEndpoint["bind"]>[0])[] {
  return [
    ...[runsService(sdk, graph), storeService(sdk, graph), bodiesService(sdk, graph)],
    ...[eventsService(sdk, graph), memoryService(sdk, graph), copiesService(sdk, graph)],
  ];
}

/** A node may work for a day before Restate takes its worker for dead. A worker that is dead closes its connection. */
const LONG = { hours: 24 } as const;

function runsService(sdk: typeof Sdk, graph: WorkerGraph) {
  const { names } = graph;
  const { exclusive, shared } = sdk.handlers.object;
  const drive =
    <Request extends DriveRequest>(kind: Request["do"]) =>
    (ctx: Sdk.ObjectContext, input: Omit<Request, "do"> & Watched): Promise<Answer<WireResult | null>> =>
      driveInvocation(sdk, graph, ctx, { ...input, do: kind } as unknown as DriveRequest & Watched);
  return sdk.object({
    name: names.runs,
    metadata: { "ngraph.digest": graph.table.digest },
    handlers: {
      run: exclusive({}, drive("run")),
      resume: exclusive({}, drive("resume")),
      rollback: exclusive({}, drive("rollback")),
      wake: exclusive({}, drive("wake")),
      signal: shared({}, async (ctx: Sdk.ObjectSharedContext, { signal }: { signal: Signal }) => {
        const added = await ctx.genericCall<object, Answer<boolean>>({
          ...{ service: names.store, method: "putSignal", key: ctx.key, parameter: { thread: ctx.key, signal } },
          ...{ inputSerde: jsonSerde<object>(), outputSerde: jsonSerde<Answer<boolean>>() },
        });
        if ("value" in added) wake(graph, ctx, ctx.key, 0);
        return added;
      }),
      /** The stream of the newest run that has one. */
      stream: shared({}, async (ctx: Sdk.ObjectSharedContext) => ({ value: await ctx.get<string>("stream") })),
      /** Whether a stream may receive further events. A run names its stream when it begins, and ends after all events were sent. */
      streams: shared({}, async (ctx: Sdk.ObjectSharedContext, { stream }: { stream: string }) => {
        const [newest, running] = [await ctx.get<string>("stream"), await ctx.get<string>("running")];
        return { value: newest === stream && running !== null };
      }),
      cancel: shared({}, async (ctx: Sdk.ObjectSharedContext) => {
        const running = await ctx.get<string>("running");
        if (running !== null) ctx.invocation(sdk.InvocationIdParser.fromString(running)).cancel();
        return { value: running !== null };
      }),
    },
    options: {
      ...{ inactivityTimeout: LONG, abortTimeout: LONG, retryPolicy: RETRY, journalRetention: 0 },
      ...{ idempotencyRetention: { hours: 24 }, enableLazyState: true },
    },
  });
}

function wake({ names }: WorkerGraph, ctx: Sdk.Context, thread: string, delay: number): void {
  ctx.genericSend<object>({
    service: names.runs,
    method: "wake",
    key: thread,
    parameter: {},
    inputSerde: jsonSerde<object>(),
    delay,
  });
}

const WRITES = [
  "claim",
  "renew",
  "release",
  "save",
  "putWrites",
  "clearWrites",
  "putSignal",
  "label",
  "deleteThread",
  "begin",
  "fence",
  "batch",
  "drop",
] as const;
const READS = ["loadLatest", "loadById", "loadByLabel", "list", "writes", "signals", "points", "copies"] as const;

/** Writes that a copy of the thread receives. */
const COPIED: ReadonlySet<string> = new Set(["save", "batch", "create", "label", "deleteThread"]);

function storeService(sdk: typeof Sdk, graph: WorkerGraph) {
  const { names, copyTo } = graph;
  const { exclusive, shared } = sdk.handlers.object;
  const call =
    (method: keyof ThreadState) =>
    async (ctx: Sdk.ObjectSharedContext, input: object): Promise<Answer<unknown>> => {
      const state = new ThreadState(stateOf(sdk, ctx));
      const done = await answer(
        async () => (await (state[method] as (given: object) => Promise<unknown>).call(state, input)) ?? null,
      );
      if (copyTo !== undefined && COPIED.has(method) && "value" in done)
        await requestCopy(graph, ctx as Sdk.ObjectContext);
      return done;
    };
  const handlers = Object.fromEntries([
    ...WRITES.map((method) => [method, exclusive({}, call(method))]),
    ...READS.map((method) => [method, shared({}, call(method))]),
    // With its state, which is empty: a read that is on its way to the server and back would take as long as the call.
    ["create", exclusive({ enableLazyState: false }, call("create"))],
    ["beginCopy", exclusive({}, beginCopy)],
  ]) as Record<string, ReturnType<typeof exclusive>>;
  return sdk.object({
    name: names.store,
    handlers,
    options: OBJECT_OPTIONS,
  });
}

function memoryService(sdk: typeof Sdk, { names }: WorkerGraph) {
  const { exclusive, shared } = sdk.handlers.object;
  const call =
    (method: keyof ItemState) =>
    (ctx: Sdk.ObjectSharedContext, input: object): Promise<Answer<unknown>> => {
      const state = new ItemState(stateOf(sdk, ctx));
      return answer(
        async () => (await (state[method] as (given: object) => Promise<unknown>).call(state, input)) ?? null,
      );
    };
  return sdk.object({
    name: names.memory,
    handlers: {
      put: exclusive({}, call("put")),
      delete: exclusive({}, call("delete")),
      prune: exclusive({}, call("prune")),
      get: shared({}, call("get")),
      list: shared({}, call("list")),
    },
    options: OBJECT_OPTIONS,
  });
}

/** The state of an object. Reads that are requested together go to Restate together: each message costs a turn of its connection. */
function stateOf(sdk: typeof Sdk, ctx: Sdk.ObjectSharedContext): KeyValues {
  const writable = ctx as Sdk.ObjectContext;
  let reads: Promise<readonly (string | null)[]> | undefined;
  let keys: string[] = [];
  const readAll = async (): Promise<readonly (string | null)[]> => {
    await undefined;
    const wanted = keys;
    [keys, reads] = [[], undefined];
    return sdk.RestatePromise.all(wanted.map((key) => ctx.get<string>(key, TEXT) as Sdk.RestatePromise<string | null>));
  };
  return {
    get: async (key) => {
      const index = keys.push(key) - 1;
      return (await (reads ??= readAll()))[index] ?? undefined;
    },
    set: (key, text) => writable.set(key, text, TEXT),
    clear: (key) => writable.clear(key),
    keys: () => ctx.stateKeys(),
  };
}

function bodiesService(sdk: typeof Sdk, graph: WorkerGraph) {
  const { core, table } = graph;
  return sdk.service({
    name: tasksService(table),
    handlers: {
      execute: sdk.handlers.handler({}, async (ctx: Sdk.Context, call: RemoteCall): Promise<Answer<RemoteResult>> => {
        if (call.digest !== table.digest) return { error: otherVersion(table).toJSON() };
        const aborts = new AbortController();
        const abort = (): void => aborts.abort(new Error("the run no longer waits for this task"));
        const { attemptCompletedSignal: gone } = ctx.request();
        gone.addEventListener("abort", abort, { once: true });
        const body = executeBody(graph, call, aborts.signal);
        const value = await untilCancelled(sdk, ctx, body, SHORT_WORK_MS, (cancelled) => {
          abort();
          throw cancelled;
        });
        // The signal of an attempt aborts at every end.
        gone.removeEventListener("abort", abort);
        return { value };
      }),
      cancel: sdk.handlers.handler({}, async (ctx: Sdk.Context, { invocation }: { invocation: string }) => {
        ctx.invocation(sdk.InvocationIdParser.fromString(invocation)).cancel();
        return { value: true };
      }),
    },
    options: {
      ...{ inactivityTimeout: LONG, abortTimeout: LONG, retryPolicy: RETRY, journalRetention: 0 },
      idempotencyRetention: { hours: 1 },
    },
  });

  function executeBody({ context }: WorkerGraph, call: RemoteCall, signal: AbortSignal): Promise<RemoteResult> {
    const code = codeOf(core.program, call);
    const parts = { signal, context, memory: core.memory, redact: core.redact, allowedHosts: core.allowedHosts };
    return runRemote(call, parts, (given) => callCode(code, call.args, given));
  }
}

function otherVersion({ name }: Table): RunError {
  const message = `this worker has another version of graph \`${name}\`: deploy each version at an address of its own`;
  return new RunError("NG_BAD_INPUT", message);
}

function callCode(code: CallCode, args: RemoteCall["args"], context: BuiltinContext): unknown {
  if (code.kind === "body") return code.body(...(args as readonly unknown[]), context);
  if (code.kind === "builtin") return code.body(args as JsonObject, context);
  throw new TypeError("only functions and built-in nodes run elsewhere");
}

function codeOf(program: Program, { graph, node }: Pick<RemoteCall, "graph" | "node">): CallCode {
  const seen = new Set<Program>();
  const open = [program];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    const index = next.table.name === graph ? next.nodeIndex.get(node) : undefined;
    if (index !== undefined) return next.nodes[index]!.call;
    for (const called of next.graphs) open.push(called);
  }
  throw new TypeError(`graph \`${graph}\` has no node \`${node}\``);
}

function eventsService(sdk: typeof Sdk, { names }: WorkerGraph) {
  const { exclusive, shared } = sdk.handlers.object;
  return sdk.object({
    name: names.events,
    handlers: {
      append: exclusive({}, (ctx: Sdk.ObjectContext, batch: { events: readonly JsonObject[] }) =>
        answer(async () => {
          const isFirst = await new EventLog(stateOf(sdk, ctx)).append(batch.events);
          if (isFirst) {
            ctx.genericSend<object>({
              ...{
                service: names.events,
                method: "remove",
                key: ctx.key,
                parameter: {},
                inputSerde: jsonSerde<object>(),
              },
              delay: { hours: 24 },
            });
          }
          return null;
        }),
      ),
      read: shared({}, (ctx: Sdk.ObjectSharedContext, { from }: { from: number }) =>
        answer(() => new EventLog(stateOf(sdk, ctx)).read(from)),
      ),
      remove: exclusive({}, async (ctx: Sdk.ObjectContext) => {
        ctx.clearAll();
        return { value: null };
      }),
    },
    options: OBJECT_OPTIONS,
  });
}
