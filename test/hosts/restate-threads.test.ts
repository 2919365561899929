/** Listings, prunes, migrations and the long-term memory on a real Restate server. */
import { describe, expect, it, test, vi } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { restate } from "../../api/hosts/restate.ts";
import { scanThreads } from "../../hosts/restate/admin.ts";
import { Ingress } from "../../hosts/restate/ingress.ts";
import { serviceNames } from "../../hosts/restate/service-names.ts";
import { callThroughIngress } from "../../hosts/restate/store/ingress-thread.ts";
import { RestateStore } from "../../hosts/restate/store/restate-store.ts";
import { encodePlace, placeOf } from "../../hosts/restate/store/rows.ts";
import type { NodeContext } from "../../runtime/interface/context.ts";
import { isDeep } from "../support/depth.ts";
import { tableOf } from "../support/graph.ts";
import { findRestate } from "./restate-server.ts";
import { useRestate } from "./use-restate.ts";

const found = findRestate();

if ("missing" in found) it(`is not tested: ${found.missing}`, () => undefined);
else if (isDeep) describe("Restate", testThreads);
else it("is tested at broad depth", () => undefined);

const ASK = (name: string, node: string): string => `graph ${name} { input n: int  output answer: string
  node ${node} = ask("Go on?") into answer  start -> ${node} when n < 100  start -> end otherwise  ${node} -> end }`;
const COUNT = `graph counting { output n: int = 0  output log: int[] reduce append
  node next = n + 1 into n  node note = n into log  start -> next -> note  note -> next when n < 60  note -> end otherwise }`;
const NOTES = `graph notes { input key: string  output known: json[]
  node note = remember(key) into known  start -> note }`;

