/** The outputs and the state of graphs with many channels, for which the module has no code. */
import type { RunResult } from "../interface/engine-options.ts";
import type { Table } from "../table/table.ts";
import type { Json, JsonObject } from "../value/json.ts";

/** The code of such results, which the modules of other graphs leave out. */
export interface RecordParts {
  output(table: Table, state: readonly Json[]): JsonObject;
  /** The result, whose state is built when it is read. */
  withState(result: RunResult, table: Table, state: readonly Json[]): RunResult;
}

export const records: RecordParts = {
  output: (table, state) => recordOf(table, state, true),
  withState(result, table, state) {
    let known: JsonObject | undefined;
    const values = (): JsonObject => (known ??= recordOf(table, state, false));
    return Object.defineProperty(result, "state", { get: values, enumerable: true });
  },
};

function recordOf({ channels }: Table, state: readonly Json[], isOutput: boolean): JsonObject {
  return Object.fromEntries(
    channels.flatMap(({ name, role }, at) => (isOutput && role !== "output" ? [] : [[name, state[at]!] as const])),
  );
}
