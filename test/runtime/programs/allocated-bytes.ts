/**
 * Counts the bytes that runs allocate. Its parameter is a file of tables; it prints the counts as one line of JSON. It is a process of its own
 * that only interprets (`--jitless`): what compiled code allocates depends on when it was compiled, and so on what ran before.
 */
import { readFileSync } from "node:fs";
import { getHeapSpaceStatistics } from "node:v8";
import { createEngine } from "../../../api/create-engine.ts";
import { systemClock, type Clock } from "../../../runtime/interface/clock.ts";
import type { Engine, RunOptions } from "../../../runtime/interface/engine-options.ts";
import { MemoryStore } from "../../../runtime/stores/memory.ts";
import type { Table } from "../../../runtime/table/table.ts";
import { keyOf, loadGenerated } from "../../fault/generated-tables.ts";
import { collectGarbage } from "../../support/collect-garbage.ts";
import type { AllocatedBytes, CountedTables } from "../counted-tables.ts";

/** The first runs fill caches, and V8 notes the shapes that it has seen. */
const WARM_UP_RUNS = 50;

/**
 * The used bytes of the spaces where new objects are made. The others do not belong to a count: an object of the old space can use up a
 * whole free piece of it, of any size.
 */
const youngBytes = (): number =>
  getHeapSpaceStatistics().reduce(
    (sum, { space_name: name, space_used_size: used }) => sum + (name.startsWith("new_") ? used : 0),
    0,
  );

/** The growth of the young generation over a few calls, without a collection between them: the least of several counts, because a collection may fall into one. */
async function allocatedBytes(run: () => Promise<unknown>, calls = 20): Promise<number> {
  for (let at = 0; at < WARM_UP_RUNS; at++) await run();
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round++) {
    // What this turn still has to do belongs to no count, and a run that waits for its turn neither.
    await new Promise(setImmediate);
    collectGarbage();
    const before = youngBytes();
    for (let at = 0; at < calls; at++) await run();
    const grown = youngBytes() - before;
    if (grown > 0) least = Math.min(least, grown / calls);
  }
  return least;
}

/** No time passes: on a busy machine, runs would wait for their turns, and what waits is counted. */
const now = Date.now();
const clock: Clock = { ...systemClock, now: () => now };
const functions = { add: async (n: number): Promise<number> => n + 1 };
const { three, chain, fan } = JSON.parse(readFileSync(process.argv[2]!, "utf8")) as CountedTables;
const { signal } = new AbortController();
let threads = 0;

const bytesOf = (engine: Engine, options: () => RunOptions = () => ({})): Promise<number> =>
  allocatedBytes(() => engine.run({ n: 1 }, options()));
/** What one of 50 more nodes adds. */
const perNode = async ([ten, sixty]: readonly [Table, Table], count: (table: Table) => Promise<number>) =>
  ((await count(sixty)) - (await count(ten))) / 50;

const counts: AllocatedBytes = {
  "a run of three nodes": await bytesOf(createEngine(three, { functions, clock })),
  "a step in a chain": await perNode(chain, (table) => bytesOf(createEngine(table, { functions, clock }))),
  "a node beside others": await perNode(fan, (table) => bytesOf(createEngine(table, { functions, clock }))),
  "a step with a signal": await perNode(chain, (table) =>
    bytesOf(createEngine(table, { functions, clock }), () => ({ signal })),
  ),
  "a step with a listener of events": await perNode(chain, (table) =>
    bytesOf(createEngine(table, { functions, clock }), () => ({ onEvent: () => undefined })),
  ),
  "a step with a store in memory": await perNode(chain, (table) =>
    bytesOf(createEngine(table, { functions, clock, store: new MemoryStore() }), () => ({ thread: `t${threads++}` })),
  ),
  "a step without the engine": await perNode(chain, async (table) =>
    bytesOf((await loadGenerated([table])).get(keyOf(table))!({ functions })),
  ),
};
process.stdout.write(`${JSON.stringify(counts)}\n`);
