import type { Ingress } from "../ingress.ts";
import type { ServiceNames } from "../service-names.ts";
import type { CallItems, CallThread } from "./restate-store.ts";

const REPEATABLE: ReadonlySet<string> = new Set([
  ...["loadLatest", "loadById", "loadByLabel", "list", "writes", "signals", "begin", "renew", "release"],
  // Of a prune, and of a copy. A checkpoint that is gone is not removed again.
  ...["points", "copies", "drop"],
]);

/** Calls the object of a thread over the ingress. A write is sent once: after an error it may have happened. */
export function callThroughIngress(ingress: Ingress, names: ServiceNames): CallThread {
  return (async (thread: string, method: string, input: object) => {
    const value = await ingress.call<unknown>([names.store, thread, method], input, { repeat: REPEATABLE.has(method) });
    return value ?? undefined;
  }) as CallThread;
}

/** Calls a part of the long-term memory over the ingress. Writes of an item may happen twice: the second one changes nothing. */
export function callItemsThroughIngress(ingress: Ingress, names: ServiceNames): CallItems {
  return (async (part: string, method: string, input: object) => {
    const value = await ingress.call<unknown>([names.memory, part, method], input, { repeat: method !== "delete" });
    return value ?? undefined;
  }) as CallItems;
}
