import type { ThreadId } from "../interface/checkpoint.ts";
import { RunError } from "../interface/errors.ts";
import { ThreadError } from "../interface/thread-error.ts";
import { wrongKind } from "./option-kinds.ts";

/** The beginning of names that the project claims for itself, such as the one of the process that sends webhooks. */
export const RESERVED_THREADS = "ngraph.";

/** Longer names fit no index of a database. */
const MAX_THREAD_ID = 2000;

/**
 * Refuses a thread id that is no string, is empty or too long, or is reserved.
 *
 * @throws RunError NG_BAD_INPUT; ThreadError NG_UNKNOWN_THREAD for a name that no thread can have
 */
export function checkThreadId(thread: unknown): ThreadId {
  const problem = wrongKind("text", thread ?? null);
  if (problem !== undefined) throw new RunError("NG_BAD_INPUT", `the name of a thread must be ${problem}`);
  const name = thread as string;
  if (name.length > MAX_THREAD_ID) {
    const length = `${name.length} characters, and a name has at most ${MAX_THREAD_ID}`;
    throw new RunError("NG_BAD_INPUT", `the name of thread ${JSON.stringify(name.slice(0, 60))}… has ${length}`);
  }
  if (name.startsWith(RESERVED_THREADS)) {
    throw new ThreadError(
      "NG_UNKNOWN_THREAD",
      name,
      `names of threads that begin with \`${RESERVED_THREADS}\` are reserved: use another name`,
    );
  }
  if (name === "")
    throw new ThreadError("NG_UNKNOWN_THREAD", "", "a thread's name is a string of at least one character");
  return name;
}
