/** A store with a codec behaves as the store does, and its database contains no plain text. */
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { CheckpointHeader } from "../../runtime/interface/checkpoint.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { describeStore } from "../../runtime/stores/conformance/conformance.ts";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { type StoreCodec, withCodec } from "../../runtime/stores/codec.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { engineOf } from "../support/graph.ts";
import { PostgresServer } from "./postgres-server.ts";
import { FAST_DIRECTORY } from "./temporary-directory.ts";

/** A codec that a test can follow: base64 of the bytes, each XOR a byte of the key, with a checksum. */
function codecOf(keyId: string, known: readonly string[] = [keyId]): StoreCodec {
  const mask = (bytes: Buffer, id: string): Buffer => {
    const key = createHash("sha256").update(id).digest();
    return bytes.map((byte, index) => byte ^ key[index % key.length]!) as Buffer;
  };
  const sum = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);
  return {
    keyId,
    encode: (text) => sum(text) + mask(Buffer.from(text), keyId).toString("base64"),
    decode: (encoded, id) => {
      if (!known.includes(id)) throw new Error(`no key ${id}`);
      const text = mask(Buffer.from(encoded.slice(8), "base64"), id).toString();
      if (sum(text) !== encoded.slice(0, 8)) throw new Error("the text was changed");
      return text;
    },
  };
}

const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-codec-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
let files = 0;

describeStore({ describe, it }, "MemoryStore with a codec", () => withCodec(new MemoryStore(), codecOf("k1")));

describeStore({ describe, it }, "SqliteStore with a codec", () => {
  const path = join(directory, `${++files}.db`);
  const store = withCodec(new SqliteStore(path), codecOf("k1"));
  return {
    store,
    reopen: async () => {
      await store.close!();
      return withCodec(new SqliteStore(path), codecOf("k1"));
    },
    secondProcess: () => withCodec(new SqliteStore(path), codecOf("k1")),
  };
});

/** A value on which `instanceof` and every other operation throws. */
function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const SECRET = "the-secret-words";

/** Runs a graph that leaves its secret in every kind of content, and pauses. */
async function leaveSecrets(store: Store): Promise<void> {
  const graph = `graph g {
    input q: string   state log: string[] = [] reduce append   state ok: string
    output done: string = ""
    node a = a(q) into log   node wait = ask(q) into ok   node bad = bad(ok) into done
    start -> a, wait   wait -> bad
  }`;
  const functions = {
    a: (q: string) => [q, `a ${q}`],
    bad: (ok: string) => {
      throw new Error(`no ${ok}`, { cause: new Error(`because of ${ok}`) });
    },
  };
  const engine = engineOf(graph, functions, { store });
  expect((await engine.run({ q: SECRET }, { thread: "t" })).status).toBe("paused");
  expect((await engine.resume("t", { answer: SECRET })).status).toBe("failed");
  expect(await store.loadLatest("t")).toMatchObject({ failure: { causes: [`because of ${SECRET}`] } });
  const state = await engine.state("t");
  expect(state?.state).toMatchObject({ q: SECRET, log: [SECRET, `a ${SECRET}`], ok: SECRET });
  const run = await SampleRun.start(store, "sample");
  const header: Partial<CheckpointHeader> = {
    pauses: [{ id: "p", node: "n", kind: "interrupt", payload: { SECRET }, namespace: [] }],
    answers: [{ id: "p", value: SECRET }],
    pendingSends: [{ taskId: "n~0.0", node: "n", item: [SECRET] }],
    errors: { n: { message: SECRET } },
    failure: { code: "NG_NODE_FAILED", message: SECRET, node: "n", causes: [SECRET] },
    taken: [{ id: "t", name: "n", value: SECRET }],
    finished: [{ taskId: "n", node: "n", result: { updates: [["x", SECRET]] } }],
  };
  const saved = await run.save([{ channel: "x", set: { deep: [SECRET] } }], header);
  await store.putWrites?.(run.claim, saved.id, [{ taskId: "n", node: "n", result: SECRET }]);
  expect(await store.loadLatest("sample")).toEqual(saved);
  expect(await store.getWrites?.("sample", saved.id)).toEqual([{ taskId: "n", node: "n", result: SECRET }]);
  const signal = { id: "s", name: "n", value: { SECRET } };
  await store.putSignal?.("sample", signal);
  expect(await store.getSignals?.("sample")).toEqual([signal]);
}

