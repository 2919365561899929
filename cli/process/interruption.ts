/** Ctrl-C and its like. One place answers the signals, so that there is no moment in which nobody does. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type Signal = (typeof SIGNALS)[number];

type Handler = (signal: Signal) => void;

let endAtOnce: Handler = () => {};
let handler: Handler | undefined;

/** From now on signals end the process by way of `end`, where nobody handles them better. */
export function handleSignals(end: Handler): void {
  endAtOnce = end;
  for (const name of SIGNALS) process.on(name, () => (handler ?? endAtOnce)(name));
}

/** Hands the signals over while `work` goes on. `first` is told each; it gives `false` when there is nothing left to wait for. */
export async function withSignals<T>(first: (signal: Signal) => boolean, work: () => Promise<T>): Promise<T> {
  const before = handler;
  handler = (name) => {
    if (!first(name)) endAtOnce(name);
  };
  try {
    return await work();
  } finally {
    handler = before;
  }
}

/**
 * Lets `work` end in order on Ctrl-C: the first signal aborts it, a second one ends the process at once (what is stored stays,
 * and the thread can be resumed).
 */
export async function withInterruption<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const abort = (): boolean => {
    if (controller.signal.aborted) return false;
    controller.abort();
    return true;
  };
  return withSignals(abort, () => work(controller.signal));
}
