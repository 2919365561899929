/** Names that are easily confused stay distinct in every store. */
import fc from "fast-check";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { MaybePromise } from "../../runtime/value/json.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { expectCode, expectEqual } from "../../runtime/stores/conformance/expect.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import type { OpenStore } from "./each-store.ts";

const FRAGMENTS = ["\0", "\\", '"', "'", "\ud83d", "\ude00", "\u00e9", "e", "\u0301", "\u212b", "\u00c5", "A", "a"];
const SEPARATORS = ["/", ":", "|", "%", "_", "*", " ", "\n", "\r\n", "\u2028", "\ufeff", "\u200d", "u0000", "ud83d"];
const WHOLE = [
  "",
  "__proto__",
  "constructor",
  "toString",
  "length",
  "0",
  "-0",
  "00",
  "1e3",
  "null",
  "\\N",
  "*",
  "\u{1f600}",
];

const base = fc.oneof(
  fc.string({ unit: fc.constantFrom(...FRAGMENTS, ...SEPARATORS), maxLength: 6, size: "max" }),
  fc.constantFrom(...WHOLE),
  fc.string({ unit: "binary", maxLength: 8 }),
);

/** Names that a careless store confuses with the name. */
const DISGUISES: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.slice(0, -1),
  (name) => name.split("\0")[0]!,
  (name) => `${name}\0`,
  (name) => `${name} `,
  (name) => name.trim(),
  (name) => name.normalize("NFC"),
  (name) => name.normalize("NFD"),
  (name) => name.normalize("NFKC"),
  (name) => name.toUpperCase(),
  (name) => name.toLowerCase(),
  (name) => JSON.stringify(name).slice(1, -1),
  (name) => JSON.stringify(JSON.stringify(name).slice(1, -1)).slice(1, -1),
  (name) => name.replace(/\p{Surrogate}/gu, "\ufffd"),
  (name) => name.replaceAll("'", "''"),
  (name) => name.replaceAll("\\", "/"),
  (name) => name + name,
];

/** Different names of one family: some strings and their disguises. */
const names = fc
  .tuple(
    fc.array(base, { minLength: 1, maxLength: 2 }),
    fc.uniqueArray(fc.constantFrom(...DISGUISES), { minLength: 5, maxLength: 7 }),
  )
  .map(([bases, disguises]) => [...new Set(bases.flatMap((name) => disguises.map((disguise) => disguise(name))))])
  .filter((family) => family.length >= 3)
  .map((family) => family.slice(0, 6));

/** Uses every name of a family as thread, namespace, checkpoint, label, channel, task and key of a header. */
export async function expectNoAliases(makeStore: () => MaybePromise<OpenStore>, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(names, fc.nat({ max: 5 }), async (family, turn) => {
      const named = await makeStore();
      try {
        const threads = family.slice(0, 3);
        // The outermost graph always has a checkpoint: without it no listing shows the thread.
        const spaces = [...new Set(["", ...family.slice(0, 3)])];
        const saved: Checkpoint[] = [];
        for (const thread of threads) saved.push(...(await fillThread(named.store, thread, family, spaces, turn)));
        const absent = DISGUISES.map((disguise) => disguise(family[0]!)).filter((name) => !family.includes(name));
        await expectContent(named.store, saved, absent);
        const again = await named.reopen();
        await expectContent(again, saved, absent);
        await again.deleteThread(threads[0]!);
        const rest = saved.filter(({ threadId }) => threadId !== threads[0]);
        await expectContent(again, rest, [threads[0]!, ...absent]);
        await expectHeld(again, threads);
      } finally {
        await named.dispose();
      }
    }),
    { numRuns: runs, seed: 20_240_701 },
  );
}

async function fillThread(
  store: Store,
  thread: string,
  family: readonly string[],
  spaces: readonly string[],
  turn: number,
): Promise<Checkpoint[]> {
  const run = await SampleRun.start(store, thread);
  const saved: Checkpoint[] = [];
  for (const [index, namespace] of spaces.entries()) {
    // Ids and labels are the same names, rotated: each kind has its own names.
    const [id, label] = [1, 2].map((more) => family[(index * more + turn) % family.length]!) as [string, string];
    if (saved.some((earlier) => earlier.id === id)) continue;
    const mark = [thread, namespace, id];
    const keyed = Object.fromEntries(family.map((name) => [name, [name]]));
    const checkpoint = await run.save(
      family.map((channel) => ({ channel, set: [...mark, channel] })),
      { namespace, id, barrierState: keyed, errors: keyed, nextNodes: family },
    );
    const labelled = !saved.some((earlier) => earlier.label === label);
    if (labelled) await store.label!(thread, id, label);
    await store.putWrites!(run.claim, id, writesOf(checkpoint, family));
    saved.push({ ...checkpoint, label: labelled ? label : null });
  }
  return saved;
}

function writesOf({ threadId, id }: Checkpoint, family: readonly string[]) {
  return family.map((taskId) => ({ taskId, node: taskId, result: [threadId, id, taskId] }));
}

/** Everything that was saved is found under its own names, and not under other names. */
async function expectContent(store: Store, saved: readonly Checkpoint[], absent: readonly string[]): Promise<void> {
  for (const checkpoint of saved) {
    const { threadId, namespace, id, label, nextNodes } = checkpoint;
    const shown = JSON.stringify([threadId, namespace, id, label]);
    expectEqual(await store.loadLatest(threadId, namespace), checkpoint, `head ${shown}`);
    expectEqual(await store.loadById(threadId, id), checkpoint, `checkpoint ${shown}`);
    expectEqual(await store.list(threadId, { namespace }), [checkpoint], `history ${shown}`);
    if (label !== null) expectEqual(await store.loadByLabel!(threadId, label), checkpoint, `label ${shown}`);
    expectEqual(await store.getWrites!(threadId, id), writesOf(checkpoint, nextNodes), `writes ${shown}`);
  }
  const threads = new Set(saved.map(({ threadId }) => threadId));
  const found = (await store.threads!()).map(({ threadId }) => threadId);
  expectEqual(new Set(found).size, found.length, "threads listed twice");
  expectEqual(found.sort(), [...threads].sort(), "threads");
  for (const name of absent) {
    if (!threads.has(name)) expectEqual(await store.loadLatest(name), undefined, `thread ${JSON.stringify(name)}`);
    for (const thread of threads) {
      const shown = JSON.stringify([thread, name]);
      const of = saved.filter(({ threadId }) => threadId === thread);
      if (!of.some(({ id }) => id === name)) {
        expectEqual(await store.loadById(thread, name), undefined, `checkpoint ${shown}`);
        expectEqual(await store.getWrites!(thread, name), [], `writes ${shown}`);
      }
      if (!of.some(({ label }) => label === name)) {
        expectEqual(await store.loadByLabel!(thread, name), undefined, `label ${shown}`);
      }
      if (!of.some(({ namespace }) => namespace === name)) {
        expectEqual(await store.loadLatest(thread, name), undefined, `namespace ${shown}`);
      }
    }
  }
}

/** The claims still exist after reopening, each under its own name; the claim of the deleted thread does not. */
async function expectHeld(store: Store, [deleted, ...held]: readonly string[]): Promise<void> {
  const rival = { owner: "rival", leaseMs: 1000 };
  await store.claim(deleted!, rival);
  for (const thread of held) {
    await expectCode("NG_THREAD_CONFLICT", () => store.claim(thread, rival), `claim ${JSON.stringify(thread)}`);
  }
}
