import { describe, it } from "vitest";
import { describeStore } from "../../runtime/stores/conformance/conformance.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";

describeStore({ describe, it }, "MemoryStore", () => new MemoryStore());
