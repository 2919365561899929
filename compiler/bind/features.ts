/**
 * Declarations that the grammar reads and that not every version of the compiler supports. A file that uses one that is
 * not in `FEATURES` is refused (NG117).
 */
export type Feature =
  /** `plan` blocks, and calls of plans as nodes. */
  | "plan"
  /** `test` blocks. */
  | "test";

export type Features = ReadonlySet<Feature>;

/** The features that this version has. */
export const FEATURES: Features = new Set<Feature>(["plan", "test"]);
