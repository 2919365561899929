/**
 * A chat: many turns on one thread. The bytes of 400 turns with two messages of 200 bytes each, by reducer; and whether a whole turn
 * costs more after many turns. For an imported reducer, its own time is beside that of the turn.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile } from "../compiler/compile.ts";
import { memoryHost } from "../compiler/load/host.ts";
import { createEngine } from "../runtime/engine/create-engine.ts";
import type { Store } from "../runtime/interface/store.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import { PostgresStore } from "../runtime/stores/postgres.ts";
import { SqliteStore } from "../runtime/stores/sqlite.ts";
import type { Table } from "../runtime/table/table.ts";
import { PostgresServer } from "../test/stores/postgres-server.ts";

const BYTE_TURNS = 400;
/** The turns that are measured: the last 100 before each. */
const MEASURED = [200, 1000, 4000];

interface Message {
  readonly id: string;
  readonly text: string;
}
const functions = {
  answer: (n: number): readonly Message[] => [message(`q${n}`), message(`a${n}`)],
  addMessages: (now: readonly Message[], more: readonly Message[]): readonly Message[] => [
    ...new Map([...now, ...more].map((one) => [one.id, { ...one }])).values(),
  ],
};

function message(id: string): Message {
  return { id, text: id.padEnd(200, " the quick brown fox jumps over the lazy dog") };
}

function chatTable(reducer: string): Table {
  const nodes = `export type Message = { id: string; text: string };
    export const answer = (n: number): Message[] => [];
    export const addMessages = (now: Message[], more: Message[]): Message[] => [];`;
  const text = `import { answer, addMessages } from "./nodes.ts"
    type Message = { id: string, text: string }
    graph chat { input n: int  memory messages: Message[] = [] reduce ${reducer}
      node reply = answer(n) into messages  start -> reply }`;
  const { table, diagnostics } = compile(text, { path: "bench.ngraph", host: memoryHost({ "nodes.ts": nodes }) });
  if (table === undefined) throw new Error(diagnostics.map(({ message: each }) => each).join("\n"));
  return table;
}

const directory = mkdtempSync(join(tmpdir(), "ngraph-bench-"));
const server = await PostgresServer.start();
try {
  for (const reducer of ["append", "merge", "addMessages"]) {
    const path = join(directory, `${reducer}.db`);
    const store = new SqliteStore({ path, journal: "wal" });
    const engine = createEngine(chatTable(reducer), { functions, store });
    for (let n = 0; n < BYTE_TURNS; n++) await engine.run({ n }, { thread: "chat" });
    store.close();
    console.log(`sqlite, ${BYTE_TURNS} turns, ${reducer}: ${(statSync(path).size / 1e6).toFixed(2)} MB`);
  }
  await growth("memory", () => new MemoryStore());
  await growth("sqlite wal", () => new SqliteStore({ path: join(directory, "growth.db"), journal: "wal" }));
  await growth("postgres", () => new PostgresStore({ url: server.url, schema: "growth" }));
} finally {
  rmSync(directory, { recursive: true, force: true });
  await server.dispose();
}

async function growth(name: string, open: () => Store): Promise<void> {
  for (const reducer of ["append", "merge", "addMessages"]) {
    const store = open();
    let inReducer = 0;
    const addMessages = (now: readonly Message[], more: readonly Message[]): readonly Message[] => {
      const start = processorTime();
      const messages = functions.addMessages(now, more);
      inReducer = processorTime() - start;
      return messages;
    };
    const engine = createEngine(chatTable(reducer), { functions: { ...functions, addMessages }, store });
    const whole: number[] = [];
    const own: number[] = [];
    for (let n = 0; n < MEASURED.at(-1)!; n++) {
      const start = processorTime();
      await engine.run({ n }, { thread: reducer });
      whole.push(processorTime() - start);
      own.push(inReducer);
    }
    await store.close?.();
    const shown = (times: readonly number[], turn: number): string => median(times.slice(turn - 100, turn)).toFixed(2);
    for (const turn of MEASURED) {
      const part = reducer === "addMessages" ? `, of it ${shown(own, turn)} in the reducer` : "";
      console.log(`${name}, ${reducer}: ${shown(whole, turn)} ms CPU for a turn after ${turn}${part}`);
    }
  }
}

function processorTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
