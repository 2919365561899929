import { TableError } from "../interface/errors.ts";

/** A place inside a value: names of fields and positions in lists, from the outside in. */
export type ValuePath = readonly (string | number)[];

/** A problem of a value, and its place. */
export class ShapeProblem extends Error {
  readonly path: ValuePath;

  constructor(path: ValuePath, message: string) {
    super(message);
    this.name = "ShapeProblem";
    this.path = path;
  }
}

/** A complete table inside another one, which `checkShape` leaves to its caller. */
export interface InnerTable {
  readonly kind: "graph" | "plan";
  readonly value: unknown;
  readonly path: ValuePath;
}

/** A problem as an error with its place; every other error as it is. */
export function asTableError(error: unknown): unknown {
  if (!(error instanceof ShapeProblem)) return error;
  const place = error.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${part}`)).join("");
  return new TableError("NG_BAD_TABLE", `\`table${place}\`: ${error.message}`, { cause: error });
}
