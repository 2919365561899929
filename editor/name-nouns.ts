/** How messages about names say what a name is, and where. */
import type { Span } from "../diagnostics/source.ts";
import type { NameKind } from "./names.ts";
import type { FileNames } from "./name-index.ts";

export const NOUNS: Readonly<Record<NameKind, string>> = {
  function: "a function",
  graph: "a graph",
  plan: "a plan",
  type: "a type",
  constant: "a constant",
  secret: "a secret",
  channel: "a channel",
  derived: "a derived name",
  node: "a node",
  task: "a task",
  pool: "a pool",
  variable: "a variable",
  builtin: "a built-in node",
  library: "a function of the library",
};

/** `support.ngraph:3:8`. */
export function placeOf({ path, source }: Pick<FileNames, "path" | "source">, { start }: Span): string {
  const { line, column } = source.position(start);
  return `${path}:${line}:${column}`;
}
