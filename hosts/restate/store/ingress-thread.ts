import type { Ingress } from "../ingress.ts";
import type { ServiceNames } from "../service-names.ts";
import type { CallThread } from "./restate-store.ts";

const REPEATABLE: ReadonlySet<string> = new Set([
  ...["loadLatest", "loadById", "loadByLabel", "list", "writes", "signals", "fence", "renew", "release"],
]);

/** Calls the object of a thread over the ingress. A write is sent once: after an error it may have happened. */
export function callThroughIngress(ingress: Ingress, names: ServiceNames): CallThread {
  return (async (thread: string, method: string, input: object) => {
    const value = await ingress.call<unknown>([names.store, thread, method], input, { repeat: REPEATABLE.has(method) });
    return value ?? undefined;
  }) as CallThread;
}