describe("the database of a store with a codec", () => {
  it("SQLite: contains no plain text, in no file", async () => {
    const folder = mkdtempSync(join(directory, "files-"));
    const store = withCodec(new SqliteStore(join(folder, "runs.db")), codecOf("k1"));
    await leaveSecrets(store);
    const bytes = () => readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
    expect(bytes().join("")).not.toContain(SECRET);
    await store.close!();
    expect(bytes().join("")).not.toContain(SECRET);
    expect(bytes().join("")).toContain("ngraph-codec:k1:");
    const plain = new SqliteStore(join(folder, "plain.db"));
    await leaveSecrets(plain);
    expect(bytes().join("")).toContain(SECRET);
    plain.close();
  });

  it("Postgres: contains no plain text", async () => {
    const server = await PostgresServer.start();
    try {
      const store = withCodec(new PostgresStore({ url: server.url, schema: "coded" }), codecOf("k1"));
      await leaveSecrets(store);
      const tables = await server.query<{ name: string }>(
        "SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'coded' AND relkind = 'r'",
      );
      let rows = "";
      for (const { name } of tables) {
        const found = await server.query<{ row: string }>(`SELECT t::text AS row FROM coded."${name}" t`);
        rows += found.map(({ row }) => row).join("\n");
      }
      expect(rows).toContain("ngraph-codec:k1:");
      expect(rows).not.toContain(SECRET);
      await store.close!();
    } finally {
      await server.dispose();
    }
  });
});

