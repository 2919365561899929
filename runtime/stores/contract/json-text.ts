import { StoreError } from "../../interface/errors.ts";
import { checkJson } from "./frozen-json.ts";

/**
 * A value as JSON text.
 *
 * @param what names the value, for the error
 * @throws StoreError NG_STORE_FAILED for a value that JSON cannot hold: cycles, functions, dates, NaN, too deep nesting
 */
export function jsonText(value: unknown, what: () => string): string {
  checkJson(value, what);
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new StoreError("NG_STORE_FAILED", `${what()} cannot be stored: it is nested too deeply, or too large`, {
      cause,
    });
  }
}

/** The texts of frozen lists that will be saved next. */
const TEXTS = new WeakMap<object, string>();

/** Keeps the text of a frozen value until `takeText` asks for it. */
export function keepText(value: object, text: string): void {
  TEXTS.set(value, text);
}

/** The text that was kept for a value. It is given out once: the value may live longer than its text is needed. */
export function takeText(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const text = TEXTS.get(value);
  if (text !== undefined) TEXTS.delete(value);
  return text;
}
