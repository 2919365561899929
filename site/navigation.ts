/** The order of the pages in the site. Each page of `docs/` has a place; a test compares the two. */
export interface Group {
  readonly text: string;
  /** Names of pages without `.md`, in reading order. */
  readonly pages: readonly string[];
}

export const GROUPS: readonly Group[] = [
  { text: "Begin", pages: ["guide", "concepts", "comparison", "side-by-side", "examples/index"] },
  { text: "Language", pages: ["language", "yaml", "formatting", "grammar", "grammar-ebnf"] },
  { text: "Checks", pages: ["proofs", "diagnostics/index", "errors"] },
  { text: "Plans", pages: ["plans"] },
  { text: "Models and agents", pages: ["models", "tools", "agents", "evaluation"] },
  { text: "Durability", pages: ["durability", "runs", "stores", "langgraph", "execution"] },
  { text: "Deployment", pages: ["deployment", "serving", "hosts", "threat-model"] },
  { text: "Tools", pages: ["editors", "playground", "importing"] },
  { text: "Reference", pages: ["api/index", "performance", "deviations", "architecture", "changelog"] },
];
