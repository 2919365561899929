import { StoreError } from "../../runtime/interface/errors.ts";

/** Whether an error is about rows of a store that cannot be read: damaged ones, or those of a newer version. */
export function isDamage(error: unknown): error is StoreError {
  return error instanceof StoreError && (error.code === "NG_CORRUPT_RECORD" || error.code === "NG_UNKNOWN_VERSION");
}
