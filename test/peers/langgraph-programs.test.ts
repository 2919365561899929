/** LangGraph programs behave the same with LangGraph's own checkpointer and with ours over any store. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BaseCheckpointSaver, MemorySaver } from "@langchain/langgraph";
import { LangGraphSaver } from "../../adapters/langgraph/langgraph-saver.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { PostgresStore } from "../../runtime/stores/postgres.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { PostgresServer } from "../stores/postgres-server.ts";
import { PROGRAMS } from "./langgraph-programs.ts";
import { Transcript } from "./transcript.ts";

let server: PostgresServer;
let schemas = 0;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server.dispose());

const SAVERS: Readonly<Record<string, () => BaseCheckpointSaver>> = {
  memory: () => saverOver(new MemoryStore()),
  SQLite: () => {
    const directory = mkdtempSync(join(tmpdir(), "ngraph-langgraph-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    return saverOver(new SqliteStore(join(directory, "runs.db")));
  },
  Postgres: () => saverOver(new PostgresStore({ url: server.url, schema: `programs_${++schemas}` })),
};

function saverOver(store: MemoryStore | SqliteStore | PostgresStore): BaseCheckpointSaver {
  onTestFinished(() => store.close());
  // The package `@langchain/langgraph-checkpoint` and the declarations of this project have different types for the
  // same interface.
  return new LangGraphSaver(store) as unknown as BaseCheckpointSaver;
}

describe.each(Object.keys(PROGRAMS))("%s", (name) => {
  test.each(Object.keys(SAVERS))("over %s", async (saver) => {
    const [expected, actual] = [new Transcript(), new Transcript()];
    await PROGRAMS[name]!(new MemorySaver(), expected);
    await PROGRAMS[name]!(SAVERS[saver]!(), actual);
    expect(expected.lines.length).toBeGreaterThan(3);
    expect(actual.lines).toEqual(expected.lines);
  });
});
