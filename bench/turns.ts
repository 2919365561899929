/**
 * The longest time that work keeps the event loop without a turn. A turn is measured in wall time and in CPU time, and counts with
 * the smaller of both: a machine with other work lengthens the one, threads that collect garbage the other. The pauses of the
 * garbage collector in the longest turn are shown beside it, in wall time. Each row is the median of its rounds after the first, in
 * which the code is compiled.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PerformanceObserver } from "node:perf_hooks";
import { createEngine } from "../runtime/engine/create-engine.ts";
import type { Engine } from "../runtime/interface/engine-options.ts";
import type { Store } from "../runtime/interface/store.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import { SqliteStore } from "../runtime/stores/sqlite.ts";
import { chainTable, functions, tableOf } from "./support/chain.ts";

const ROUNDS = 7;
const directory = mkdtempSync(join(tmpdir(), "ngraph-bench-"));
const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const ITEMS = tableOf(`graph items { input xs: int[]  output out: int[] = []
  node every = add(x) for x in xs into out  start -> every }`);
const APPENDED = tableOf(`graph items { input xs: int[]  output out: int[] = [] reduce append
  node every = add(x) for x in xs into out  start -> every }`);
const MERGED = tableOf(`type Row = { id: string, n: int }
  graph merged { input rows: Row[]  output all: Row[] = [] reduce merge
  node first = rows into all  node second = rows into all  start -> first -> second }`);
const EXPRESSION = tableOf(`graph expression { input xs: int[]  output total: int = 0
  node count = sum([x + 1 for x in xs if x % 2 == 0]) into total  start -> count }`);
const rows = (count: number) => range(count).map((n) => ({ id: `row ${n}`, n }));

const STORES: readonly (readonly [string, (name: string) => Store | undefined])[] = [
  ["no store", () => undefined],
  ["memory", () => new MemoryStore()],
  ["sqlite", (name) => new SqliteStore({ path: join(directory, `${name}.db`), journal: "wal" })],
];

/** The pauses of the garbage collector, in milliseconds since the start. */
const pauses: { readonly startTime: number; readonly duration: number }[] = [];
new PerformanceObserver((list) => pauses.push(...list.getEntries())).observe({ entryTypes: ["gc"] });

try {
  for (const [name, open] of STORES) {
    await row(
      `${name}: 100,000 items`,
      () => open("items"),
      ITEMS,
      (engine) => engine.run({ xs: range(100_000) }),
    );
    await row(
      `${name}: 100,000 items into append`,
      () => open("appended"),
      APPENDED,
      (engine) => engine.run({ xs: range(100_000) }),
    );
    for (const count of [10_000, 100_000]) {
      const all = rows(count);
      await row(
        `${name}: merge of ${count.toLocaleString("en")} rows, twice`,
        () => open("merged"),
        MERGED,
        (engine) => engine.run({ rows: all }),
      );
    }
    await row(
      `${name}: 200 threads with 10 short runs each`,
      () => open("threads"),
      chainTable(),
      (engine) =>
        Promise.all(
          range(200).map(async () => {
            for (let n = 0; n < 10; n++) await engine.run({ n });
          }),
        ),
    );
  }
  for (const count of [10_000, 100_000]) {
    const xs = range(count);
    await row(
      `one expression over ${count.toLocaleString("en")} values`,
      () => undefined,
      EXPRESSION,
      (engine) => engine.run({ xs }),
    );
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function row(
  name: string,
  open: () => Store | undefined,
  table: ReturnType<typeof tableOf>,
  work: (engine: Engine) => Promise<unknown>,
): Promise<void> {
  const longest: Turn[] = [];
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const store = open();
    const engine = createEngine(table, { functions, ...(store === undefined ? {} : { store }) });
    const before = process.cpuUsage();
    const turn = await longestTurn(() => work(engine));
    const { user, system } = process.cpuUsage(before);
    await store?.close?.();
    if (round === 0) continue;
    longest.push(turn);
    times.push((user + system) / 1000);
  }
  const [length, garbage] = [median(longest.map((turn) => turn.length)), median(longest.map((turn) => turn.garbage))];
  console.log(
    `${name}: no turn for ${length.toFixed(1)} ms, at most ${garbage.toFixed(1)} of them garbage collection; ` +
      `${median(times).toFixed(0)} ms CPU in all`,
  );
}

interface Turn {
  readonly length: number;
  readonly garbage: number;
}

async function longestTurn(work: () => Promise<unknown>): Promise<Turn> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  pauses.length = 0;
  let isOver = false;
  let longest = { from: 0, to: 0, length: 0 };
  let from = performance.now();
  let cpu = process.cpuUsage();
  const look = (): void => {
    const to = performance.now();
    const { user, system } = process.cpuUsage(cpu);
    const length = Math.min(to - from, (user + system) / 1000);
    if (length > longest.length) longest = { from, to, length };
    from = to;
    cpu = process.cpuUsage();
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isOver = true;
  look();
  // The observer is told later.
  await new Promise((resolve) => setTimeout(resolve, 5));
  const inside = pauses.filter(({ startTime }) => startTime >= longest.from && startTime < longest.to);
  const garbage = inside.reduce((all, { duration }) => all + duration, 0);
  return { length: longest.length, garbage: Math.min(garbage, longest.length) };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