function testThreads(): void {
  const used = useRestate();

  test("threads are listed with filters and in pages, and expired ones are pruned", async () => {
    const table = tableOf(ASK("listed", "question"), []);
    await used.serve(table);
    const engine = createEngine(table, { host: used.host });
    expect(await engine.threads()).toEqual([]);
    const names = Array.from({ length: 12 }, (_, index) => `thread ${index}`);
    for (const [n, thread] of names.entries()) {
      const metadata = { tenant: n % 3 === 0 ? "acme" : "other" };
      await engine.run({ n: n < 8 ? n : 100 }, { thread, metadata, ...(n === 5 ? { ttl: 1 } : {}) });
    }
    const listed = async (options = {}): Promise<readonly string[]> =>
      (await engine.threads(options)).map(({ thread }) => thread);
    expect(await listed()).toEqual([...names].reverse());
    expect(await listed({ status: "paused" })).toEqual(names.slice(0, 8).reverse());
    expect(await listed({ metadata: { tenant: "acme" } })).toEqual([9, 6, 3, 0].map((n) => names[n]));
    await engine.label("thread 2", "review");
    expect(await listed({ label: "review" })).toEqual(["thread 2"]);
    expect(await listed({ graph: "another" })).toEqual([]);
    const paged: string[] = [];
    for (let after: number | undefined; ;) {
      const page = await engine.threads({ limit: 5, ...(after === undefined ? {} : { after }) });
      if (page.length === 0) break;
      paged.push(...page.map(({ thread }) => thread));
      after = page.at(-1)!.position;
    }
    expect(paged).toEqual([...names].reverse());
    // Beside threads of one place, and with names that have a meaning in SQL.
    await engine.run({ n: 100 }, { thread: "o'neil" });
    const scan = scanThreads({ url: used.server.url, admin: used.server.admin }, serviceNames("listed"));
    const [last] = await scan({ after: encodePlace(0), before: { place: "9", thread: "" }, limit: 1 });
    const { thread, text } = last!;
    expect(thread).toBe("o'neil");
    for (const [name, expected] of [
      [`${thread}'`, thread],
      [thread, "thread 11"],
      ["a", "thread 11"],
    ] as const) {
      const before = { place: placeOf(text), thread: name };
      expect((await scan({ after: encodePlace(0), before, limit: 1 }))[0]?.thread).toBe(expected);
    }
    await used.host.store("listed").deleteThread("o'neil");
    await engine.resume("thread 0", { answer: "yes" });
    expect((await engine.threads({ limit: 1 }))[0]).toMatchObject({ thread: "thread 0", status: "completed" });
    const expired = await engine.prune({ expiredAt: Date.now() });
    expect([expired.deleted, expired.failures]).toEqual([["thread 5"], []]);
    expect(await engine.state("thread 5")).toBeUndefined();
    expect(await listed()).not.toContain("thread 5");
  });

  test("threads of one place are all listed, whatever the page", async () => {
    const table = tableOf(ASK("tied", "question"), []);
    await used.serve(table);
    const names = Array.from({ length: 7 }, (_, index) => `tied ${index}`);
    // Stores of several processes that save in the same moment.
    const random = vi.spyOn(Math, "random").mockReturnValue(0.5);
    const call = callThroughIngress(new Ingress({ url: used.server.url }), serviceNames("tied"));
    for (const thread of names) {
      const store = new RestateStore(call, { now: () => 1_700_000_000_000 });
      await createEngine(table, { store, wake: false }).run({ n: 1 }, { thread });
    }
    random.mockRestore();
    const engine = createEngine(table, { host: used.host });
    const all = await engine.threads();
    expect(all.map(({ thread }) => thread)).toEqual([...names].reverse());
    expect(new Set(all.map(({ position }) => position)).size).toBe(1);
    const first = await engine.threads({ limit: 2 });
    expect(first.map(({ thread }) => thread)).toEqual([...names].reverse());
    expect(await engine.threads({ limit: 2, after: first.at(-1)!.position! })).toEqual([]);
    const { pruned, failures } = await engine.prune({ keepLast: 1 });
    expect([pruned.length, failures]).toEqual([7, []]);
  });

  test("a stream without an end is read to the end of its run", async () => {
    const table = tableOf(ASK("watched", "question"), []);
    await used.serve(table);
    const engine = createEngine(table, { host: used.host });
    const read = async (thread: string, from = 0): Promise<readonly string[]> => {
      const types: string[] = [];
      for await (const { event } of used.host.events("watched", thread, { from })) types.push(event.type);
      return types;
    };
    const refused = engine.run({ n: "many" }, { thread: "refused", onEvent: () => undefined });
    await expect(refused).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    expect(await read("refused")).toEqual([]);
    await engine.run({ n: 1 }, { thread: "paused", onEvent: () => undefined });
    const known = await read("paused");
    expect(known.at(-1)).toBe("run");
    // A reader that has all events already.
    expect(await read("paused", known.length)).toEqual([]);
  });

  test("a listing without the administration is refused with its remedy", async () => {
    const table = tableOf(ASK("listed", "question"), []);
    const engine = createEngine(table, { host: restate({ url: used.server.url, admin: "http://127.0.0.1:1" }) });
    await expect(engine.threads()).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringContaining("the administration of Restate at http://127.0.0.1:1 does not answer"),
    });
    const wrong = createEngine(table, { host: restate({ url: used.server.url, admin: used.server.url }) });
    await expect(wrong.threads()).rejects.toMatchObject({
      code: "NG_STORE_FAILED",
      message: expect.stringContaining("cannot list threads (status "),
    });
    const unreadable = restate({ url: used.server.url, admin: "here:hush" });
    expect(() => unreadable.store("listed")).toThrow("the text is not the address of a Restate server");
  });

  test("a prune removes old checkpoints, and the thread continues", async () => {
    const table = tableOf(COUNT, []);
    await used.serve(table);
    const engine = createEngine(table, { host: used.host });
    const { output } = await engine.run({}, { thread: "t", maxSteps: 500 });
    const before = await engine.history("t", { limit: 500 });
    expect(before.length).toBeGreaterThan(120);
    await engine.label("t", "middle", { checkpoint: before[50]!.id });
    const { pruned, failures } = await engine.prune({ keepLast: 3 });
    expect([pruned, failures]).toEqual([[{ thread: "t", checkpoints: before.length - 4 }], []]);
    expect((await engine.history("t")).map(({ id }) => id)).toEqual(before.slice(0, 3).map(({ id }) => id));
    const { thread } = await engine.fork("t", { from: "middle", as: "fork" });
    expect((await engine.resume(thread, { maxSteps: 500 })).output).toEqual(output);
    const again = await engine.run({}, { thread: "t", maxSteps: 500 });
    expect(again.output).toEqual(output);
  });

  test("a paused thread is migrated to an edited graph", async () => {
    const [first, second] = ["question", "decision"].map((node) => tableOf(ASK("moved", node), []));
    await used.serve(first!);
    await createEngine(first!, { host: used.host }).run({ n: 1 }, { thread: "t" });
    await used.serve(second!);
    const engine = createEngine(second!, { host: used.host });
    await expect(engine.resume("t", { answer: "yes" })).rejects.toMatchObject({ code: "NG_DRIFT" });
    await engine.migrate("t", { rename: { question: "decision" } });
    expect(await engine.resume("t", { answer: "yes" })).toMatchObject({
      status: "completed",
      output: { answer: "yes" },
    });
  });

  test("nodes and clients share the long-term memory", async () => {
    const table = tableOf(NOTES, ["remember"]);
    const remember = async (key: string, { memory }: NodeContext): Promise<unknown> => {
      await memory.put(["notes", key], "last", { key });
      return (await memory.list(["notes"])).map(({ value }) => value);
    };
    await used.serve(table, { remember });
    const engine = createEngine(table, { host: used.host });
    await engine.memory.put(["notes", "a"], "first", 1);
    expect((await engine.run({ key: "b" }, { thread: "t" })).output).toEqual({ known: [1, { key: "b" }] });
    expect(await engine.memory.get(["notes", "b"], "last")).toMatchObject({ value: { key: "b" } });
    expect(await engine.memory.delete(["notes", "a"], "first")).toBe(true);
    await engine.memory.put(["notes", "c"], "short", 2, { ttl: 1 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect((await engine.memory.list([])).map(({ key }) => key)).toEqual(["last"]);
    expect(await engine.memory.prune()).toBe(1);
  });
}
