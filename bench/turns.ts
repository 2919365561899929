/**
 * The longest time that work keeps the event loop without a turn, and the longest of it outside of garbage collections. Each row is
 * the median of its rounds after the first, in which the code is compiled.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../runtime/engine/create-engine.ts";
import type { Engine } from "../runtime/interface/engine-options.ts";
import type { Store } from "../runtime/interface/store.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import { SqliteStore } from "../runtime/stores/sqlite.ts";
import { chainTable, functions, tableOf } from "./support/chain.ts";
import { longestStall, type Stall } from "./support/stall.ts";

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

const xs = range(100_000);

try {
  for (const [name, open] of STORES) {
    await row(
      `${name}: 100,000 items`,
      () => open("items"),
      ITEMS,
      (engine) => engine.run({ xs }),
    );
    await row(
      `${name}: 100,000 items into append`,
      () => open("appended"),
      APPENDED,
      (engine) => engine.run({ xs }),
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
  prepare?: (engine: Engine) => Promise<unknown>,
): Promise<void> {
  const stalls: Stall[] = [];
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const store = open();
    const engine = createEngine(table, { functions, ...(store === undefined ? {} : { store }) });
    await prepare?.(engine);
    const before = process.cpuUsage();
    const stall = await longestStall(() => work(engine));
    const { user, system } = process.cpuUsage(before);
    await store?.close?.();
    if (round === 0) continue;
    stalls.push(stall);
    times.push((user + system) / 1000);
  }
  const longest = median(stalls.map((stall) => stall.longest)).toFixed(1);
  const outside = median(stalls.map((stall) => stall.outsideGarbage)).toFixed(1);
  console.log(
    `${name}: no turn for ${longest} ms, ${outside} ms outside of garbage collections; ${median(times).toFixed(0)} ms CPU in all`,
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
