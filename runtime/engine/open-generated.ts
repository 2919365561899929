import type { Engine, EngineOptions } from "../interface/engine-options.ts";
import type { Linker } from "../program/linker.ts";
import { checkOptions, ENGINE_OPTIONS } from "../run/option-names.ts";
import { freezeGenerated } from "../table/freeze-generated.ts";
import type { Table } from "../table/table.ts";
import { openEngine } from "./open-engine.ts";
import type { EngineParts } from "./linker-parts.ts";
import { BARE_LINKER } from "./bare-linker.ts";
import { LOADED_CODE } from "./loaded-code.ts";

/**
 * Creates an engine for the table of a generated module. It consists of the code that every run needs; the module passes what
 * else its table uses. The code for threads is loaded when the engine has a store.
 *
 * @param parts the code that the table uses
 */
export function openGenerated(table: Table, options: EngineOptions, parts: EngineParts): Engine {
  checkOptions("an engine", options, ENGINE_OPTIONS);
  if (options.host !== undefined) return options.host.connect(table, options);
  freezeGenerated(table);
  return openEngine(table, options, { ...BARE_LINKER, ...(parts as Partial<Linker>) }, LOADED_CODE);
}
