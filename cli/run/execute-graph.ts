import type { Engine, ExecuteOptions, RunResult } from "../../runtime/interface/engine-options.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Output } from "../output/output.ts";
import type { GraphClaim } from "../plan/graph-claim.ts";
import type { PlanFlags } from "../plan/plan-flags.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import { withInterruption } from "../process/interruption.ts";
import type { ExecutionOptions } from "./execution-options.ts";
import { createProgress, eventLines } from "./progress.ts";
import { reportResult } from "./report-result.ts";
import { callsPlans } from "../sources/called-tables.ts";
import { openRunSession, type RunTarget } from "./run-session.ts";

export interface GraphExecution extends RunTarget<Table> {
  readonly options: ExecutionOptions & Pick<PlanFlags, "hostGone">;
  readonly start: (engine: Engine, options: ExecuteOptions) => Promise<RunResult>;
}

/** Kubernetes ends a process 30 s after SIGTERM. */
export const DRAIN_SECONDS = 25;

/** Loads the user's code, runs the graph, closes the store, and prints progress and result. */
export async function executeGraph(execution: GraphExecution, output: Output): Promise<ExitCode> {
  const [{ createEngine }, { CancelWatch }] = await Promise.all([
    import("../../runtime/index.ts"),
    import("../../runtime/thread/cancel-requests.ts"),
  ]);
  const progress = execution.options.events === true ? eventLines() : createProgress(output);
  let claim: GraphClaim | undefined;
  const claimed = callsPlans(execution.table)
    ? await Promise.all([import("../plan/graph-claim.ts"), import("../../stdlib/nodes/shell.ts")])
    : undefined;
  const session = await openRunSession(execution, progress, output, (redact) => {
    if (claimed === undefined) return {};
    const [{ GraphClaim }, { createShell }] = claimed;
    const onNote = (text: string): void => progress.above(() => output.note(text));
    const gone = execution.options.hostGone ?? [];
    const own = new GraphClaim(execution.table, execution.store, { gone, redact, onNote });
    claim = own;
    return {
      shell: createShell({ onStart: (command) => own.onStart(command), onEnd: (command) => own.onEnd(command) }),
    };
  });
  const engine = createEngine(execution.table, {
    ...session.engineOptions,
    onEvent(event) {
      progress.onEvent(event);
      if (event.type === "run" && event.phase === "start" && event.namespace.length === 0)
        session.announce(event.thread, event.resumed);
    },
  });
  // What `ngc serve` and the studio ask for while this process has the thread.
  const cancellations = new CancelWatch({
    store: execution.store.store,
    cancel: (thread) => engine.cancel(thread),
    // The run itself reports a store that fails.
    onFailure: () => undefined,
  });
  if (!execution.store.isMemory) cancellations.start();
  const { pauseBefore, pauseAfter } = execution.options;
  const breakpoints = {
    ...(pauseBefore === undefined ? {} : { pauseBefore }),
    ...(pauseAfter === undefined ? {} : { pauseAfter }),
  };
  await claim?.begin();
  const result = await session
    .run(() =>
      withInterruption(
        (signal) => execution.start(engine, { ...session.runOptions, ...breakpoints, signal }),
        () => {
          const seconds = execution.options.drain ?? DRAIN_SECONDS;
          session.output.note(`ending at the next step, within ${seconds} s; press Ctrl-C to end now`);
          void engine.drain({ deadline: seconds * 1000 });
        },
      ),
    )
    .finally(() => claim?.end());
  cancellations.stop();
  await session.close();
  return reportResult(result, session.place, session.output);
}
