import type { Table } from "../../runtime/table/table.ts";

/** The graphs of runs whose bytes are counted. Pairs have 10 and 60 nodes. */
export interface CountedTables {
  readonly three: Table;
  readonly chain: readonly [Table, Table];
  readonly fan: readonly [Table, Table];
}

/** Bytes by what allocates them. */
export type AllocatedBytes = Readonly<Record<CountedName, number>>;

export type CountedName =
  | "a run of three nodes"
  | "a step in a chain"
  | "a node beside others"
  | "a step with a signal"
  | "a step with a listener of events"
  | "a step with a store in memory"
  | "a step without the engine";
