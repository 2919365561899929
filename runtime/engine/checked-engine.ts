import type { Engine, EngineOptions } from "../interface/engine-options.ts";
import type { Linker } from "../program/linker.ts";
import { checkOptions, ENGINE_OPTIONS } from "../run/option-names.ts";
import { freezeTable } from "../table/check-table.ts";
import type { Table } from "../table/table.ts";
import { openEngine, type StoreCode } from "./open-engine.ts";

/** Creates an engine for any table: checks the table and the options, or connects with a host. */
export function checkedEngine(table: Table, options: EngineOptions, linker: Linker, code: StoreCode): Engine {
  checkOptions("an engine", options, ENGINE_OPTIONS);
  if (options.host !== undefined) return options.host.connect(table, options);
  freezeTable(table, "graph");
  return openEngine(table, options, linker, code);
}
