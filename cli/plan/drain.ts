import { endProcess } from "../end-process.ts";
import { EXIT } from "../exit-codes.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Ctrl-C on a plan: the first lets the tasks that run end and starts nothing more, the second ends them, a third ends this process.
 * SIGTERM and SIGHUP do not wait for a second.
 */
export async function withDrain<T>(
  onDrain: () => void,
  work: (signals: { readonly drain: AbortSignal; readonly signal: AbortSignal }) => Promise<T>,
): Promise<T> {
  const drain = new AbortController();
  const kill = new AbortController();
  const onSignal = (name: string): void => {
    if (kill.signal.aborted) endProcess(EXIT.interrupted);
    if (drain.signal.aborted || name !== "SIGINT") {
      drain.abort();
      kill.abort();
      return;
    }
    onDrain();
    drain.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  try {
    return await work({ drain: drain.signal, signal: kill.signal });
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
  }
}
