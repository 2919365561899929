/** Calls of a store with invalid arguments and unusual names, and their results. */
import type { Json } from "../../runtime/value/json.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";

const LIMITS = [0, -0, -1, 1, 1.5, 2, 2.999, 0.5, 1e9, 1e300, 2 ** 53, Infinity, -Infinity, NaN, undefined];
const ODD_NAMES = ["", " ", "\0", "a\0b", "\ud800", "__proto__", "c".repeat(2000), "🙂".repeat(1000)];
/** Longer than a durable store keeps; NULs and lone surrogates take six characters each there. */
const LONG_NAMES = ["c".repeat(2001), "\0".repeat(334), "x".repeat(10_000), "\ud800".repeat(10_000)];

/** Each call with its result as JSON, or with the error's code and message. */
export async function askOddly(store: Store): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const ask = async (question: string, call: () => unknown): Promise<void> => {
    answers.set(question, await outcome(call));
  };
  const run = await SampleRun.start(store);
  const ids = [];
  for (let n = 0; n < 3; n++) ids.push((await run.save([{ channel: "log", append: [n] }])).id);
  const head = ids.at(-1)!;
  await run.save([], { namespace: "sub" });
  for (const name of ["b", "c"]) await (await SampleRun.start(store, name)).save();

  for (const limit of LIMITS as (number | undefined)[]) {
    const options = limit === undefined ? {} : { limit };
    const idsOf = (found: readonly { id: string }[]) => found.map(({ id }) => id);
    await ask(`list, limit ${limit}`, async () => idsOf(await store.list("thread", options)));
    await ask(`list before the head, limit ${limit}`, async () =>
      idsOf(await store.list("thread", { ...options, before: head })),
    );
    await ask(`threads, limit ${limit}`, async () => (await store.threads!(options)).map(({ threadId }) => threadId));
  }
  for (const keepLast of [0, -1, 1.5, NaN, Infinity, 2 ** 53, "2", undefined] as number[]) {
    await ask(`prune, keepLast ${keepLast}`, () => store.prune!("thread", { keepLast }));
    await ask(`prune nobody, keepLast ${keepLast}`, () => store.prune!("nobody", { keepLast }));
  }
  for (const olderThan of [NaN, Infinity, -Infinity, -1, 1.5, "now"] as number[]) {
    await ask(`prune, olderThan ${olderThan}`, () => store.prune!("thread", { keepLast: 1, olderThan }));
  }
  await askAboutNames(store, run, head, ask);
  await askAboutSaves(run, head, ask);
  await ask("the thread in the end", () => store.list("thread"));
  await ask("the threads in the end", async () =>
    (await store.threads!()).map(({ threadId }) => threadId.slice(0, 50)),
  );
  return answers;
}

