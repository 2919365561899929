/** The store of docs/stores.md passes the suite as the page runs it, and a graph pauses and resumes on it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { storeConformance, type StoreCase } from "../../runtime/stores/conformance/conformance.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { engineOf } from "../support/graph.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

interface Page {
  readonly MapStore: new () => Store;
  readonly pruneAll: (engine: Engine) => Promise<number>;
  readonly rememberUser: (user: string, fact: string, context: NodeContext) => Promise<string[]>;
  readonly encryptedStore: (store: Store, keyId: string, keys: Readonly<Record<string, Buffer>>) => Store;
  /** The tests that the page registers with its test runner. */
  readonly suites: readonly string[];
  readonly cases: readonly { readonly name: string; readonly run: () => Promise<void> }[];
  /** The suite of the same build. */
  readonly storeConformance: readonly StoreCase[];
  /** The lines that the page prints without a test runner. */
  readonly printed: readonly string[];
}

/** The optional methods of the page's store. */
const METHODS: ReadonlySet<string> = new Set(["putWrites", "getWrites", "clearWrites"]);

function withoutWrites(store: Store): Store {
  return Object.assign(store, Object.fromEntries([...METHODS].map((method) => [method, undefined])));
}

const page = await loadPage();

describe("docs/stores.md", () => {
  test("runs the whole suite", () => {
    expect(page.suites).toEqual(["MapStore"]);
    expect(page.cases.map(({ name }) => name)).toEqual(storeConformance.map(({ name }) => name));
  });

  test.each(page.cases)("$name", ({ run }) => run());

  test("an engine pauses and resumes on its store", async () => {
    const text = `graph g {
      output log: string[] = [] reduce append   state ok: string
      node a = a() into log   node wait = ask("go on?") into ok   node b = b() into log
      start -> a -> wait -> b
    }`;
    const ran: string[] = [];
    const node = (name: string) => () => (ran.push(name), name);
    const engine = engineOf(text, { a: node("a"), b: node("b") }, { store: new page.MapStore() });
    expect((await engine.run({}, { thread: "t" })).status).toBe("paused");
    expect(ran).toEqual(["a"]);
    const result = await engine.resume("t", { answer: "yes" });
    expect(result).toMatchObject({ status: "completed", output: { log: ["a", "b"] } });
    expect(ran).toEqual(["a", "b"]);
  });

  test("without a runner it prints each case", () => {
    const passed = page.printed.filter((line) => line.startsWith("passed: "));
    expect(page.printed).toHaveLength(storeConformance.length);
    expect(passed).toHaveLength(
      storeConformance.filter(({ needs }) => needs.every((need) => METHODS.has(need))).length,
    );
    expect(page.printed).toContain(
      "skipped, the store lacks prune: pruning counts in each namespace and does not touch other threads",
    );
    expect(page.printed.filter((line) => line.startsWith("failed"))).toEqual([]);
  });

  test("a store with only the required methods passes, and a resume runs the whole step again", async () => {
    for (const { run } of page.storeConformance) await run(() => withoutWrites(new page.MapStore()));
    const text = `graph g {
      output log: string[] = [] reduce append
      node a = a() into log   node b = b() into log
      start -> a, b
    }`;
    for (const [store, expected] of [
      [new page.MapStore(), ["a", "b"]],
      [withoutWrites(new page.MapStore()), ["a", "b", "a", "b"]],
    ] as const) {
      const ran: string[] = [];
      const save = store.save.bind(store);
      let fails = false;
      // The nodes of the step have run; their results cannot be saved.
      store.save = (...given) => (fails ? Promise.reject(new Error("disk full")) : save(...given));
      const node = (name: string) => () => {
        fails = ran.length < 2;
        ran.push(name);
        return name;
      };
      const engine = engineOf(text, { a: node("a"), b: node("b") }, { store });
      await expect(engine.run({}, { thread: "t" })).rejects.toThrow("disk full");
      fails = false;
      expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { log: ["a", "b"] } });
      expect(ran).toEqual(expected);
    }
  });

  test("encryption: content is encrypted, keys rotate, and a text cannot move to another thread", async () => {
    const store = new MemoryStore();
    const keys = { "2025": Buffer.alloc(32, 1), "2026": Buffer.alloc(32, 2) };
    const first = await SampleRun.start(page.encryptedStore(store, "2025", keys));
    await first.save([{ channel: "log", set: ["secret"] }]);
    expect(JSON.stringify(store.loadLatest("thread"))).not.toContain("secret");
    const second = await SampleRun.start(page.encryptedStore(store, "2026", keys), "thread", "owner");
    const rotated = await SampleRun.resume(second.store, first.head()!);
    await rotated.save([{ channel: "log", append: ["words"] }]);
    expect((await rotated.store.loadLatest("thread"))?.values).toEqual({ log: ["secret", "words"] });
    const { values, versions, ...header } = store.loadLatest("thread")!;
    const claim = store.claim("other", { owner: "a", leaseMs: 1000 });
    const moved = { ...header, threadId: "other", parentId: null };
    store.save(claim, { header: moved, changes: [], snapshot: () => ({ values, versions }), expectedHead: null });
    expect(() => rotated.store.loadLatest("other")).toThrow(/could not be decoded with the key "2025"/);
  });

  test("a node function remembers facts about a user", async () => {
    const text = `graph g { input user: string  input fact: string  output known: string[] = []
      node remember = remember(user, fact) into known  start -> remember }`;
    const engine = engineOf(text, { remember: page.rememberUser }, { store: new MemoryStore() });
    const known = async (user: string, fact: string) => (await engine.run({ user, fact })).output["known"];
    expect(await known("ann", "likes tea")).toEqual([]);
    expect(await known("ann", "is a pilot")).toEqual(["likes tea"]);
    expect(await known("bob", "likes tea")).toEqual([]);
    expect(await known("ann", "is a pilot")).toEqual(["is a pilot", "likes tea"]);
  });

  test("pruning", async () => {
    const store = new MemoryStore();
    for (const [thread, timestamp] of [
      ["old", 0],
      ["new", Date.now()],
    ] as const) {
      const run = await SampleRun.start(store, thread);
      for (let n = 0; n < 25; n++) await run.save([], { timestamp, label: n === 0 ? "first" : null, graph: "g" });
      store.release(run.claim);
    }
    expect(
      await page.pruneAll(engineOf("graph g { output n: int = 0  node a = 1 into n  start -> a }", {}, { store })),
    ).toBe(4);
    expect(store.threads().map(({ checkpoints }) => checkpoints)).toEqual([25, 21]);
  });
});

