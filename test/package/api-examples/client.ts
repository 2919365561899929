import assert from "node:assert/strict";
import { compile } from "ngraph";
import { createClient } from "ngraph/client";
import { MemoryStore } from "ngraph/runtime";
import { createService } from "ngraph/serve";

const { table } = compile(`graph add { input n: int  output m: int  node a = n + 1 into m  start -> a }`, {
  path: "add.ngraph",
});
assert.ok(table);
const service = createService({ graphs: [{ table }], store: new MemoryStore(), tokens: { shop: "secret" } });

// `fetch` is only needed here, where the service runs in the same process.
const client = createClient({
  url: "http://localhost",
  token: "secret",
  fetch: async (input, init) => service.fetch(new Request(input, init)),
});
const result = await client.graph("add").run({ n: 41 }, { thread: "t" });
assert.equal(result.status, "completed");
assert.deepEqual(result.output, { m: 42 });
await service.drain();
