/**
 * The words of the language. Eight are reserved; every other word is an identifier that the parser takes for a
 * keyword only where the grammar expects one, so that `node limit = …` and `input -> draft` stay possible.
 */

/** Words that are never an identifier, except as a field name after `.` or before `:`. */
export const RESERVED_WORDS = ["true", "false", "null", "match", "else", "in", "when", "otherwise"] as const;

/** Words that begin an item of a file. */
export const ITEM_WORDS: ReadonlySet<string> = new Set(["import", "type", "secret", "const", "graph", "plan", "test"]);

/** Words that declare a channel, as in `state name: type`. */
export const CHANNEL_WORDS: ReadonlySet<string> = new Set(["input", "output", "state", "memory", "config"]);

/** Words that begin a statement of a graph. An edge begins with the name of a node, or with `all`. */
export const GRAPH_WORDS: ReadonlySet<string> = new Set([
  ...CHANNEL_WORDS,
  "derive",
  "node",
  "limit",
  "max",
  "defaults",
  "assert",
  "drop",
]);

/** Words that begin a statement of a plan. */
export const PLAN_WORDS: ReadonlySet<string> = new Set([
  ...CHANNEL_WORDS,
  "task",
  "finally",
  "max",
  "order",
  "pool",
  "on",
]);

/** Words that begin a line of a test. */
export const TEST_WORDS: ReadonlySet<string> = new Set(["given", "mock", "answer", "signal", "expect"]);

/** Words that begin a policy, in the order in which help texts list them. */
export const POLICY_WORDS: ReadonlySet<string> = new Set([
  "tries",
  "timeout",
  "within",
  "cache",
  "max",
  "allow",
  "waits",
  "goes",
  "was",
  "pause",
  "idempotent",
  "undo",
  "touches",
  "alone",
  "done",
  "pool",
  "estimate",
  "cwd",
  "env",
  "worktree",
  "outputs",
  "interactive",
]);

/** Words that may follow an expression. An expression ends before them. */
export const CLAUSE_WORDS: ReadonlySet<string> = new Set([
  ...GRAPH_WORDS,
  ...PLAN_WORDS,
  ...TEST_WORDS,
  ...POLICY_WORDS,
  ...ITEM_WORDS,
  "reduce",
  "for",
  "into",
  "after",
  "then",
  "if",
  "at",
]);
