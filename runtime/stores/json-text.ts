import { StoreError } from "../errors.ts";

/**
 * A value as JSON text.
 *
 * @param what names the value, for the error
 * @throws StoreError NG_STORE_FAILED for what JSON cannot hold: cycles, functions, endless nesting
 */
export function jsonText(value: unknown, what: () => string): string {
  let text: string | undefined;
  let cause: unknown;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return text;
  const reason =
    cause instanceof RangeError
      ? "it is nested too deeply, or too large"
      : "it is not plain JSON (a function, a cycle or a bigint, say)";
  throw new StoreError("NG_STORE_FAILED", `${what()} cannot be stored: ${reason}`, { cause });
}
