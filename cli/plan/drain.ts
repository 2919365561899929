import { withSignals } from "../process/interruption.ts";

/**
 * Handles Ctrl-C for a plan. After the first SIGINT no task and no further attempt starts, and running attempts end. The second
 * ends them, the third ends this process. SIGTERM and SIGHUP end running tasks at once.
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
