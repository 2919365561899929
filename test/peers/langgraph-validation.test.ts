/** LangGraph's own suite for checkpointers, run on `LangGraphSaver` over each of our stores. */
import { rmSync } from "node:fs";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deltaChannelHistoryTests, validate } from "@langchain/langgraph-checkpoint-validation";
import { LangGraphSaver } from "../../adapters/langgraph/langgraph-saver.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { PostgresServer } from "../stores/postgres-server.ts";

let server: PostgresServer | undefined;
let schemas = 0;
const directories: string[] = [];
const stores = new WeakMap<LangGraphSaver, Store>();

function saverOver(store: Store): LangGraphSaver {
  const saver = new LangGraphSaver(store);
  stores.set(saver, store);
  return saver;
}

async function closeStore(saver: LangGraphSaver): Promise<void> {
  await stores.get(saver)?.close?.();
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}

const initializers = [
  { checkpointerName: "LangGraphSaver over memory", createCheckpointer: () => saverOver(new MemoryStore()) },
  {
    checkpointerName: "LangGraphSaver over SQLite",
    createCheckpointer: () => {
      const directory = mkdtempSync(join(tmpdir(), "ngraph-langgraph-"));
      directories.push(directory);
      return saverOver(new SqliteStore(join(directory, "runs.db")));
    },
    destroyCheckpointer: closeStore,
  },
  {
    checkpointerName: "LangGraphSaver over Postgres",
    beforeAllTimeout: 60_000,
    beforeAll: async () => {
      server ??= await PostgresServer.start();
    },
    createCheckpointer: async () =>
      saverOver(new PostgresStore({ url: server!.url, schema: `langgraph_${++schemas}` })),
    destroyCheckpointer: closeStore,
  },
];

for (const initializer of initializers) {
  validate(initializer);
  deltaChannelHistoryTests(initializer);
}

afterAll(async () => server?.stop());