async function askAboutNames(
  store: Store,
  run: SampleRun,
  head: string,
  ask: (question: string, call: () => unknown) => Promise<void>,
): Promise<void> {
  for (const name of [...ODD_NAMES, ...LONG_NAMES, "thread/1", "nobody"]) {
    const shown = `${JSON.stringify(name.slice(0, 12))} (${name.length} characters)`;
    await ask(`loadLatest of ${shown}`, () => store.loadLatest(name));
    await ask(`loadLatest of namespace ${shown}`, async () => (await store.loadLatest("thread", name))?.id);
    await ask(`loadById of ${shown}`, () => store.loadById(name, "thread/1"));
    await ask(`loadById of checkpoint ${shown}`, async () => (await store.loadById("thread", name))?.id);
    await ask(`list of ${shown}`, () => store.list(name));
    await ask(`list before ${shown}`, () => store.list("thread", { before: name }));
    await ask(`list before, of nobody, ${shown}`, () => store.list("nobody", { before: name }));
    await ask(`list of namespace ${shown}`, async () => (await store.list("thread", { namespace: name })).length);
    await ask(`loadByLabel of ${shown}`, () => store.loadByLabel!(name, "label"));
    await ask(`loadByLabel ${shown}`, () => store.loadByLabel!("thread", name));
    await ask(`getWrites of ${shown}`, () => store.getWrites!(name, head));
    await ask(`getWrites of checkpoint ${shown}`, () => store.getWrites!("thread", name));
    await ask(`label in ${shown}`, () => store.label!(name, head, "label"));
    await ask(`label checkpoint ${shown}`, async () => store.label!("thread", name, "label"));
    // A label may equal the id of another checkpoint.
    await ask(`label with ${shown}`, () => store.label!("thread", head, name));
    await ask(`what is labelled ${shown}`, async () => (await store.loadByLabel!("thread", name))?.id);
    await ask(`prune ${shown}`, () => store.prune!(name, { keepLast: 1 }));
    await ask(`claim ${shown}`, async () => (await store.claim(name, { owner: "owner", leaseMs: 0 })).owner);
    await ask(`claim as ${shown}`, async () => store.release(await store.claim(shown, { owner: name, leaseMs: 0 })));
    await ask(`putWrites to ${shown}`, () => store.putWrites!(run.claim, name, [write("task")]));
    await ask(`putWrites of task ${shown}`, () => store.putWrites!(run.claim, head, [write("task"), write(name)]));
    await ask(`clearWrites to ${shown}`, () => store.clearWrites!(run.claim, name));
    await ask(`clearWrites of task ${shown}`, () => store.clearWrites!(run.claim, head, ["task", name]));
    await ask(`save namespace ${shown}`, async () => void (await run.save([], { namespace: `${name}x` })));
    await ask(`save checkpoint ${shown}`, async () => void (await run.save([], { namespace: "ids", id: name })));
    await ask(`save label ${shown}`, async () => void (await run.save([], { namespace: "ids", label: name })));
    await ask(`save channel ${shown}`, async () => {
      await run.save([{ channel: name, set: 1 }], { namespace: "channels" });
    });
    await ask(`delete ${shown}`, () => store.deleteThread(name));
    await ask(`thread ${shown}`, async () => {
      const other = await SampleRun.start(store, name);
      await other.save([{ channel: "x", set: 1 }]);
      const found = await store.loadLatest(name);
      await store.deleteThread(name);
      return found?.values;
    });
  }
}

async function askAboutSaves(
  run: SampleRun,
  head: string,
  ask: (question: string, call: () => unknown) => Promise<void>,
): Promise<void> {
  for (const value of [NaN, Infinity, -Infinity, 1n, undefined, () => 1, Symbol("s")] as unknown as Json[]) {
    await ask(`save ${String(value)}`, async () => void (await run.save([{ channel: "x", set: value }])));
    await ask(`save a list of ${String(value)}`, async () => void (await run.save([{ channel: "x", set: [value] }])));
    await ask(`append ${String(value)}`, async () => void (await run.save([{ channel: "log", append: [value] }])));
    await ask(`metadata of ${String(value)}`, async () => void (await run.save([], { metadata: { x: value } })));
    await ask(`put ${String(value)}`, () => run.store.putWrites!(run.claim, head, [write("t", value)]));
  }
  const twice = [1, 2].map((set) => ({ channel: "x", set }));
  await ask("a channel twice", async () => void (await run.save(twice)));
  await ask("an append to no list", async () => {
    await run.save([{ channel: "text", set: "a" }]);
    const { changes, checkpoint } = run.next([{ channel: "list", append: [1] }], {}, run.head());
    const { values, versions, ...header } = checkpoint;
    const onText = changes.map((change) => ({ ...change, channel: "text" }));
    const snapshot = () => ({ values, versions });
    await run.store.save(run.claim, { header, changes: onText, snapshot, expectedHead: run.head()!.id });
  });
  await ask("an id twice", async () => void (await run.save([], { id: head })));
  await ask("another head", async () => void (await run.save([], {}, { expectedHead: "other" })));
  await ask("no head", async () => void (await run.save([], {}, { expectedHead: null })));
  await ask("a claim of an unknown thread", async () => {
    await run.store.renew({ threadId: "nobody", owner: "o", epoch: 1 }, 1);
  });
}

const write = (taskId: string, result: Json = 1) => ({ taskId, node: "n", result });

async function outcome(call: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await call(), inOrder) ?? "nothing";
  } catch (error) {
    const { name, code, message } = error as { name: string; code?: string; message: string };
    return `${name} ${code}: ${message}`;
  }
}

/** Stores may return the fields of a record in any order. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
