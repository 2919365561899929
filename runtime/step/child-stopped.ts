import type { NgraphError } from "../interface/errors.ts";

/** Thrown by the call of a graph or plan that did not complete: the calling node fails with it. */
export class ChildStopped extends Error {
  /** The error of the called run. */
  readonly error: NgraphError;
  /** `error` as text, with the name of the called graph or plan. */
  readonly reason: string;

  constructor(error: NgraphError, reason: string) {
    super(reason);
    this.error = error;
    this.reason = reason;
  }
}
