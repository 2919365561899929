import assert from "node:assert/strict";
import { compile, createEngine } from "ngraph";
import { traceRuns } from "ngraph/opentelemetry";

const { table } = compile(`graph g { output n: int  node a = 1 + 1 into n  start -> a }`, { path: "g.ngraph" });
assert.ok(table);

// Spans go to the provider that the program has registered with `@opentelemetry/api`; without one they are dropped.
const engine = createEngine(table, { onEvent: traceRuns({ table }) });
assert.equal((await engine.run({})).status, "completed");
