import type { MaybePromise } from "../../json.ts";
import type { Store } from "../../store.ts";

/** A fresh, empty store, and what else the suite may ask of it. */
export interface StoreUnderTest {
  readonly store: Store;
  /** Stores that outlive their process: closes the store and opens again what it kept. */
  reopen?(): MaybePromise<Store>;
  /** Bytes that the store takes up, for 5.12. */
  size?(): MaybePromise<number>;
  /** Called when the case is over, whether it passed or not. */
  dispose?(): MaybePromise<void>;
}

export type MakeStore = () => MaybePromise<Store | StoreUnderTest>;

/** One thing that a store has to do. */
export interface StoreCase {
  readonly name: string;
  /** Rejects with an error that says what the store did instead. What a store lacks (optional methods) is not asked of it. */
  run(makeStore: MakeStore): Promise<void>;
}

/** A case whose body gets the store, which is closed and disposed of afterwards. */
export function storeCase(name: string, body: (store: Store, under: StoreUnderTest) => Promise<void>): StoreCase {
  return {
    name,
    async run(makeStore) {
      const made = await makeStore();
      const under: StoreUnderTest = "store" in made ? made : { store: made };
      try {
        await body(under.store, under);
      } finally {
        await under.store.close?.();
        await under.dispose?.();
      }
    },
  };
}

/** The optional methods that a case needs, or nothing when the store lacks one of them. */
export function withMethods<K extends keyof Store>(
  store: Store,
  ...methods: readonly K[]
): (Store & Required<Pick<Store, K>>) | undefined {
  return methods.every((method) => typeof store[method] === "function")
    ? (store as Store & Required<Pick<Store, K>>)
    : undefined;
}
