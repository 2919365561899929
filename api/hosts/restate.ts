/** `ngraph/hosts/restate`: runs graphs on Restate, over any number of workers. Workers need the package `@restatedev/restate-sdk`. */
import {
  serveRestate as serveWithoutBuiltins,
  type RestateWorker,
  type ServeRestateOptions,
} from "../../hosts/restate/serve-restate.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";

export { restate, type RestateHost, type RestateOptions, type StreamedEvent } from "../../hosts/restate/restate.ts";
export type { IngressOptions } from "../../hosts/restate/ingress.ts";
export type { RestateStore } from "../../hosts/restate/store/restate-store.ts";
export type { RestateWorker, ServeRestateOptions };

/**
 * A worker that runs graphs on Restate, with the built-in nodes. Any number of workers with the same graphs may serve at once, behind
 * one address that is registered with Restate (`ngc deploy`).
 *
 * @throws RunError NG_MISSING_FUNCTION, NG_EFFECT_DENIED, NG_BAD_INPUT for two graphs with one name; TableError
 * @example
 * const worker = await serveRestate({ tables: [table], functions: { search }, restate: "http://localhost:8080" });
 * await worker.listen(9080);
 */
export async function serveRestate(options: ServeRestateOptions): Promise<RestateWorker> {
  return serveWithoutBuiltins({ ...options, builtins: { ...builtinNodes, ...options.builtins } });
}
