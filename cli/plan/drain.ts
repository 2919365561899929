import { withSignals } from "../process/interruption.ts";

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
  const onSignal = (name: string): boolean => {
    if (kill.signal.aborted) return false;
    if (drain.signal.aborted || name !== "SIGINT") {
      drain.abort();
      kill.abort();
      return true;
    }
    onDrain();
    drain.abort();
    return true;
  };
  return withSignals(onSignal, () => work({ drain: drain.signal, signal: kill.signal }));
}
