import assert from "node:assert/strict";
import { MemoryStore } from "ngraph/runtime";
import { storeConformance } from "ngraph/stores/conformance";

// One case for each promise of a store. `describeStore` registers them with a test runner.
for (const { name, run } of storeConformance.slice(0, 10)) {
  const lacking = await run(() => ({ store: new MemoryStore() }));
  assert.deepEqual(lacking, [], name);
}
