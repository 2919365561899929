import { StoreError } from "../interface/errors.ts";

const abandoned = new WeakSet<object>();

/** Marks the error of a store call that is abandoned because its run was cancelled. */
export function markAbandoned(error: StoreError): void {
  abandoned.add(error);
}

/** Whether the error is that of a store call that was abandoned because its run was cancelled. */
export function isAbandoned(error: unknown): error is StoreError {
  return error instanceof StoreError && abandoned.has(error);
}
