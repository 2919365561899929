import type { Engine, EngineOptions } from "../interface/engine-options.ts";
import type { Linker } from "../program/linker.ts";
import { checkOptions, ENGINE_OPTIONS } from "../run/option-names.ts";
import { freezeGenerated } from "../table/check-format.ts";
import type { Table } from "../table/table.ts";
import { openEngine } from "./open-engine.ts";
import type { EngineParts } from "./linker-parts.ts";
import { loadThreads, LOADED_CODE } from "./loaded-code.ts";

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
  return openEngine(table, options, { ...BARE, ...(parts as Partial<Linker>) }, LOADED_CODE);
}

function missing(): never {
  throw new TypeError("the generated module belongs to another version of ngraph: compile its graph again");
}

const BARE: Linker = {
  interpret: missing,
  callGraph: missing,
  callPlan: missing,
  linkPlan: missing,
  undoEntry: missing,
  // A thread can be rolled back on request.
  rollBack: async (run) => (await loadThreads()).rollBack(run),
  finallyPart: { open: missing, save: missing },
};
