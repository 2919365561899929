import { findSimilar } from "../../diagnostics/similar.ts";
import type { Table } from "../../runtime/table/table.ts";
import { CommandError } from "../process/command-error.ts";
import { allTables } from "../sources/called-tables.ts";
import type { ExecutionOptions } from "./execution-options.ts";
import type { LimitFlags } from "./parse-values.ts";

/** Refuses limits of graphs that a server does not have, in time: each run would be refused. @throws CommandError */
export function refuseUnknownLimits(
  { maxSteps, maxTokens, maxCost }: Pick<ExecutionOptions, "maxSteps" | "maxTokens" | "maxCost">,
  served: readonly Table[],
): void {
  const names = [...new Set(served.flatMap((table) => allTables(table).map(({ name }) => name)))];
  for (const [flag, limits] of [
    ["--max-steps", maxSteps],
    ["--max-tokens", maxTokens],
    ["--max-cost", maxCost],
  ] as const) {
    const name = Object.keys(limits?.graphs ?? {}).find((each) => !names.includes(each));
    if (name === undefined) continue;
    const similar = findSimilar(name, names);
    throw new CommandError(`${flag} names \`${name}\`, which is no graph that is served or called`, {
      help: similar === undefined ? `the graphs are ${names.slice(0, 20).join(", ")}` : `did you mean \`${similar}\`?`,
    });
  }
}

/** The limits of a graph and of those that it calls: the other ones are for other graphs of the server. */
export function limitsOfServed({ graphs, ...own }: LimitFlags, table: Table): LimitFlags {
  const names = new Set(allTables(table).map(({ name }) => name));
  return { ...own, graphs: Object.fromEntries(Object.entries(graphs).filter(([name]) => names.has(name))) };
}
