import type { Store } from "../../runtime/interface/store.ts";

/** The store with one operation replaced; the replacement receives the original operation. */
export function withOperation<Name extends keyof Store>(
  store: Store,
  operation: Name,
  replace: (real: NonNullable<Store[Name]>) => NonNullable<Store[Name]>,
): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== "function") return value;
      const bound = value.bind(target) as NonNullable<Store[Name]>;
      return name === operation ? replace(bound) : bound;
    },
  });
}

/** A store with one operation that never returns from its `nth` call on (from 0); it has its effect or not. */
export class HangingStore {
  readonly store: Store;
  /** How often the operation was called. */
  calls = 0;

  constructor(store: Store, operation: keyof Store, nth: number, effect: "done" | "lost" = "lost") {
    this.store = withOperation(store, operation, (real) => {
      const call = real as (...args: unknown[]) => unknown;
      return ((...args: unknown[]): unknown => {
        if (this.calls++ < nth) return call(...args);
        if (effect === "done") call(...args);
        return new Promise(() => undefined);
      }) as typeof real;
    });
  }
}
