/** 8.1: each call that a store makes impossible rejects with NG_STORE_FAILED, whatever the store returns, and if it never answers. */
import { expect, test } from "vitest";
import type { Engine, Store } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";

const GRAPH = `graph g { output log: string[] = [] reduce append  output answer: string | null
  node a = "a" into log  node q = ask("?") into answer  start -> a -> q }`;

type Call = readonly [name: string, call: (engine: Engine) => unknown];

const CALLS: Readonly<Record<string, Call>> = {
  run: ["a run", (engine) => engine.run({}, { thread: "new" })],
  resume: ["a resume", (engine) => engine.resume("t", "yes")],
  state: ["a state", (engine) => engine.state("t")],
  history: ["a history", (engine) => engine.history("t")],
  fork: ["a fork", (engine) => engine.fork("t", { as: "copy" })],
  label: ["a fork of a label", (engine) => engine.fork("t", { from: "mark", as: "copy" })],
  threads: ["a listing", (engine) => engine.threads()],
  recover: ["a recovery", (engine) => engine.recover()],
  prune: ["a prune", (engine) => engine.prune({ keepLast: 1 })],
};

/** The calls that need an answer of a method of the store. */
const NEEDED: readonly (readonly [method: keyof Store, calls: readonly (keyof typeof CALLS)[]])[] = [
  ["claim", ["run", "resume", "fork"]],
  ["loadLatest", ["resume", "state", "fork"]],
  ["loadById", ["fork"]],
  ["loadByLabel", ["label"]],
  ["list", ["history"]],
  ["getWrites", ["resume", "state", "history", "fork", "threads"]],
  ["threads", ["threads", "recover", "prune"]],
];

const cases = NEEDED.flatMap(([method, calls]) =>
  calls.flatMap((name) =>
    [null, 5, "never"].map((answer) => ({ method, call: CALLS[name]![1], what: CALLS[name]![0], answer })),
  ),
);

test.each(cases)("$what over a store that answers `$method` with $answer", async ({ method, call, answer }) => {
  const store = new MemoryStore();
  const sound = engineOf(GRAPH, {}, { store });
  await sound.run({}, { thread: "t" });
  await sound.label("t", "mark");
  const odd = new Proxy(store, {
    get(target, name) {
      if (name === method) return () => (answer === "never" ? new Promise(() => undefined) : answer);
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const engine = engineOf(GRAPH, {}, { store: odd, storeTimeoutMs: 20 });
  const expected = { code: "NG_STORE_FAILED", message: expect.stringContaining(`\`${method}\``) };
  await expect(Promise.resolve(call(engine))).rejects.toMatchObject(expected);
});

test("a prune continues with other threads behind one whose prune takes too long", async () => {
  const store = new MemoryStore();
  const threads = ["a", "b", "c", "d"];
  for (const thread of threads) await engineOf(GRAPH, {}, { store }).run({}, { thread });
  const slow = new Proxy(store, {
    get(target, name) {
      if (name === "prune")
        return async (thread: string, policy: never) =>
          thread === "b" ? new Promise(() => undefined) : target.prune(thread, policy);
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  const engine = engineOf(GRAPH, {}, { store: slow, storeTimeoutMs: 20 });
  const { pruned, failures } = await engine.prune({ keepLast: 1 });
  expect(pruned.map(({ thread }) => thread).toSorted()).toEqual(["a", "c", "d"]);
  expect(failures.map(({ thread, error }) => [thread, error.code])).toEqual([["b", "NG_STORE_FAILED"]]);
});
