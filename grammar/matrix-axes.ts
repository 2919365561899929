import type { Matrix, MatrixAxis } from "./ast.ts";

/** The variables of a matrix, with their values. */
export function axesOf(matrix: Matrix): readonly MatrixAxis[] {
  return [matrix, ...(matrix.others ?? [])];
}
