/**
 * What the grammar reads and the rest of this program can do. A feature that is missing here is refused (NG117) wherever a
 * file uses it; to open one, add it to `FEATURES`.
 */
export type Feature =
  /** `plan` blocks, and calls of plans as nodes. */
  | "plan"
  /** `test` blocks. */
  | "test";

export type Features = ReadonlySet<Feature>;

/** The features that this version has. */
export const FEATURES: Features = new Set<Feature>(["plan"]);
