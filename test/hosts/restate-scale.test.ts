/** Many paused threads, long runs, and readers of events. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, test } from "vitest";
import type { RunEvent } from "../../runtime/index.ts";
import { isDeep, isSoak } from "../support/depth.ts";
import { tableOf } from "../support/graph.ts";
import { findRestate, type RestateServer } from "./restate-server.ts";
import { useRestate } from "./use-restate.ts";

const found = findRestate();

if ("missing" in found) it(`is not tested: ${found.missing}`, () => undefined);
else if (isDeep) describe("Restate", testScale);
else it("is tested at broad depth", () => undefined);

const THREADS = isSoak ? 10_000 : 1500;
const WOKEN = 100;
const STEPS = 600;

const WAIT = `graph waiting { input n: int  output got: string  output sum: int
  node order = receive("go") into got  node last = n + 1 into sum  start -> order -> last }`;
const COUNT = `graph steps { limit steps none  output n: int = 0
  node next = n + 1 into n  start -> next -> next when n < ${STEPS}  next -> end otherwise }`;

function testScale(): void {
  const used = useRestate();

  test(`${THREADS} threads wait, and ${WOKEN} of them are woken`, async () => {
    const engine = await used.serve(tableOf(WAIT, []));
    const threads: string[] = [];
    let next = 0;
    const start = async (): Promise<void> => {
      while (next < THREADS) {
        const n = next++;
        const { status, thread } = await engine.run({ n });
        if (status !== "paused") throw new Error(`thread ${n} is ${status}`);
        threads[n] = thread!;
      }
    };
    const begun = performance.now();
    await Promise.all(Array.from({ length: 64 }, start));
    const woke = performance.now();
    // An invocation ends a moment after its answer.
    await expect.poll(() => invocations(used.server), { interval: 200 }).toBe(0);
    const woken = Array.from({ length: WOKEN }, (_, index) => index * Math.floor(THREADS / WOKEN));
    await Promise.all(woken.map((n) => engine.signal(threads[n]!, "go", `order ${n}`)));
    const finished = (): Promise<number> =>
      engine.threads({ status: "completed", limit: THREADS }).then(({ length }) => length);
    await expect.poll(finished, { timeout: 300_000, interval: 500 }).toBe(WOKEN);
    const completed = await engine.threads({ status: "completed", limit: THREADS });
    expect(completed.map(({ thread }) => thread).sort()).toEqual(woken.map((n) => threads[n]).sort());
    for (const n of woken.slice(0, 5)) {
      expect((await engine.state(threads[n]!))?.state).toMatchObject({ got: `order ${n}`, sum: n + 1 });
    }
    const page = await engine.threads({ status: "paused", limit: 10 });
    expect(page.length).toBe(10);
    const seconds = [woke - begun, performance.now() - woke].map((ms) => (ms / 1000).toFixed(1));
    console.log(
      `${THREADS} threads were started in ${seconds[0]} s, ${WOKEN} were woken and listed in ${seconds[1]} s`,
    );
  }, 1_800_000);

  test("the journal of a run does not grow with its steps", async () => {
    const engine = await used.serve(tableOf(COUNT, []));
    const running = engine.run({}, { thread: "long" });
    let isOver = false;
    const ended = running.finally(() => (isOver = true));
    const counts: number[] = [];
    while (!isOver) {
      counts.push(await count(used.server, `sys_journal WHERE id IN (${RUN})`));
      await sleep(50);
    }
    expect((await ended).output).toEqual({ n: STEPS });
    expect(counts.length).toBeGreaterThan(10);
    expect(Math.max(...counts)).toBeGreaterThan(1);
    expect(Math.max(...counts)).toBeLessThan(20);
    expect((await engine.history("long", { limit: 2 * STEPS })).length).toBe(STEPS + 1);
    await expect.poll(() => count(used.server, "sys_journal"), { timeout: 90_000 }).toBe(0);
  }, 300_000);

  test("events are read by several processes, and taken up again from a position", async () => {
    const engine = await used.serve(
      tableOf(COUNT.replace(String(STEPS), "40").replace("graph steps", "graph told"), []),
    );
    await expect(used.host.events("told", "never")[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "NG_UNKNOWN_THREAD",
    });
    const seen: RunEvent[] = [];
    const running = engine.run({}, { thread: "t", onEvent: (event) => seen.push(event) });
    await expect.poll(() => seen.length, { timeout: 90_000, interval: 5 }).toBeGreaterThan(0);
    const read: RunEvent[] = [];
    // A reader that breaks off after every seventh event.
    for (let next = 0, isOver = false; !isOver;) {
      for await (const { position, event } of used.host.events("told", "t", { from: next })) {
        expect(position).toBe(next);
        next = position + 1;
        read.push(event);
        isOver = event.type === "run" && event.phase === "end";
        if (next % 7 === 0) break;
      }
    }
    expect((await running).status).toBe("completed");
    expect(read).toEqual(seen);
    expect(read.length).toBeGreaterThan(80);
  }, 300_000);
}

/** Runs that are in progress or wait for a timer. Results are kept for a day. */
function invocations(server: RestateServer): Promise<number> {
  return count(server, "sys_invocation WHERE target_service_name LIKE '%.runs' AND status <> 'completed'");
}

const RUN = "SELECT id FROM sys_invocation WHERE target_service_name = 'ngraph.steps.runs'";

async function count(server: RestateServer, from: string): Promise<number> {
  const response = await fetch(`${server.admin}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query: `SELECT count(*) AS n FROM ${from}` }),
  });
  const { rows } = (await response.json()) as { rows: readonly { readonly n: number }[] };
  return rows[0]!.n;
}
