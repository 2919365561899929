import type { MaybePromise } from "../../value/json.ts";
import type { Store } from "../../interface/store.ts";
import { ConformanceError } from "./expect.ts";

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

/** What a store may leave out. */
export type OptionalMethod =
  "putWrites" | "getWrites" | "clearWrites" | "label" | "loadByLabel" | "threads" | "prune" | "close";

/** What a case may need beside the methods that every store has. */
export type Need = OptionalMethod | "reopen";

/** One thing that a store has to do. */
export interface StoreCase {
  /** Begins with the number of the promise in the specification of execution, where there is one. */
  readonly name: string;
  /** What the case is about, where stores may leave it out. Empty: every store has to pass it. */
  readonly needs: readonly Need[];
  /**
   * Gives what the store lacks of `needs`: nothing when the case was tried. What other cases would ask of methods that are not there is
   * left out.
   *
   * @throws ConformanceError that names the case, and says what was expected and what the store did instead
   */
  run(makeStore: MakeStore): Promise<readonly Need[]>;
}

/** A case that every store has to pass. Its body gets the store, which is closed and disposed of afterwards. */
export function storeCase(name: string, body: (store: Store, under: StoreUnderTest) => Promise<void>): StoreCase {
  return { name, needs: [], run: (makeStore) => tryCase(name, [], body, makeStore) };
}

/** A case of stores that have these methods. */
export function optionalCase<N extends Need>(
  name: string,
  needs: readonly N[],
  body: (
    store: Store & Required<Pick<Store, Extract<N, OptionalMethod>>>,
    under: StoreUnderTest & Required<Pick<StoreUnderTest, Extract<N, "reopen">>>,
  ) => Promise<void>,
): StoreCase {
  // `tryCase` has looked for them.
  const checked = body as (store: Store, under: StoreUnderTest) => Promise<void>;
  return { name, needs, run: (makeStore) => tryCase(name, needs, checked, makeStore) };
}

/** The optional methods that a part of a case needs, or nothing when the store lacks one of them. */
export function withMethods<K extends OptionalMethod>(
  store: Store,
  ...methods: readonly K[]
): (Store & Required<Pick<Store, K>>) | undefined {
  return methods.every((method) => typeof store[method] === "function")
    ? (store as Store & Required<Pick<Store, K>>)
    : undefined;
}

async function tryCase(
  name: string,
  needs: readonly Need[],
  body: (store: Store, under: StoreUnderTest) => Promise<void>,
  makeStore: MakeStore,
): Promise<readonly Need[]> {
  const made = await makeStore();
  const under: StoreUnderTest = "store" in made ? made : { store: made };
  const { store } = under;
  const lacks = needs.filter((need) => typeof (need === "reopen" ? under.reopen : store[need]) !== "function");
  try {
    if (lacks.length === 0) await body(store, under);
  } catch (error) {
    await end(under).catch(() => {});
    throw inCase(name, error);
  }
  await end(under).catch((error: unknown) => {
    throw inCase(name, error, "closing it, or clearing up, failed: ");
  });
  return lacks;
}

async function end(under: StoreUnderTest): Promise<void> {
  try {
    await under.store.close?.();
  } finally {
    await under.dispose?.();
  }
}

/** The same with the name of the case, for who runs the suite without a runner that would show it. */
function inCase(name: string, error: unknown, what = ""): ConformanceError {
  if (error instanceof ConformanceError) {
    const { message, cause, expected, actual, stack = "" } = error;
    const named = new ConformanceError(`${name}: ${message}`, { cause, expected, actual });
    // Runners show the line that the trace begins with: it is the line of the case.
    const trace = stack.indexOf("\n    at ");
    if (trace !== -1) named.stack = `${named.name}: ${named.message}${stack.slice(trace)}`;
    return named;
  }
  // What the store threw where it should not have failed: its own stack leads to the place.
  return new ConformanceError(`${name}: ${what}it threw ${String(error)}`, { cause: error });
}
