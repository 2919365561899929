import assert from "node:assert/strict";
import { compile } from "ngraph/compiler";
import { restate, serveRestate } from "ngraph/hosts/restate";
import { createEngine } from "ngraph/runtime";

const { table } = compile("graph g { output n: int  node a = 1 + 1 into n  start -> a }", { path: "g.ngraph" });
assert.ok(table);

// A worker: `ngc deploy` tells Restate its address.
const worker = await serveRestate({ tables: [table], restate: "http://127.0.0.1:8080" });
assert.ok(worker.services.length > 0);
await worker.listen(0, "127.0.0.1");

// A client: its runs are those of Restate, so it needs no code of the nodes.
const engine = createEngine(table, { host: restate("http://127.0.0.1:8080") });
assert.equal(engine.table.name, "g");

await worker.close();
