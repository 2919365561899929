import type { Table } from "../../runtime/table/table.ts";

/** The services of a graph in Restate. */
export interface ServiceNames {
  /** A virtual object for each thread: runs it, one call at a time. */
  readonly runs: string;
  /** A virtual object for each thread: its checkpoints, results and signals. */
  readonly store: string;
  /** A virtual object for each stream of events. */
  readonly events: string;
  /** Virtual objects for the parts of the long-term memory. */
  readonly memory: string;
  /** A virtual object for each thread that is copied into another store. */
  readonly copies: string;
}

export function serviceNames(graph: string): ServiceNames {
  const name = `ngraph.${escapeName(graph)}`;
  return {
    runs: `${name}.runs`,
    store: `${name}.store`,
    events: `${name}.events`,
    memory: `${name}.memory`,
    copies: `${name}.copies`,
  };
}

/**
 * The service of the bodies of nodes, which any worker executes. Each version of a graph has its own: a run that an earlier deployment
 * drives continues with the bodies of that version.
 */
export function tasksService({ name, digest }: Pick<Table, "name" | "digest">): string {
  return `ngraph.${escapeName(name)}.tasks-${digest.replace(/^.*:/, "").slice(0, 16)}`;
}

/** Names of services are ASCII letters, digits, `_`, `-` and `.`. All other characters become `-` and their code. */
function escapeName(name: string): string {
  return [...name]
    .map((char) => (/[A-Za-z0-9_]/.test(char) ? char : `-${char.codePointAt(0)!.toString(16)}-`))
    .join("");
}
