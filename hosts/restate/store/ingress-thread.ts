import type { CallOptions, Ingress } from "../ingress.ts";
import type { ServiceNames } from "../service-names.ts";
import type { CallItems, CallThread } from "./restate-store.ts";

type CallLimits = Pick<CallOptions, "within">;

const REPEATABLE: ReadonlySet<string> = new Set([
  ...["loadLatest", "loadById", "loadByLabel", "list", "writes", "signals", "begin", "renew", "release"],
  // Of a prune, and of a copy. A checkpoint that is gone is not removed again.
  ...["points", "copies", "drop"],
]);

/**
 * Calls the object of a thread over the ingress. A write is sent once: after an error it may have happened.
 *
 * @param limits of clients, which do not wait for a host without workers
 */
export function callThroughIngress(ingress: Ingress, names: ServiceNames, limits: CallLimits = {}): CallThread {
  return (async (thread: string, method: string, input: object) => {
    const options = { ...limits, repeat: REPEATABLE.has(method) };
    const value = await ingress.call<unknown>([names.store, thread, method], input, options);
    return value ?? undefined;
  }) as CallThread;
}

/** Calls a part of the long-term memory over the ingress. Writes of an item may happen twice: the second one changes nothing. */
export function callItemsThroughIngress(ingress: Ingress, names: ServiceNames, limits: CallLimits = {}): CallItems {
  return (async (part: string, method: string, input: object) => {
    const options = { ...limits, repeat: method !== "delete" };
    const value = await ingress.call<unknown>([names.memory, part, method], input, options);
    return value ?? undefined;
  }) as CallItems;
}
