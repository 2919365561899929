/** The signals that interrupt a command. They are handled in this file only, so that a handler is installed at any time. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type Signal = (typeof SIGNALS)[number];

type Handler = (signal: Signal) => void;

let endAtOnce: Handler = () => {};
let handler: Handler | undefined;

/** Installs the signal handlers. A signal that no `withSignals` handles ends the process by calling `end`. */
export function handleSignals(end: Handler): void {
  endAtOnce = end;
  for (const name of SIGNALS) process.on(name, () => (handler ?? endAtOnce)(name));
}

/**
 * Passes signals to `onSignal` while `work` runs. Where `onSignal` returns `false` the process ends at once.
 */
export async function withSignals<T>(onSignal: (signal: Signal) => boolean, work: () => Promise<T>): Promise<T> {
  const before = handler;
  handler = (name) => {
    if (!onSignal(name)) endAtOnce(name);
  };
  try {
    return await work();
  } finally {
    handler = before;
  }
}

/**
 * Lets `work` end in order on Ctrl-C. The first signal aborts it; the second one ends the process at once. Stored checkpoints
 * stay, and the thread can be resumed.
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
