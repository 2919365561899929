import assert from "node:assert/strict";
import { compile } from "ngraph";
import { createEngine, MemoryStore } from "ngraph/runtime";

// A program usually imports the table: `ngc compile`, or a plugin for its bundler.
const { table } = compile(
  `graph approval {
    input  amount: int
    output verdict: "yes" | "no"
    node sure = ask(\`Pay \${amount}?\`) into verdict
    start -> sure
  }`,
  { path: "approval.ngraph" },
);
assert.ok(table);

const engine = createEngine(table, { store: new MemoryStore() });
const paused = await engine.run({ amount: 5 }, { thread: "order-1" });
assert.equal(paused.status, "paused");

const done = await engine.resume("order-1", { answer: "yes" });
assert.deepEqual({ ...done.output }, { verdict: "yes" });
assert.equal((await engine.history("order-1"))[0]?.status, "completed");
