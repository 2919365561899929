import type { RunOptions } from "../interface/engine-options.ts";

/** Option of a run that is refused if its thread exists, which is checked under the claim: a request that is sent twice runs once. */
export const NEW_THREAD: unique symbol = Symbol("ngraph.newThread");

export interface NewThreadOptions extends RunOptions {
  readonly [NEW_THREAD]?: boolean;
}
