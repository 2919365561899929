import type { Engine, EngineOptions } from "../interface/engine-options.ts";
import { LINKER } from "../plan/link-calls.ts";
import type { Table } from "../table/table.ts";
import type { JsonObject } from "../value/json.ts";
import { openMemory } from "../memory/long-term-memory.ts";
import { checkedEngine } from "./checked-engine.ts";
import type { StoreCode } from "./open-engine.ts";
import { THREAD_OPERATIONS } from "./thread-operations.ts";

/**
 * Creates an engine for a table: checks the table, links it with its code once, and serves any number of runs.
 *
 * @throws TableError NG_BAD_TABLE; RunError NG_MISSING_FUNCTION with a list of all missing code, NG_EFFECT_DENIED
 * @example
 * const engine = createEngine(table, { functions: { search }, store: new MemoryStore() });
 * const { output } = await engine.run({ question: "…" });
 */
export function createEngine<Input = JsonObject, Output = JsonObject, State = JsonObject>(
  table: Table,
  options: EngineOptions = {},
): Engine<Input, Output, State> {
  // The caller declares the types of inputs and outputs; at run time both are checked records.
  return checkedEngine(table, options, LINKER, CODE) as unknown as Engine<Input, Output, State>;
}

const CODE: StoreCode = { threads: () => THREAD_OPERATIONS, openMemory };
