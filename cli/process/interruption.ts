// The global variable may be replaced by user code.
import process from "node:process";
import { activeRun } from "./stage.ts";

/**
 * The signals that interrupt a command. Before `withSignals` no handler is installed: the system ends the process at once, even
 * during synchronous work, which would block a handler. Handlers are installed only once a run has something to put in order.
 */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type Signal = (typeof SIGNALS)[number];

let endAtOnce: () => void = () => process.exit(130);
let hasBeenInterrupted = false;

/** Whether a signal has ended the work of this command: it does not wait for a reader of its output. */
export function wasInterrupted(): boolean {
  return hasBeenInterrupted;
}

let isServer = false;

/** Marks the command as a server: what a signal cuts from its output is no result, and an orderly end stays one. */
export function markServer(): void {
  isServer = true;
}

/** Whether output that a signal has cut is a result. */
export function hasResult(): boolean {
  return !isServer;
}

/** Sets how the process ends on a signal that the current work no longer waits for. */
export function onImpatientSignal(end: () => void): void {
  endAtOnce = end;
}

/** Removes the handlers of work that has ended. */
let removeFormer: () => void = () => undefined;

/** Passes signals to `onSignal` while `work` runs. If `onSignal` returns `false` the process ends at once. */
export async function withSignals<T>(onSignal: (signal: Signal) => boolean, work: () => Promise<T>): Promise<T> {
  let isOver = false;
  const handler = (name: NodeJS.Signals): void => {
    if (isOver) endAtOnce();
    // The run has not started, so it has nothing to store. Waiting for the store could take long.
    hasBeenInterrupted = true;
    const isWaiting = activeRun() !== undefined && activeRun()?.isStarted === undefined;
    if (isWaiting || !onSignal(name as Signal)) endAtOnce();
  };
  for (const name of SIGNALS) process.on(name, handler);
  // Only now: a signal that arrives while no handler is installed for a moment would be lost.
  removeFormer();
  removeFormer = () => {
    for (const name of SIGNALS) process.off(name, handler);
  };
  try {
    return await work();
  } finally {
    // The handlers stay, and end the process: a signal that has arrived, and is not delivered yet, would be lost without them.
    isOver = true;
  }
}

/**
 * Lets `work` end in order on Ctrl-C. The first signal aborts it; the second one ends the process at once. Stored checkpoints
 * stay, and the thread can be resumed.
 *
 * @param drain called by the first SIGTERM, which then does not abort: the work ends at its next step boundary
 */
export async function withInterruption<T>(work: (signal: AbortSignal) => Promise<T>, drain?: () => void): Promise<T> {
  const controller = new AbortController();
  let isDraining = false;
  const onSignal = (name: Signal): boolean => {
    if (controller.signal.aborted) return false;
    if (name === "SIGTERM" && drain !== undefined && !isDraining) {
      isDraining = true;
      drain();
      return true;
    }
    controller.abort();
    return true;
  };
  return withSignals(onSignal, () => work(controller.signal));
}
