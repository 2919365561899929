import type { Engine, EngineOptions, RunResult } from "../interface/engine-options.ts";
import type { LongTermMemory } from "../interface/memory.ts";
import type { DirectRun, DirectTask, RunGuarded } from "../direct/direct-run.ts";
import { runGuarded } from "../direct/direct-signals.ts";
import { takeOver } from "../direct/hand-over.ts";
import type { Table } from "../table/table.ts";
import { BARE_LINKER } from "./bare-linker.ts";
import { LOADED_CODE } from "./loaded-code.ts";
import { engineOf, openCore } from "./open-engine.ts";

/** The engine of a graph that runs directly, for all that its runs need beyond that. */
export interface DirectEngine {
  readonly engine: Engine;
  takeOver(run: DirectRun, tasks: readonly DirectTask[] | undefined): Promise<RunResult>;
  /** For runs with a signal; `undefined` if the engine runs those of the graph. */
  readonly runGuarded: RunGuarded | undefined;
}

export function openDirectEngine(table: Table, options: EngineOptions, memory: LongTermMemory): DirectEngine {
  const code = { ...LOADED_CODE, openMemory: () => memory };
  const core = openCore(table, options, BARE_LINKER, code);
  return {
    engine: engineOf(core, code),
    takeOver: (run, tasks) => takeOver(core, run, tasks),
    runGuarded: guardedFor(table),
  };
}

/** An abort ends items in the order in which the engine begins and reaches them. */
function guardedFor({ nodes }: Table): RunGuarded | undefined {
  return nodes.some(({ each }) => each !== undefined) ? undefined : runGuarded;
}
