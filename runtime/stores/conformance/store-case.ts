import type { MaybePromise } from "../../value/json.ts";
import type { Store } from "../../interface/store.ts";
import { ConformanceError } from "./expect.ts";

/** A fresh, empty store, and functions that enable further cases. */
export interface StoreUnderTest {
  readonly store: Store;
  /** For a store that outlives its process: closes the store and opens its content again. */
  reopen?(): MaybePromise<Store>;
  /**
   * For a durable store: what a process leaves behind that dies within a write. Runs `write`, then opens a copy of the
   * content in which only a part of the written bytes has arrived. The store under test itself is not affected.
   * `cutLastWrite` makes one for a store that appends to files.
   *
   * @param fraction the part that has arrived: from 0 to below 1
   * @throws StoreError when the store refuses to open the copy
   */
  crash?(write: () => Promise<unknown>, fraction: number): MaybePromise<CrashedStore>;
  /** For a store that several processes may use: opens the same content as another process would, while `store` is open. */
  secondProcess?(): MaybePromise<Store>;
  /** Size of the store's content in bytes, for 5.12. */
  size?(): MaybePromise<number>;
  /** Called at the end of the case, after `close`, whether it passed or failed. */
  dispose?(): MaybePromise<void>;
}

/** A copy of a store after a crash. */
export type CrashedStore = Pick<StoreUnderTest, "store" | "reopen" | "dispose">;

export type MakeStore = () => MaybePromise<Store | StoreUnderTest>;

/** Methods that a store may leave out. */
export type OptionalMethod =
  | "putWrites"
  | "getWrites"
  | "clearWrites"
  | "putSignal"
  | "getSignals"
  | "label"
  | "loadByLabel"
  | "threads"
  | "prune"
  | "close"
  | "putItem"
  | "getItem"
  | "deleteItem"
  | "listItems"
  | "pruneItems";

/** Functions of `StoreUnderTest` that enable cases. */
export type TestFunction = "reopen" | "crash" | "secondProcess";

/** What a case may need besides the methods that every store has. */
export type Need = OptionalMethod | TestFunction;

const TEST_FUNCTIONS: ReadonlySet<Need> = new Set<TestFunction>(["reopen", "crash", "secondProcess"]);

/** One required behaviour of a store. */
export interface StoreCase {
  /** Starts with the number of the promise about execution, if there is one. */
  readonly name: string;
  /** The optional parts that the case tests. Empty: every store must pass it. */
  readonly needs: readonly Need[];
  /**
   * Runs the case. Returns the `needs` that the store lacks; an empty list means that the case ran and passed. A case also
   * leaves out checks of other optional methods that the store lacks.
   *
   * @throws ConformanceError with the name of the case, what was expected, and what the store did
   */
  run(makeStore: MakeStore): Promise<readonly Need[]>;
}

/** A case that every store must pass. The store is closed and disposed of after the body. */
export function storeCase(name: string, body: (store: Store, under: StoreUnderTest) => Promise<void>): StoreCase {
  return { name, needs: [], run: (makeStore) => tryCase(name, [], body, makeStore) };
}

/** A case for stores that have these optional parts. */
export function optionalCase<N extends Need>(
  name: string,
  needs: readonly N[],
  body: (
    store: Store & Required<Pick<Store, Extract<N, OptionalMethod>>>,
    under: StoreUnderTest & Required<Pick<StoreUnderTest, Extract<N, TestFunction>>>,
  ) => Promise<void>,
): StoreCase {
  // `tryCase` checks that they exist before it calls the body.
  const checked = body as (store: Store, under: StoreUnderTest) => Promise<void>;
  return { name, needs, run: (makeStore) => tryCase(name, needs, checked, makeStore) };
}

/** The store, typed with the given optional methods; undefined when it lacks one of them. */
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
  const lacks = needs.filter((need) => {
    const found = TEST_FUNCTIONS.has(need) ? under[need as TestFunction] : store[need as OptionalMethod];
    return typeof found !== "function";
  });
  try {
    if (lacks.length === 0) await body(store, under);
  } catch (error) {
    await end(under).catch(() => {});
    throw inCase(name, error);
  }
  await end(under).catch((error: unknown) => {
    throw inCase(name, error, "`close` or `dispose` failed: ");
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

/** Adds the name of the case to the message, for use without a test runner. */
function inCase(name: string, error: unknown, what = ""): ConformanceError {
  if (error instanceof ConformanceError) {
    const { message, cause, expected, actual, stack = "" } = error;
    const named = new ConformanceError(`${name}: ${message}`, { cause, expected, actual });
    // Runners show the first line of the stack: it must be the line in the case.
    const trace = stack.indexOf("\n    at ");
    if (trace !== -1) named.stack = `${named.name}: ${named.message}${stack.slice(trace)}`;
    return named;
  }
  // The store threw where it must not fail. `cause` has the stack of that place.
  return new ConformanceError(`${name}: ${what}it threw ${String(error)}`, { cause: error });
}
