import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Digest, Table } from "../../runtime/table/table.ts";
import { canonicalParts } from "./canonical-json.ts";
import { sha256Of } from "./sha256-parts.ts";

/**
 * The digest of a table: SHA-256 of its canonical JSON without `digest` and `debug` (1.1). Called graphs are
 * represented by their own digests, which must be right, so that a graph with many callers is hashed once.
 */
export function tableDigest(table: Omit<Table, "digest">): Digest {
  const { debug: _debug, digest: _digest, graphs, plans, ...meaning } = table as Table;
  const called = plans === undefined ? {} : { plans: digestsOf(plans) };
  return `sha256:${sha256Of(canonicalParts({ ...meaning, graphs: digestsOf(graphs), ...called }))}`;
}

/**
 * The digest of a plan's table, computed like that of a graph. Excludes `ranks`, which only affect the duration of a
 * run.
 */
export function planDigest(table: Omit<PlanTable, "digest">): Digest {
  const { debug: _debug, digest: _digest, ranks: _ranks, graphs, plans, ...meaning } = table as PlanTable;
  return `sha256:${sha256Of(canonicalParts({ ...meaning, graphs: digestsOf(graphs), plans: digestsOf(plans) }))}`;
}

function digestsOf(tables: readonly { readonly digest: Digest }[]): readonly Digest[] {
  return tables.map(({ digest }) => digest);
}
