/** Workers and servers that die: nothing is lost, and nothing is applied twice (5.4, 5.5). */
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { restate } from "../../api/hosts/restate.ts";
import type { Engine, Store } from "../../runtime/index.ts";
import { below, chance, randomOf } from "../fault/random.ts";
import { isDeep, isSoak } from "../support/depth.ts";
import { tableOf } from "../support/graph.ts";
import { Cluster } from "./cluster.ts";
import { findRestate, RestateServer } from "./restate-server.ts";

const found = findRestate();

if ("missing" in found) it(`is not tested: ${found.missing}`, () => undefined);
else if (isDeep) describe("Restate", testFailover);
else it("is tested at broad depth", () => undefined);

const seed = process.env["SEED"];
const SEEDS = seed === undefined ? Array.from({ length: isSoak ? 40 : 8 }, (_, index) => index + 1) : [Number(seed)];
/** Items of the list. */
const LENGTH = 200;
const NAMES = ["begin", "work", "branch", "finish", "book", "cancel", "pay"];

const ITEMS = `graph share { input list: int[]  output squares: int[]
  node square = work(i) for i in list into squares  start -> square -> end }`;

/** Branches, items, a question, a timer, a called graph, and a rollback. */
const TRIP = `graph leg { input n: int  output m: int  node one = begin(n) into m  node two = finish(m) into m  start -> one -> two }
graph trip { input list: int[]  input broke: bool  output squares: int[]  output log: string[] reduce append  state answer: string
  output legs: int[] reduce append  state flight: string  state hotel: string
  node left = branch("left") into log  node right = branch("right") into log
  node square = work(i) for i in list into squares
  node question = ask("Go on?") into answer
  node rest = sleep(300ms)
  node travel = leg(n: i) for i in [1, 2, 3] into { m: legs }
  node air = book("air") into flight { undo cancel(flight) }
  node bed = book("bed") into hotel { undo cancel(hotel) }
  node payment = pay(broke) into log
  start -> left, right  all(left, right) -> square -> question -> rest -> travel -> air -> bed -> payment -> end  payment -> rollback on error }`;

function testFailover(): void {
  let server: RestateServer;
  let graphs = 0;
  const kills = { workers: 0, servers: 0 };
  beforeAll(async () => {
    server = await RestateServer.start();
  }, 300_000);
  afterAll(() => server?.stop());

  async function withCluster(
    text: string,
    workers: number,
    body: (engine: Engine, cluster: Cluster, graph: string) => Promise<void>,
  ): Promise<void> {
    const compiled = tableOf(text, NAMES);
    const table = { ...compiled, name: `${compiled.name}_${++graphs}` };
    const cluster = await Cluster.start(server, table, workers);
    try {
      await body(createEngine(table, { host: restate(server.url) }), cluster, table.name);
    } finally {
      await cluster.stop();
    }
  }

  test("two workers share 200 items", async () => {
    const list = Array.from({ length: 200 }, (_, index) => index);
    await withCluster(ITEMS, 2, async (engine, cluster) => {
      const { output } = await engine.run({ list }, { thread: "t" });
      expect(output).toEqual({ squares: list.map((n) => n * n) });
      const byWorker = groupBy(
        cluster.ledger().filter(({ what }) => what === "end"),
        ({ pid }) => pid,
      );
      expect([...byWorker.values()].map(({ length }) => length).reduce((sum, count) => sum + count, 0)).toBe(200);
      expect(byWorker.size).toBe(2);
    });
  }, 600_000);

  test.each(SEEDS)(
    "kills at seeded points, seed %i",
    async (seed) => {
      const random = randomOf(seed);
      const list = Array.from({ length: LENGTH }, (_, index) => index);
      const isBroke = seed % 2 === 0;
      await withCluster(TRIP, 2, async (engine, cluster, graph) => {
        const store = restate(server.url).store(graph);
        /** Bodies whose results were stored before a kill, and the length of the ledger at that time. */
        const stored: { readonly names: ReadonlySet<string>; readonly lines: number }[] = [];
        const kill = async (): Promise<void> => {
          stored.push({ names: await storedBodies(store, "t"), lines: cluster.ledger().length });
          if (chance(random, 0.3)) {
            await server.kill();
            await server.start();
            kills.servers++;
          } else {
            await cluster.killWorker(below(random, 2));
            await cluster.addWorker();
            kills.workers++;
          }
        };
        let isOver = false;
        // Places in the run: numbers of lines of the ledger, in the items and behind them.
        const places = [below(random, 300), below(random, 400), 404 + below(random, 6), 410 + below(random, 20)];
        const killing = (async () => {
          for (const place of places.sort((a, b) => a - b)) {
            while (!isOver && cluster.ledger().length < place) await new Promise((resolve) => setTimeout(resolve, 3));
            if (!isOver) await kill();
          }
        })();
        const paused = await engine.run({ list, broke: isBroke }, { thread: "t" });
        expect(paused.status).toBe("paused");
        if (chance(random, 0.5)) await kill();
        const done = await engine.resume("t", { answer: "yes" });
        isOver = true;
        await killing;
        expect(done.status).toBe(isBroke ? "rolled_back" : "completed");
        const expected = {
          squares: list.map((n) => n * n),
          log: isBroke ? ["left", "right"] : ["left", "right", "paid"],
          legs: [1, 2, 3],
        };
        expect(done.output).toEqual(expected);
        checkHistory(await engine.history("t"));
        checkLedger(cluster, isBroke);
        for (const { names, lines } of stored) {
          const later = cluster.ledger().slice(lines);
          expect(later.filter(({ what, name }) => what === "start" && names.has(name))).toEqual([]);
        }
      });
    },
    600_000,
  );

  test("the seeds have killed workers and servers", () => {
    expect(kills.workers).toBeGreaterThan(SEEDS.length);
    if (seed === undefined) expect(kills.servers).toBeGreaterThan(SEEDS.length / 2);
  });
}

