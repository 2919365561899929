import type { Store } from "../../interface/store.ts";

type Method = (...args: unknown[]) => unknown;

/**
 * A store in memory as runs call it: `save` keeps the parts of a request without copying them. All other calls go to the
 * store. Methods that the caller replaces or removes on the store are replaced or removed here, `save` included.
 */
export function memoryRunView(store: Store, save: Store["save"]): Store {
  const methods = store as unknown as Readonly<Record<string, Method | undefined>>;
  const original = store.save;
  const view = { acceptsSplices: store.acceptsSplices };
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(store))) {
    if (name === "constructor" || typeof methods[name] !== "function") continue;
    const call: Method =
      name === "save"
        ? (((claim, request) =>
            store.save === original
              ? save(claim, request)
              : store.save(claim, request)) satisfies Store["save"] as Method)
        : (...args) => methods[name]?.apply(store, args);
    Object.defineProperty(view, name, {
      enumerable: true,
      get: () => (methods[name] === undefined ? undefined : call),
    });
  }
  return view as unknown as Store;
}
