/**
 * A generated module does what the engine does with the same table. The simulations of `simulation.test.ts` run again with generated modules:
 * they make the same calls of the store with the same checkpoints, and emit the same events. Then each process of a thread is in turn one of
 * both, so each resumes the checkpoints of the other.
 *
 * `SEED=1234 npx vitest run test/fault/generated.test.ts` compares one seed.
 */
import { expect, test } from "vitest";
import { createEngine } from "../../runtime/engine/create-engine.ts";
import { loadThreads } from "../../runtime/engine/loaded-code.ts";
import type { EngineOptions } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Table } from "../../runtime/table/table.ts";
import { scale } from "../support/depth.ts";
import { keyOf, loadGenerated } from "./generated-tables.ts";
import { simulate, type Subject } from "./simulate.ts";
import { simulateStoreless } from "./storeless.ts";
import { memoryStore } from "./world.ts";

const ONE = process.env["SEED"] === undefined ? undefined : Number(process.env["SEED"]);
const COUNT = scale(2000, 60);
const SEEDS = ONE === undefined ? Array.from({ length: COUNT }, (_, seed) => seed) : [ONE];
const MINUTES = 60_000;

type Open = Subject["createEngine"];

/** What a simulation does, line by line: events, writes of the store, results. */
async function transcript(open: Open, seed: number): Promise<readonly string[]> {
  const lines: string[] = [];
  const subject: Subject = {
    createEngine: (table, options) => open(table, recorded(options, lines)),
    makeStore: memoryStore,
  };
  const { problems, calls } = await simulate(subject, seed, { trace: lines });
  const storeless = await simulateStoreless(subject, seed);
  lines.push(...problems, ...(storeless ?? []), `${calls} calls`);
  expect([seed, ...problems, ...(storeless ?? [])]).toEqual([seed]);
  return withPlainIds(lines);
}

const WRITES: ReadonlySet<PropertyKey> = new Set(["save", "putWrites"]);

function recorded(options: EngineOptions, lines: string[]): EngineOptions {
  const { store } = options;
  const onEvent: EngineOptions["onEvent"] = (event) => void lines.push(`event ${JSON.stringify(event)}`);
  // Runs without a store have the random numbers of the host.
  if (store === undefined) return { random: () => 0.5, ...options, onEvent };
  const watched = new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: unknown[]): unknown => {
        if (WRITES.has(name)) lines.push(`${String(name)} ${JSON.stringify(args)}`);
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  }) as Store;
  return { ...options, onEvent, store: watched };
}

/** Random ids by the order of their first occurrence. */
function withPlainIds(lines: readonly string[]): readonly string[] {
  const ids = new Map<string, string>();
  const plain = (id: string): string => {
    const known = ids.get(id);
    if (known !== undefined) return known;
    ids.set(id, `#${ids.size}`);
    return `#${ids.size - 1}`;
  };
  return lines.map((line) =>
    line.replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{12}\b/g, plain),
  );
}

test(`${SEEDS.length} graphs: interpreter and generated module agree`, { timeout: 20 * MINUTES }, async () => {
  // Generated modules load the code for threads on use; later calls find it loaded.
  await loadThreads();
  const tables = new Map<string, Table>();
  const interpreted: (readonly string[])[] = [];
  for (const seed of SEEDS) {
    const open: Open = (table, options) => {
      tables.set(keyOf(table), table);
      return createEngine(table, options);
    };
    interpreted.push(await transcript(open, seed));
  }
  const generated = await loadGenerated(tables.values());
  const openGenerated: Open = (table, options) => generated.get(keyOf(table))!(options);
  for (const [at, seed] of SEEDS.entries()) {
    expect({ seed, lines: await transcript(openGenerated, seed) }).toEqual({ seed, lines: interpreted[at] });
    let turn = 0;
    const inTurn: Open = (table, options) => (turn++ % 2 === 0 ? openGenerated : createEngine)(table, options);
    expect({ seed, lines: await transcript(inTurn, seed) }).toEqual({ seed, lines: interpreted[at] });
  }
  const lines = interpreted.flat();
  const count = (start: string): number => lines.filter((line) => line.startsWith(start)).length;
  // The comparison is meaningful only if much has happened.
  expect(count("save")).toBeGreaterThan(5 * SEEDS.length);
  expect(count("putWrites")).toBeGreaterThan(SEEDS.length);
  expect(count("event")).toBeGreaterThan(20 * SEEDS.length);
});
