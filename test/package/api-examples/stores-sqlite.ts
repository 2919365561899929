import assert from "node:assert/strict";
import { compile, createEngine } from "ngraph";
import { SqliteStore } from "ngraph/stores/sqlite";

const { table } = compile(`graph count { output n: int = 0  node a = n + 1 into n  start -> a }`, {
  path: "count.ngraph",
});
assert.ok(table);

const store = new SqliteStore(":memory:"); // usually the path of a file
const engine = createEngine(table, { store });
await engine.run({}, { thread: "t" });
assert.deepEqual((await engine.state("t"))?.state, { n: 1 });
store.close();
