import type { ExecuteOptions } from "../interface/engine-options.ts";
import type { Shared } from "./shared.ts";

/** Option that streams of values set, to receive the state after each step. */
export const ON_STATE: unique symbol = Symbol("ngraph.onState");
/** Option that streams of results set, to receive what each node writes when it ends. */
export const ON_RESULT: unique symbol = Symbol("ngraph.onResult");
export interface WatchedOptions extends ExecuteOptions {
  readonly [ON_STATE]?: Shared["onState"];
  readonly [ON_RESULT]?: Shared["onResult"];
}