function groupBy<T, Key>(list: readonly T[], keyOf: (item: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const item of list) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

const BODIES: Readonly<Record<string, string>> = {
  left: "branch-left",
  right: "branch-right",
  air: "book-air",
  bed: "book-bed",
};

/** The bodies of the outermost graph whose results are in the store. */
async function storedBodies(store: Store, thread: string): Promise<ReadonlySet<string>> {
  const [head, ...others] = await store.list(thread, { limit: 1000 });
  if (head === undefined) return new Set();
  const completed = [head, ...others]
    .filter(({ phase }) => phase === "completed")
    .flatMap(({ currentNodes }) => currentNodes);
  const pending = (await store.getWrites!(thread, head.id)).map(({ taskId }) => taskId);
  const finished = (head.finished ?? []).map(({ taskId }) => taskId);
  const names = new Set<string>();
  for (const task of [...completed, ...pending, ...finished]) {
    const item = /^square\[(\d+)\]$/.exec(task);
    if (item !== null) names.add(`work-${item[1]}`);
    else if (Object.hasOwn(BODIES, task)) names.add(BODIES[task]!);
    if (task === "square") for (let index = 0; index < LENGTH; index++) names.add(`work-${index}`);
  }
  return names;
}

/** The checkpoints are one chain, and each step was stored once. */
function checkHistory(history: Awaited<ReturnType<Engine["history"]>>): void {
  for (const [index, { parentId }] of history.entries()) expect(parentId).toBe(history[index + 1]?.id ?? null);
  // A rollback ends the step that has failed.
  if (history[0]?.status === "rolled_back") return;
  const steps = history.filter(({ phase }) => phase === "completed").map(({ step }) => step);
  expect(new Set(steps).size).toBe(steps.length);
}

/** A body that ran twice was cut off, or its process died before the result was stored. Undos follow the newest result first. */
function checkLedger(cluster: Cluster, isBroke: boolean): void {
  const ledger = cluster.ledger();
  const ends = groupBy(
    ledger.filter(({ what }) => what === "end"),
    ({ key }) => key,
  );
  for (const lines of ends.values()) expect(new Set(lines.map(({ name }) => name)).size).toBe(1);
  const undone = ledger.filter(({ what, name }) => what === "end" && name.startsWith("cancel")).map(({ name }) => name);
  expect([...new Set(undone)]).toEqual(isBroke ? ["cancel-bed", "cancel-air"] : []);
}