/** The files of the page, with the sources in place of the package and a list in place of the test runner. */
async function loadPage(): Promise<Page> {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-page-"));
  try {
    for (const { info, text } of fencedBlocks(readFileSync("docs/stores.md", "utf8"))) {
      if (info !== "") writeFileSync(join(directory, info), text);
    }
    const runner = `export const suites = [], cases = [];
      export const describe = (name, body) => (suites.push(name), body());
      export const it = (name, run) => cases.push({ name, run });`;
    writeFileSync(join(directory, "runner.js"), runner);
    const check = join(directory, "check-store.ts");
    writeFileSync(check, readFileSync(check, "utf8").replaceAll("console.log(", "printed.push("));
    writeFileSync(check, `import { printed } from "./printed.js";\n${readFileSync(check, "utf8")}`);
    writeFileSync(join(directory, "printed.js"), "export const printed = [];");
    const entry = `import "./map-store.test.ts"; import "./check-store.ts"; export { printed } from "./printed.js"; export { storeConformance } from "ngraph/stores/conformance"; export { MapStore } from "./map-store.ts";
      export { pruneAll } from "./prune-all.ts"; export { encryptedStore } from "./encrypted-store.ts"; export { rememberUser } from "./remember-user.ts"; export { suites, cases } from "vitest";`;
    writeFileSync(join(directory, "entry.ts"), entry);
    const outfile = join(directory, "page.mjs");
    await build({
      entryPoints: [join(directory, "entry.ts")],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      alias: {
        vitest: join(directory, "runner.js"),
        "ngraph/runtime": resolve("runtime/index.ts"),
        "ngraph/stores/conformance": resolve("api/stores/conformance.ts"),
      },
    });
    return (await import(pathToFileURL(outfile).href)) as Page;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