describe("a codec", () => {
  const graph = `graph g { input n: int   state log: string[] = [] reduce append   state ok: string
    node a = a(n) into log   node wait = ask("?") into ok   node b = a(2) into log
    start -> a -> wait -> b }`;
  const functions = { a: (n: number) => `turn ${n}` };

  it("reads the texts of earlier keys after a rotation, and writes with the new key", async () => {
    const base = new MemoryStore();
    const old = engineOf(graph, functions, { store: withCodec(base, codecOf("k1")) });
    expect((await old.run({ n: 1 }, { thread: "t" })).status).toBe("paused");
    const rotated = engineOf(graph, functions, { store: withCodec(base, codecOf("k2", ["k1", "k2"])) });
    expect(await rotated.resume("t", { answer: "yes" })).toMatchObject({
      status: "completed",
      state: { log: ["turn 1", "turn 2"], ok: "yes" },
    });
    const log = base.loadLatest("t")?.values["log"] as string[];
    expect(log.map((item) => item.split(":")[1])).toEqual(["k1", "k2"]);
    expect(await rotated.history("t")).toHaveLength(5);
  });

  it("reports a missing key with the thread, the part and the key", async () => {
    const base = new MemoryStore();
    const old = engineOf(graph, functions, { store: withCodec(base, codecOf("k1")) });
    await old.run({ n: 1 }, { thread: "t" });
    const other = engineOf(graph, functions, { store: withCodec(base, codecOf("k2")) });
    await expect(other.state("t")).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringMatching(/^thread "t": .* could not be decoded with the key "k1": no key k1$/),
    });
    const none = engineOf(graph, functions, { store: base });
    await expect(none.resume("t", { answer: "yes" })).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringContaining('is encoded with the key "k1": open its store with the codec'),
    });
  });

  it("an engine without it refuses what processes with it have added to a thread in plain text", async () => {
    const text = `graph g {
      output a: string = ""   output b: string = ""
      node x = ask("x?") into a   node y = receive("y") into b
      start -> x, y
    }`;
    const base = new MemoryStore();
    const plain = engineOf(text, {}, { store: base });
    const coded = withCodec(base, codecOf("k1"));
    const [pause] = (await plain.run({}, { thread: "t" })).pauses;
    await plain.run({}, { thread: "u" });
    await engineOf(text, {}, { store: coded }).signal("u", "y", "sent");
    const dying = engineOf(text, {}, { store: { ...coded, save: () => { throw new Error("no space"); } } }); // prettier-ignore
    await expect(dying.resume("t", { answers: { [pause!.id]: "yes" } })).rejects.toThrow("no space");
    const refusal = { code: "NG_STORE_FAILED", message: expect.stringContaining('is encoded with the key "k1"') };
    await expect(plain.resume("t")).rejects.toMatchObject(refusal);
    await expect(plain.resume("u")).rejects.toMatchObject(refusal);
    const engine = engineOf(text, {}, { store: coded });
    await engine.signal("t", "y", "sent");
    expect(await engine.resume("t")).toMatchObject({ status: "completed", output: { a: "yes", b: "sent" } });
    await expect(plain.history("t")).rejects.toMatchObject(refusal);
  });

  it("no answer and no signal looks like an encoded text", async () => {
    const text = `graph g { output a: string = ""   node x = ask("x?") into a   node y = receive("y") into a   start -> x -> y }`;
    const engine = engineOf(text, {}, { store: new MemoryStore() });
    await engine.run({}, { thread: "t" });
    const message = expect.stringContaining("must not begin with `ngraph-codec:` and the id of a key");
    const refusal = { code: "NG_BAD_ANSWER", message };
    await expect(engine.resume("t", { answer: "ngraph-codec:k1:x" })).rejects.toMatchObject(refusal);
    await expect(engine.signal("t", "y", "ngraph-codec:k1:x")).rejects.toMatchObject(refusal);
    expect(await engine.resume("t", { answer: "ngraph-codec: a note" })).toMatchObject({ status: "paused" });
  });

  it("that throws, or returns a promise, fails the call and writes nothing", async () => {
    for (const [encode, reason] of [
      [() => Promise.resolve("later") as unknown as string, "the codec must return a string at once, not object"],
      [() => { throw new Error("no key service"); }, "no key service"], // prettier-ignore
    ] as const) {
      const base = new MemoryStore();
      const engine = engineOf(graph, functions, { store: withCodec(base, { ...codecOf("k1"), encode }) });
      await expect(engine.run({ n: 1 }, { thread: "t" })).rejects.toMatchObject({
        code: "NG_STORE_FAILED",
        message: expect.stringContaining(reason),
      });
      expect(base.threads()).toEqual([]);
    }
  });

  it("reads what was written without a codec, also in a list that grows", async () => {
    const base = new MemoryStore();
    await engineOf(graph, functions, { store: base }).run({ n: 1 }, { thread: "t" });
    const engine = engineOf(graph, functions, { store: withCodec(base, codecOf("k1")) });
    expect(await engine.resume("t", { answer: "yes" })).toMatchObject({
      state: { log: ["turn 1", "turn 2"], ok: "yes" },
    });
    expect((await engine.state("t"))?.state["log"]).toEqual(["turn 1", "turn 2"]);
  });

  it("an item of the memory is not read without the codec, and no value looks like an encoded one", async () => {
    const base = new MemoryStore();
    const coded = engineOf(graph, functions, { store: withCodec(base, codecOf("k1")) }).memory;
    await coded.put(["u"], "name", "Ada");
    const plain = engineOf(graph, functions, { store: base }).memory;
    const refusal = {
      code: "NG_STORE_FAILED",
      message: 'item "name" of the memory is encoded with the key "k1": open its store with the codec (`withCodec`)',
    };
    await expect(plain.get(["u"], "name")).rejects.toMatchObject(refusal);
    await expect(plain.list(["u"])).rejects.toMatchObject(refusal);
    await expect(plain.search(["u"])).rejects.toMatchObject(refusal);
    expect((await coded.get(["u"], "name"))?.value).toBe("Ada");
    for (const memory of [plain, coded]) {
      const message = "the value of an item does not begin with `ngraph-codec:`";
      const put = memory.put(["v"], "k", "ngraph-codec:k1:x");
      await expect(put).rejects.toMatchObject({ code: "NG_BAD_INPUT", message });
      await memory.put(["v"], "k", "ngraph-codec: a note");
      expect((await memory.get(["v"], "k"))?.value).toBe("ngraph-codec: a note");
    }
  });

  it("keeps runs on one SQLite file in shared transactions", async () => {
    const path = join(directory, `${++files}.db`);
    const store = withCodec(new SqliteStore(path), codecOf("k1"));
    const engine = engineOf(graph, functions, { store });
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => engine.run({ n }, { thread: `t${n}` })));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(["paused"]));
    await store.close!();
  });

  it("that throws a value without a text, or returns a promise that is rejected, fails the call alone", async () => {
    for (const encode of [
      () => { throw Object.create(null); }, // prettier-ignore
      () => { throw revoked(); }, // prettier-ignore
      () => Promise.reject(new Error("later")) as unknown as string,
    ]) {
      const store = withCodec(new MemoryStore(), { ...codecOf("k1"), encode });
      const failure = {
        code: "NG_STORE_FAILED",
        message: expect.stringMatching(/^thread "t": channel "\w+" could not be/) as string,
      };
      await expect(engineOf(graph, functions, { store }).run({ n: 1 }, { thread: "t" })).rejects.toMatchObject(failure);
    }
    await new Promise((next) => setImmediate(next));
  });

  it.each([
    null,
    undefined,
    5,
    {},
    { keyId: 1n },
    { keyId: Symbol("k") },
    { keyId: "k" },
    { keyId: "k", encode: String, decode: 1 },
  ])("refuses a codec that is incomplete (%#)", (codec) => {
    const make = (): unknown => withCodec(new MemoryStore(), codec as unknown as StoreCodec);
    expect(make).toThrow(StoreError);
    expect(make).toThrow(/the id of a codec's key|a codec has a `keyId` and the functions/);
  });

  it.each(["", "a:b", "x".repeat(101), 7 as unknown as string])("refuses the key id %j", (keyId) => {
    expect(() => withCodec(new MemoryStore(), codecOf(keyId))).toThrow("the id of a codec's key");
  });
});
