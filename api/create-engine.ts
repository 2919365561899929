import type { Engine, EngineOptions } from "../runtime/interface/engine-options.ts";
import { checkedEngine } from "../runtime/engine/checked-engine.ts";
import { LOADED_CODE } from "../runtime/engine/loaded-code.ts";
import { LOADED_LINKER } from "../runtime/engine/loaded-linker.ts";
import type { JsonObject } from "../runtime/value/json.ts";
import type { Table } from "../runtime/table/table.ts";
import { loadedNodes } from "../stdlib/loaded-nodes.ts";

/**
 * An engine for one graph, with the built-in nodes (`ask`, `print`, `http`, …). Pass `llm` and `tool` in `builtins`.
 *
 * @throws TableError when the table is not valid; RunError NG_MISSING_FUNCTION when code is missing, NG_EFFECT_DENIED when
 *   the graph has effects that `allow` does not permit
 * @example
 * const engine = createEngine(table, { functions: { draftReply }, store: new MemoryStore() });
 * const result = await engine.run({ ticket: "…" }, { thread: "42" });
 */
export function createEngine<Input = JsonObject, Output = JsonObject, State = JsonObject>(
  table: Table,
  options: EngineOptions = {},
): Engine<Input, Output, State> {
  const all = { ...options, builtins: { ...loadedNodes, ...options.builtins } };
  return checkedEngine(table, all, LOADED_LINKER, LOADED_CODE) as unknown as Engine<Input, Output, State>;
}
