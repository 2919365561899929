import { endProcess } from "./end-process.ts";
import { EXIT } from "./exit-codes.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Lets `work` end in order on Ctrl-C: the first signal aborts it, a second one ends the process at once (what is stored stays,
 * and the thread can be resumed).
 */
export async function withInterruption<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) endProcess(EXIT.interrupted);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
}
