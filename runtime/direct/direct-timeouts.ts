import { NodeError } from "../interface/errors.ts";
import { DirectContext } from "./direct-context.ts";
import type { DirectRun, DirectTask } from "./direct-run.ts";

/** The timeout of a body that has returned a promise. It goes on when the engine takes the run over. */
export interface DirectTimer {
  /** Set when the time is over. */
  error: NodeError | undefined;
  /** The body has ended, or is not awaited. */
  readonly stop: () => void;
  /** Called when the time is over. The code that runs the task sets it. */
  onLate: ((error: NodeError) => void) | undefined;
}

/** The code of timeouts, which the module of a graph without them leaves out. */
export interface TimeoutParts {
  /** The value of the task is a promise. */
  start(run: DirectRun, node: number, task: DirectTask): void;
}

export const timeouts: TimeoutParts = {
  start({ code: { table, clock } }, node, task) {
    const { name, timeout } = table.nodes[node]!;
    if (timeout === undefined) return;
    const timer: DirectTimer = (task.timer = {
      error: undefined,
      stop: () => clock.clearTimeout(handle),
      onLate: undefined,
    });
    const handle = clock.setTimeout(() => {
      const error = new NodeError("NG_NODE_TIMEOUT", name, `node \`${name}\` did not finish within ${timeout} ms`);
      timer.error = error;
      DirectContext.abort(task.context, error);
      timer.onLate?.(error);
    }, timeout);
    (task.value as Promise<unknown>).then(timer.stop, timer.stop);
  },
};
