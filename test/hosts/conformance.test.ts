/** The promises of execution, on every host. */
import { describe, it } from "vitest";
import { createEngine } from "../../api/create-engine.ts";
import { describeHost } from "../../hosts/conformance/conformance.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";

describeHost({ describe, it }, "embedded", (table, functions) => ({
  engine: createEngine(table, { functions, store: new MemoryStore() }),
}));
