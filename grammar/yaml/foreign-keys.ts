/** The keys of other systems' files, and how to write them here. */

const CALL_KEYS = "what it calls is written under `call`, with `args` or `with`; an expression under `expr`";

/** The help for keys of other systems, by the map and the key. */
const FOREIGN_KEYS: ReadonlyMap<string, string> = new Map([
  ...["a node", "a task"].flatMap((of) =>
    ["run", "uses", "function", "tool", "action", "command", "shell", "llm", "print", "script"].map(
      (key) => [`${of}.${key}`, CALL_KEYS] as const,
    ),
  ),
  ...["needs", "depends_on", "dependsOn", "depends"].flatMap((key) => [
    [`a task.${key}`, "write `after`, with the names of the tasks"] as const,
    [`a node.${key}`, "the order of nodes is written under `edges`: `a -> b`"] as const,
  ]),
  ...["a node", "a task"].flatMap((of) => [
    ...["retry", "retries", "attempts"].map((key) => [`${of}.${key}`, "the number of attempts is `tries`"] as const),
    ...["value", "expression", "code", "is"].map(
      (key) => [`${of}.${key}`, "an expression is written under `expr`"] as const,
    ),
    ...["output", "outputs", "result", "writes", "save", "assign", "as"].map(
      (key) => [`${of}.${key}`, "the channel that takes the result is `into`"] as const,
    ),
    ...["input", "inputs", "params", "parameters", "arguments", "config"].map(
      (key) =>
        [`${of}.${key}`, "arguments are written under `args` as expressions, or under `with` as plain data"] as const,
    ),
    ...["dir", "directory", "workdir", "working_directory", "working-directory"].map(
      (key) => [`${of}.${key}`, "the folder is `cwd`, an expression: `cwd: '\"packages/web\"'`"] as const,
    ),
    [`${of}.environment`, "variables are set under `env`"] as const,
    ...["matrix", "strategy", "foreach", "forEach", "loop", "each", "with_items"].map(
      (key) => [`${of}.${key}`, "it runs once for each item with `for`: `for: { v: xs }`"] as const,
    ),
  ]),
  ...["next", "then", "to", "goto", "edges", "after", "transitions", "on"].map(
    (key) => [`a node.${key}`, "the order of nodes is written under `edges`: `a -> b`"] as const,
  ),
  ...["if", "condition", "when"].map(
    (key) => [`a node.${key}`, "a condition stands at an edge: `{ from: start, to: a, when: x > 3 }`"] as const,
  ),
  ...["if", "condition", "only_if"].map((key) => [`a task.${key}`, "a condition is written under `when`"] as const),
  ...["deps", "dependencies", "requires", "before"].map(
    (key) => [`a task.${key}`, "write `after`, with the names of the tasks"] as const,
  ),
  ["a task.next", "write `after` on the task that runs later"],
  ...["cases", "case", "branches", "conditions", "switch", "routes"].map(
    (key) =>
      [
        `an edge.${key}`,
        "ways by a value are `match: x` with `arms`, ways by conditions one edge each with `when`",
      ] as const,
  ),
  ...["if", "condition", "cond"].map((key) => [`an edge.${key}`, "a condition is written under `when`"] as const),
  ...["source", "src"].map((key) => [`an edge.${key}`, "write `from`"] as const),
  ...["target", "dest", "destination", "then", "next"].map((key) => [`an edge.${key}`, "write `to`"] as const),
  ...["else", "default"].map(
    (key) => [`an edge.${key}`, "the edge for all other cases has `otherwise: true`"] as const,
  ),
  ...["start", "entry", "entrypoint", "entry_point", "begin", "startAt"].map(
    (key) => [`a graph.${key}`, "the first node is named by an edge: `start -> a`"] as const,
  ),
  ["a graph.steps", "the steps of a graph are `nodes`"],
  ["a graph.name", "the name follows the kind: `graph: main`"],
  ["a graph.flow", "the order of nodes is written under `edges`: `a -> b`"],
  ["a graph.channels", "channels are written by their roles: `input`, `output`, `state`"],
  ["a channel.reducer", "write `reduce`"],
  ["a channel.initial", "write `default`"],
  ["a channel.value", "write `default`"],
  ["a plan.nodes", "the steps of a plan are `tasks`"],
  ["a plan.edges", "a plan has no edges: write `after` on the task that runs later"],
  ["a plan.steps", "the steps of a plan are `tasks`"],
  ["a plan.jobs", "the steps of a plan are `tasks`"],
  ["a graph.tasks", "the steps of a graph are `nodes`; a `plan` has tasks"],
  ["a document.name", "the name follows the kind of the document: `graph: main`"],
]);

/** The help for a key of another system; `of` names the map as messages do: "a node". */
export function foreignKeyHelp(of: string, key: string): string | undefined {
  return FOREIGN_KEYS.get(`${of}.${key}`);
}
