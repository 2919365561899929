import type { Store } from "../../interface/store.ts";

type Method = (...args: never[]) => unknown;

/** The methods that keep what a run gives them without copying it. */
export type KeepingMethods = Required<Pick<Store, "save" | "putWrites">>;

/**
 * A store in memory as runs call it. All calls but those of `keeping` go to the store. Methods that the caller replaces or removes on
 * the store are replaced or removed here, those of `keeping` included.
 */
export function memoryRunView(store: Store, keeping: KeepingMethods): Store {
  const methods = store as unknown as Readonly<Record<string, Method | undefined>>;
  const view = { acceptsSplices: store.acceptsSplices };
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(store))) {
    if (name === "constructor" || typeof methods[name] !== "function") continue;
    const original = methods[name];
    const kept: Method | undefined = keeping[name as keyof KeepingMethods];
    const call: Method = (...args) =>
      kept !== undefined && methods[name] === original ? kept(...args) : methods[name]?.apply(store, args);
    Object.defineProperty(view, name, {
      enumerable: true,
      get: () => (methods[name] === undefined ? undefined : call),
    });
  }
  return view as unknown as Store;
}
