import assert from "node:assert/strict";
import { compile } from "ngraph";
import { MemoryStore } from "ngraph/runtime";
import { createService } from "ngraph/serve";

const { table } = compile(`graph add { input n: int  output m: int  node a = n + 1 into m  start -> a }`, {
  path: "add.ngraph",
});
assert.ok(table);

const service = createService({ graphs: [{ table }], store: new MemoryStore(), tokens: { shop: "secret" } });
// Any host that calls `fetch` can serve it: `Bun.serve(service)`, `serve(service)` of `@hono/node-server`, …
const refused = await service.fetch(new Request("http://localhost/graphs"));
assert.equal(refused.status, 401);
await service.drain();
