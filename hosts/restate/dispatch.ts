import type { BodyCall, ExecuteBody } from "../../runtime/interface/host.ts";
import type { BuiltinContext } from "../../runtime/interface/context.ts";
import { readsSecret } from "../../runtime/expression/secret-arguments.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import type { Ingress } from "./ingress.ts";
import { remoteCall, settleRemote, type RemoteResult } from "./remote-body.ts";
import type { DrivenThread } from "./store/driven-thread.ts";
import { tasksService } from "./service-names.ts";

/** Built-in nodes that work for a while and need nothing of the driver but their arguments. */
const WORKING: ReadonlySet<string> = new Set(["http", "shell", "llm", "tool"]);

export interface DispatchOptions {
  readonly table: Table;
  readonly ingress: Ingress;
  /** The invocation that drives a thread in this process. */
  readonly driverOf: (thread: string) => Driving | undefined;
  /** Which tasks other workers may execute. */
  readonly spread: Spread;
}

export interface Driving {
  readonly calls: DrivenThread;
  /** Another worker continues the run: it needs the calls that are in progress. */
  isLeaving: boolean;
}

/** `parallel`: tasks that run beside others. `always`: all. `never`: none; the driver executes them. */
export type Spread = "parallel" | "always" | "never";

/**
 * Executes bodies as calls of a service, which any worker answers. Restate keeps the result of a call: a driver that takes over a run
 * receives it, and the body does not run again.
 */
export function createDispatch(options: DispatchOptions): ExecuteBody {
  const { table, spread } = options;
  const movable = movableNodes(table);
  return (call, context, local) => {
    const isMoved = spread === "always" || (spread === "parallel" && !call.isAlone);
    const driver = options.driverOf(context.thread);
    if (driver === undefined) return local();
    const isHere = !isMoved || !movable.has(`${call.graph}/${call.node}`);
    const work = (): unknown => (isHere ? local() : executeElsewhere(options, driver, call, context));
    // The input of the run, and those of called graphs, are durable before a body runs.
    const ready = driver.calls.flush();
    return ready === undefined ? work() : ready.then(work);
  };
}

async function executeElsewhere(
  { table, ingress }: DispatchOptions,
  driver: Driving,
  call: BodyCall,
  context: BuiltinContext,
): Promise<unknown> {
  const { graph, node, args } = call;
  const { signal, idempotencyKey: taskKey } = context;
  const replies: Json[] = [];
  for (;;) {
    const input = remoteCall(
      { graph, node, args: args as readonly Json[] | JsonObject, digest: table.digest },
      context,
      taskKey,
      replies,
    );
    // A later resume is another invocation, and a later attempt is another call.
    const idempotencyKey = `${driver.calls.invocation}/${taskKey}/${context.attempt}/${replies.length}`;
    const path = [tasksService(table), "execute"];
    let result: RemoteResult;
    try {
      result = await ingress.call<RemoteResult>(path, input, { idempotencyKey, repeat: true, isPatient: true, signal });
    } catch (error) {
      if (signal.aborted && !driver.isLeaving)
        void cancelElsewhere(ingress, tasksService(table), input, idempotencyKey);
      throw error;
    }
    const settled = settleRemote(result, node, context);
    if ("value" in settled) return settled.value;
    replies.push(settled.reply);
  }
}

/** Cancels a call that the run no longer waits for. The key finds the call that is in progress. */
async function cancelElsewhere(
  ingress: Ingress,
  service: string,
  input: object,
  idempotencyKey: string,
): Promise<void> {
  try {
    const invocation = await ingress.send([service, "execute"], input, { idempotencyKey });
    await ingress.call([service, "cancel"], { invocation });
  } catch {
    // The call ends by itself; its result is not used.
  }
}

/**
 * The nodes of a graph, and of the graphs that it calls, whose bodies may run elsewhere. Arguments that read a secret stay in the
 * driver: Restate stores the arguments of calls. Calls of models with tools store parts of their work with the run.
 */
function movableNodes(table: Table): ReadonlySet<string> {
  const movable = new Set<string>();
  const seen = new Set<Table>();
  const open = [table];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const { name, call } of next.nodes) {
      if (call.kind !== "function" && call.kind !== "builtin") continue;
      if (call.kind === "builtin" && (!WORKING.has(call.name) || (call.tools ?? []).length > 0)) continue;
      const args = call.args.map((arg) => (typeof arg === "number" ? arg : arg.expression));
      if (args.some((index) => readsSecret(next!.expressions[index]!))) continue;
      movable.add(`${next.name}/${name}`);
    }
    for (const called of next.graphs) open.push(called);
  }
  return movable;
}
