import type { Store } from "../../interface/store.ts";

/** A store in memory as runs call it: `save` keeps the parts of a request without copying them. All else is as in the store. */
export function memoryRunView(store: Store, save: Store["save"]): Store {
  const prototype = Object.getPrototypeOf(store) as Store;
  const view: Record<string, unknown> = { acceptsSplices: store.acceptsSplices };
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const method: unknown = store[name as keyof Store];
    if (typeof method === "function" && name !== "constructor") view[name] = method.bind(store) as unknown;
  }
  return { ...(view as unknown as Store), save };
}
