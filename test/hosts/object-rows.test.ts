/** How the store on Restate reads rows: listings, and prunes of threads that were pruned before. */
import { expect, test } from "vitest";
import { scanThreads } from "../../hosts/restate/admin.ts";
import { serviceNames } from "../../hosts/restate/service-names.ts";
import { listThreads } from "../../hosts/restate/store/list-threads.ts";
import { RestateStore } from "../../hosts/restate/store/restate-store.ts";
import { encodeThread, NEW_THREAD, type ListedHead } from "../../hosts/restate/store/rows.ts";
import { createEngine } from "../../api/create-engine.ts";
import { tableOf } from "../support/graph.ts";
import { scanInMemory, threadsInMemory } from "./threads-in-memory.ts";

const COUNT = tableOf(`graph counting { limit steps none  output n: int = 0
  node next = n + 1 into n  start -> next -> next when n < 100  next -> end otherwise }`);

function rowAt(position: number): Map<string, string> {
  const listed = { id: "c", status: "completed", step: 1, timestamp: 1, metadata: {}, label: null } as ListedHead;
  return new Map([["thread", encodeThread({ ...NEW_THREAD, position, checkpoints: 1, listed })]]);
}

test("a listing has all threads of one place, whatever page they are on", async () => {
  const names = Array.from({ length: 2500 }, (_, index) => `thread ${String(index).padStart(4, "0")}`);
  // Places of 7 threads each, so that borders of pages are within places.
  const threads = new Map(names.map((name, index) => [name, rowAt(1 + Math.floor(index / 7))]));
  const scan = scanInMemory(threads);
  const all = await listThreads(scan, { limit: 5000 }, 0);
  expect(all.map(({ threadId }) => threadId)).toEqual([...names].reverse());
  const paged: string[] = [];
  for (let after: number | undefined; ;) {
    const page = await listThreads(scan, { limit: 10, ...(after === undefined ? {} : { after }) }, 0);
    if (page.length === 0) break;
    expect(page.length).toBeLessThanOrEqual(16);
    paged.push(...page.map(({ threadId }) => threadId));
    after = page.at(-1)!.position;
  }
  expect(paged).toEqual([...names].reverse());
});

test("names of threads are text in the question to the administration", async () => {
  const asked: string[] = [];
  const isDeployed = new Set([serviceNames("g").store]);
  const answer: typeof fetch = async (url, init) => {
    const service = /\/services\/(.*)$/.exec(String(url))?.[1];
    if (service !== undefined) return new Response("{}", { status: isDeployed.has(service) ? 200 : 404 });
    asked.push((JSON.parse(init!.body as string) as { query: string }).query);
    return new Response(JSON.stringify({ rows: [] }));
  };
  const scanOf = (graph: string) => scanThreads({ url: "http://localhost:8080", fetch: answer }, serviceNames(graph));
  const from = { after: "0", before: { place: "1", thread: "o'neil'; DROP" }, limit: 5 };
  expect(await scanOf("g")(from)).toEqual([]);
  expect(asked[0]).toContain("service_key < 'o''neil''; DROP')");
  await expect(scanOf("other")(from)).rejects.toThrow(`Restate knows no service \`${serviceNames("other").store}\``);
});

test("a second prune reads what the first one has kept, and what came after it", async () => {
  const { call, reads } = threadsInMemory();
  const store = new RestateStore(call);
  const engine = createEngine(COUNT, { store });
  await engine.run({}, { thread: "t" });
  const [newest, ...others] = await store.list("t", { limit: 200 });
  await store.label("t", others[95]!.id, "early");
  await store.label("t", newest!.id, "late");
  expect(await store.prune("t", { keepLast: 2 })).toBe(98);
  const kept = (await store.list("t", { limit: 200 })).map(({ id }) => id);
  expect(kept.length).toBe(2);
  reads.length = 0;
  expect(await store.prune("t", { keepLast: 2 })).toBe(0);
  expect(reads.length).toBeLessThan(20);
  // What is left can be read, copied and continued.
  expect((await store.loadByLabel("t", "early"))?.values).toEqual({ n: 4 });
  const first = await store.copies("t", 0, 2);
  const second = await store.copies("t", first.next, 10);
  const copied = [...first.copies, ...second.copies].map((copy) => ("header" in copy ? copy.header.id : copy.label));
  expect(copied).toEqual([others[95]!.id, kept[1], kept[0], "early", "late"]);
  expect([first.isLast, second.isLast]).toEqual([false, true]);
  await engine.run({}, { thread: "t" });
  expect(await store.prune("t", { keepLast: 1, keepLabelled: false })).toBeGreaterThan(50);
  expect((await store.list("t")).length).toBe(1);
  await store.deleteThread("t");
  expect(await store.prune("t", { keepLast: 1 })).toBe(0);
});
