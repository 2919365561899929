import type { Engine, EngineOptions } from "../runtime/interface/engine-options.ts";
import { createEngine as createBareEngine } from "../runtime/engine/create-engine.ts";
import type { JsonObject } from "../runtime/value/json.ts";
import type { Table } from "../runtime/table/table.ts";
import { builtinNodes } from "../stdlib/builtin-nodes.ts";

/**
 * An engine for one graph, with the built-in nodes at hand (`ask`, `print`, `http`, …; `llm` and `tool` are yours to supply
 * through `builtins`).
 *
 * @throws TableError when the table is none; RunError NG_MISSING_FUNCTION when code is missing, NG_EFFECT_DENIED when the graph
 *   may do more than `allow` says
 * @example
 * const engine = createEngine(table, { functions: { draftReply }, store: new MemoryStore() });
 * const result = await engine.run({ ticket: "…" }, { thread: "42" });
 */
export function createEngine<Input = JsonObject, Output = JsonObject, State = JsonObject>(
  table: Table,
  options: EngineOptions = {},
): Engine<Input, Output, State> {
  return createBareEngine(table, {
    ...options,
    builtins: { ...builtinNodes, ...options.builtins },
  }) as unknown as Engine<Input, Output, State>;
}
