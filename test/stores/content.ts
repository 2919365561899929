import type { NgraphError } from "../../runtime/interface/errors.ts";
import type { Store, ThreadsOptions } from "../../runtime/interface/store.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";

/** Names of everything that `fillStore` leaves behind, and of some things that it does not. */
const THREADS = ["first", "second", "only claimed", "never there"];
const NAMESPACES = ["", "sub/each[0]", "nowhere"];
const LABELS = ["good", "bad"];

/** An item of the long-term memory. */
export const ITEM = {
  namespace: ["users", "1"],
  key: "name",
  value: "Ada",
  created: 1,
  updated: 1,
  expires: null,
  vector: null,
};

/** Writes a little of everything. Calls `done` after each operation that the store has completed, counting from 1. */
export async function fillStore(store: Store, done: (operation: number) => unknown = () => {}): Promise<void> {
  let operation = 0;
  const step = async <T>(result: T | PromiseLike<T>): Promise<T> => {
    const value = await result;
    await done(++operation);
    return value;
  };
  const first = await step(SampleRun.start(store, "first", "a"));
  const start = await step(
    first.save([{ channel: "log", append: ["start"] }], { phase: "input", metadata: { by: "me" } }),
  );
  const write = { taskId: "task", node: "node", result: { text: "result", list: [1, 2, 3] } };
  await step(store.putWrites!(first.claim, start.id, [write, { ...write, taskId: "other" }]));
  const cleared = await step(
    first.save([{ channel: "log", append: [1] }], { label: "good" }, { clearWritesOf: start.id }),
  );
  await step(first.save([{ channel: "inner", set: { deep: [true] } }], { namespace: "sub/each[0]" }));
  const second = await step(SampleRun.start(store, "second", "b"));
  for (let n = 0; n < 3; n++) {
    const changes = [
      { channel: "log", append: [n, "x".repeat(300)] },
      { channel: "score", set: n / 3 },
    ];
    await step(first.save(changes));
    await step(second.save(changes, { nextNodes: ["a", "b"], barrierState: { join: ["a"] } }));
  }
  await step(first.save([{ channel: "score", reset: true }], {}, {}, cleared));
  await step(store.label!("first", cleared.id, "bad"));
  await step(store.putWrites!(second.claim, second.head()!.id, [write]));
  await step(SampleRun.start(store, "only claimed", "c"));
  for (const id of ["early", "late", "last"]) {
    await step(store.putSignal!("second", { id, name: "parcel", value: { weight: [1, 2.5] } }));
  }
  await step(second.save([], { status: "paused", due: 5000 }, { takenSignals: ["early"] }));
  await step(store.prune!("second", { keepLast: 2 }));
  await step(first.save([{ channel: "log", append: ["end"] }], { status: "completed" }, { releaseClaim: true }));
}

/** The result of every read operation of a store, or the code of its error. */
export async function readStore(store: Store): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const ask = async (question: string, call: () => unknown): Promise<void> => {
    try {
      answers.set(question, JSON.stringify(await call()) ?? "nothing");
    } catch (error) {
      answers.set(question, `error ${(error as NgraphError).code ?? String(error)}`);
    }
  };
  // Leases end while the questions are asked.
  const listed = async (options?: ThreadsOptions): Promise<unknown> =>
    (await store.threads!(options)).map((info) => ({ ...info, held: undefined }));
  await ask("threads", () => listed());
  await ask("due threads", () => listed({ due: 6000 }));
  for (const thread of THREADS) {
    for (const namespace of NAMESPACES) {
      await ask(`${thread}: head of "${namespace}"`, () => store.loadLatest(thread, namespace));
      await ask(`${thread}: history of "${namespace}"`, () => store.list(thread, { namespace }));
    }
    await ask(`${thread}: inbox`, () => store.getSignals!(thread));
    for (const label of LABELS) await ask(`${thread}: label ${label}`, () => store.loadByLabel!(thread, label));
    for (let n = 0; n < 10; n++) {
      await ask(`${thread}: checkpoint ${n}`, () => store.loadById(thread, `${thread}/${n}`));
      await ask(`${thread}: writes of ${n}`, () => store.getWrites!(thread, `${thread}/${n}`));
    }
  }
  return answers;
}
