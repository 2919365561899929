/**
 * The run that the kill sweep kills: sixteen steps with parallel branches, a question, items, sent tasks, a called graph,
 * a gate, a migration at the gate, a timer and a signal, a called graph that rolls back, and `finally` parts of two graphs. Every body writes to a separate
 * ledger when it starts and when it ends.
 */
import {
  createEngine,
  type Engine,
  type FunctionRegistry,
  type NodeContext,
  type PauseItem,
  type Store,
  type Table,
} from "../../runtime/index.ts";
import { receive } from "../../stdlib/nodes/receive.ts";
import { sleep } from "../../stdlib/nodes/sleep.ts";
import { note } from "./kill-ledger.ts";

export const KILL_GRAPH = `
graph child {
  input n: int
  output total: int = 0
  output trail: string[] reduce append
  node c1 = work("c1") into trail
  node c2 = work("c2") into trail
  node c3 = work("c3") into trail
  node c4 = n * 2 into total
  node c5 = tidy("c5") into trail
  start -> c1 -> c2, c3
  all(c2, c3) -> c4
  finally -> c5
}
graph trip {
  output trail: string[] reduce append
  node book = work("book") into trail { undo undo("cancel") }
  node pay = work("pay") into trail { undo undo("refund") }
  start -> book -> pay -> rollback
}
graph flow {
  input n: int
  output log: string[] reduce append
  output answer: string
  output total: int = 0
  output trail: string[] reduce append
  state count: int reduce sum
  node first = work("first") into log
  node a = work("a") into log
  node b = work("b") into log
  node c = one() into count
  node join = work("join") into log
  node approve = approve() into answer
  node every = item(i) for i in [1, 2, 3] into log
  node call = child(n: n) into { total, trail }
  node spread = spread() { goes sent }
  node sent = sent() into log
  node side = one() into count
  node late = work("late") into log
  node held = work("held") into log { pause before }
  node near = work("near") into log
  node last = work("last") into log
  node nap = sleep(90s)
  node parcel = receive("parcel") into log
  node trip = trip() into { trail }
  node home = work("home") into log
  start -> first -> a, b, c
  all(a, b, c) -> join -> approve -> every -> call -> spread
  all(call, spread) -> side
  all(sent, side) -> late
  node sweep = tidy("sweep") into log
  node lock = tidy("lock") into log
  late -> held -> near -> last -> nap -> parcel -> trip
  trip -> home on error
  finally -> sweep -> lock
}`;

export const KILL_FUNCTIONS = ["work", "one", "item", "approve", "spread", "sent", "tidy", "undo"] as const;

/** The engines of the graph before and after the edit that the thread is migrated to. */
export interface KillEngines {
  readonly engine: Engine;
  readonly edited: Engine;
}

export function killEngines(table: Table, store: Store, ledger: string): KillEngines {
  const graphs = {
    child: { functions: functionsOf("call", ledger) },
    trip: { functions: functionsOf("trip", ledger) },
  };
  const options = { functions: functionsOf("", ledger), builtins: { receive, sleep }, store, graphs, wake: false };
  return { engine: createEngine(table, options), edited: createEngine(editedTable(table), options) };
}

/** New names of a node behind the gate, of a channel with a value, and of the called graph's node. */
const RENAMES: Readonly<Record<string, string>> = { near: "close", count: "counted", call: "invoke" };

/** The table under the new names. The engine compares digests only, so this one need not be that of the content. */
function editedTable(table: Table): Table {
  const renamed = <T extends { readonly name: string }>(part: T): T => ({
    ...part,
    name: RENAMES[part.name] ?? part.name,
  });
  return {
    ...table,
    digest: `sha256:${"0".repeat(64)}`,
    nodes: table.nodes.map(renamed),
    channels: table.channels.map(renamed),
  };
}

function functionsOf(namespace: string, ledger: string): FunctionRegistry {
  const body = async (task: string, context: NodeContext, of = namespace): Promise<string> => {
    const { idempotencyKey: key, step } = context;
    const entry = { process: process.pid, task, key, namespace: of, step };
    note(ledger, { event: "start", ...entry });
    await Promise.resolve();
    note(ledger, { event: "end", ...entry });
    return task;
  };
  const functions = {
    work: (task: string, context: NodeContext) => body(task, context),
    one: async (context: NodeContext) => {
      await body(`one at ${context.step}`, context);
      return 1;
    },
    item: (item: number, context: NodeContext) => body(`item ${item}`, context),
    approve: async (context: NodeContext) => {
      const answer = context.interrupt<string>({ question: "go on?" });
      await body("approve", context);
      return answer;
    },
    spread: async (context: NodeContext) => {
      await body("spread", context);
      for (const item of ["x", "y"]) context.send("sent", item);
    },
    undo: (task: string, context: NodeContext) => body(task, context),
    tidy: (task: string, context: NodeContext) =>
      body(task, context, `${namespace === "" ? "" : `${namespace}/`}finally`),
    sent: (context: NodeContext) => body(`sent ${String(context.item)}`, context),
  };
  return functions;
}

export const THREAD = "killed";

/** A time after all due times of the run. */
const LATER = 8.64e15;

/** Starts or continues the run, answers its pauses, migrates it at its gate, sends its signal, and wakes it when it is due. */
export async function driveToEnd({ engine: first, edited }: KillEngines): Promise<void> {
  let engine = first;
  for (;;) {
    const state = await engine.state(THREAD);
    if (state?.status === "completed") return;
    if (engine === first && state !== undefined) {
      const [head] = await engine.history(THREAD, { limit: 1 });
      const isAtGate = state.pauses.some(({ kind }) => kind === "before");
      if (isAtGate && head!.digest === first.table.digest) await edited.migrate(THREAD, { rename: RENAMES });
      if (isAtGate || head!.digest === edited.table.digest) {
        engine = edited;
        continue;
      }
    }
    if (state === undefined) await engine.run({ n: 21 }, { thread: THREAD });
    else if (state.pauses.some(({ kind }) => kind === "timer")) await engine.due(LATER);
    else if (state.pauses.some(({ kind }) => kind === "signal")) {
      await engine.signal(THREAD, "parcel", "parcel", { id: "parcel" });
      await engine.due();
    } else if (state.pauses.length > 0) await answer(engine, state.pauses);
    else await engine.resume(THREAD);
  }
}

/** By id. An answer that a killed process has stored already may be given again (6.2). */
async function answer(engine: Engine, pauses: readonly PauseItem[]): Promise<void> {
  await engine.resume(THREAD, {
    answers: Object.fromEntries(pauses.map(({ id, kind }) => [id, kind === "interrupt" ? "yes" : true])),
  });
}
