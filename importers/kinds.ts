/** The kinds of sources that can be imported. */
export const SOURCE_KINDS = [
  "amazon-states",
  "kahn",
  "langgraph-gen",
  "package-json",
  "turbo",
  "neograph",
  "langgraph-js",
] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];
