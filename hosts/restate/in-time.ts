import { eitherSignal } from "../../runtime/run/either-signal.ts";

/** The work was aborted because it took too long. */
export class TooLate extends Error {}

/**
 * Calls `work` with a signal that aborts after `ms` milliseconds, or with `given`. The timer also keeps the process alive: a connection
 * that the server has closed at once does not.
 *
 * @throws TooLate
 */
export async function inTime<T>(
  ms: number,
  given: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new TooLate(`there is no answer after ${ms / 1000} seconds`)), ms);
  try {
    return await work(given === undefined ? late.signal : eitherSignal(given, late.signal));
  } catch (error) {
    throw late.signal.aborted && given?.aborted !== true ? late.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}
