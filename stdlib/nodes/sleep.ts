import type { BuiltinNode } from "../../runtime/interface/context.ts";
import { NodeFailure } from "../node-failure.ts";

/** A due time far beyond it is none that calendars and stores can hold. */
const MAX_SLEEP_MS = 36_500 * 24 * 60 * 60 * 1000;

/**
 * `sleep(30s)`: a durable timer. Its due time is stored when it starts. If more than a minute is left, the run pauses until
 * then.
 */
export const sleep: BuiltinNode = ({ duration }, context) => {
  if (typeof duration !== "number" || !(duration >= 0 && duration <= MAX_SLEEP_MS)) {
    const most = "36500 days at most";
    throw new NodeFailure(`\`sleep\` takes a number of milliseconds from 0, ${most}, not ${JSON.stringify(duration)}`, {
      retryable: false,
    });
  }
  if (context.sleep === undefined) throw new NodeFailure("`sleep` runs in an engine", { retryable: false });
  const slept = context.sleep(duration);
  return slept === undefined ? null : slept.then(() => null);
};
