import { describeError } from "../event/run-events.ts";

/**
 * The messages of the chain of causes of an error, as far as its own message does not have them: `node failed: no route` has that of
 * its first cause.
 */
export function causesOf(error: Error, redact: (text: string) => string): readonly string[] {
  const found: string[] = [];
  let known = describeError(error, redact);
  const seen = new Set<unknown>([error]);
  try {
    for (let at: unknown = error.cause; at !== undefined && at !== null && found.length < MOST_CAUSES;) {
      if (seen.has(at)) break;
      seen.add(at);
      const text = describeError(at, redact);
      if (!known.includes(text)) found.push(text.slice(0, MAX_CAUSE));
      known = text;
      at = typeof at === "object" ? (at as { readonly cause?: unknown }).cause : undefined;
    }
  } catch {
    // Reading a cause may run user code, which may throw.
  }
  return found;
}

const MOST_CAUSES = 5;
const MAX_CAUSE = 2_000;
