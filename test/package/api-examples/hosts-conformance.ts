import assert from "node:assert/strict";
import { hostConformance } from "ngraph/hosts/conformance";
import { createEngine, MemoryStore } from "ngraph/runtime";

// One case for each promise about execution. `describeHost` registers them with a test runner.
for (const { name, run } of hostConformance.slice(0, 5)) {
  assert.equal(
    await run((table, functions) => ({ engine: createEngine(table, { functions, store: new MemoryStore() }) })),
    true,
    name,
  );
}
