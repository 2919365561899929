/** The commands that completion scripts run for names, and the endings of graph files. */

/** As `isGraphFile` reads them. */
export const GRAPH_ENDINGS = [".ngraph", ".yaml", ".yml"] as const;

/** Prints the names of the graphs and plans of files, in both spellings. */
export const GRAPH_NAMES = `sed -nE 's/^(graph|plan):?[[:space:]]+([A-Za-z_][A-Za-z0-9_]*).*/\\2/p'`;

/** Prints the ids of the threads of the store of the current directory, the newest first. */
export const THREAD_IDS = `ngc threads --no-color 2>/dev/null | sed -e 1d -e 's/  .*//'`;
