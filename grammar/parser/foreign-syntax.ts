/** Syntax of other languages, and its equivalent in this one. */
import type { BinaryOperator } from "../ast.ts";

/** `xs.includes(x)`: methods whose function has another name. All other names stay. */
export const METHODS: ReadonlyMap<string, string> = new Map([
  ["includes", "contains"],
  ["has", "contains"],
  ["toLowerCase", "lower"],
  ["toUpperCase", "upper"],
  ["toSorted", "sort"],
  ["size", "len"],
  ["replaceAll", "replace"],
  ["substring", "slice"],
  ["toReversed", "reverse"],
  ["stringify", "toJson"],
  ["parse", "fromJson"],
  ["test", "matches"],
]);

/** `Math.max(a, b)`: objects that only hold functions. */
export const NAMESPACES: ReadonlySet<string> = new Set(["Math", "Object", "Array", "String", "Number", "JSON"]);

/** Methods that take a function: a comprehension replaces them. */
export const FUNCTION_METHODS: ReadonlySet<string> = new Set([
  "map",
  "filter",
  "forEach",
  "find",
  "some",
  "every",
  "reduce",
  "flatMap",
]);

/** Methods that change a list: a list is built from its parts. */
export const LIST_METHODS: ReadonlyMap<string, string> = new Map([
  ["push", "[...xs, x]"],
  ["append", "[...xs, x]"],
  ["unshift", "[x, ...xs]"],
  ["concat", "[...xs, ...ys]"],
  ["extend", "[...xs, ...ys]"],
]);

/** Objects that make requests elsewhere: `http.post(…)`. */
export const HTTP_CLIENTS: ReadonlySet<string> = new Set(["http", "axios", "requests", "fetch", "ky", "got"]);
export const HTTP_METHODS: ReadonlySet<string> = new Set(["get", "post", "put", "patch", "delete", "head", "options"]);

/** Operators that are words elsewhere. */
export const WORD_OPERATORS: ReadonlyMap<string, BinaryOperator> = new Map([
  ["and", "&&"],
  ["or", "||"],
]);

/** Policies by their names in other engines. */
export const POLICY_ALIASES: ReadonlyMap<string, string> = new Map([
  ["retries", "tries"],
  ["retry", "tries"],
  ["attempts", "tries"],
  ["deadline", "timeout"],
  ["memoize", "cache"],
  ["exclusive", "alone"],
  ["concurrency", "max parallel"],
  ["touch", "touches"],
  ["writes", "touches"],
  ["reads", "touches read"],
  ["goto", "goes"],
]);

/** Generic types of other languages, and the types that replace them. */
export const GENERIC_TYPES: ReadonlyMap<string, "list" | "map" | "plain"> = new Map([
  ["Array", "list"],
  ["ReadonlyArray", "list"],
  ["List", "list"],
  ["list", "list"],
  ["Set", "list"],
  ["Record", "map"],
  ["Map", "map"],
  ["Dict", "map"],
  ["dict", "map"],
  ["Promise", "plain"],
  ["Partial", "plain"],
  ["Optional", "plain"],
]);

/** Other words for `else` in front of an arm. */
export const ELSE_WORDS: ReadonlySet<string> = new Set(["default", "_"]);

/** Words that begin statements in other languages, and how to write the statement here. */
export const STATEMENT_HINTS: ReadonlyMap<string, string> = new Map([
  ["var", "a value that changes is a channel: `state a: int = 0`; what computes it is a node: `node b = a + 1 into a`"],
  ["const", "a name for an expression is written `derive b = a + 1`; a constant is declared beside the graph"],
  [
    "let",
    "a name for an expression is written `derive b = a + 1`; a value that changes is a channel: `state a: int = 0`",
  ],
  ["function", 'functions are written in TypeScript and imported: `import { f } from "./nodes.ts"`'],
  ["def", 'functions are written in TypeScript and imported: `import { f } from "./nodes.ts"`'],
  ["return", "the result of a graph is what its nodes write to its `output` channels"],
  ["if", "choices are edges: `a -> b when x > 3`, `a -> c otherwise`"],
  ["switch", "choices are edges: `a -> match x { 1 -> b  else -> c }`"],
  ["while", "loops are edges that lead back: `a -> a when x < 3`"],
  ["edge", "an edge has no word of its own: `a -> b`"],
  ["else", "the edge for all other cases: `a -> c otherwise`"],
  ["elif", "choices are edges: `a -> b when x > 3`, `a -> c otherwise`"],
  ["then", "choices are edges: `a -> b when x > 3`, `a -> c otherwise`"],
  ["loop", "loops are edges that lead back: `a -> a when x < 3`"],
  ["repeat", "loops are edges that lead back: `a -> a when x < 3`"],
  ["parallel", "nodes run in parallel when one edge leads to all of them: `start -> a, b`"],
  ["edges", "an edge is a statement of the graph, without a block: `a -> b`"],
  ["nodes", "each node is a statement of the graph, without a block: `node a = f(x) into y`"],
  ["tasks", 'each task is a statement of the plan, without a block: `task a = shell("…")`'],
  ["inputs", "each input is a statement: `input a: string`"],
  ["outputs", "each output is a statement: `output a: string`"],
  ["states", 'each channel is a statement: `state a: string = ""`'],
  ["raise", 'a node fails with `fail("…")`'],
  ["throw", 'a node fails with `fail("…")`'],
  ["break", "a loop ends where an edge leaves it: `a -> b when x > 3`, `a -> a otherwise`"],
  ["continue", "a loop ends where an edge leaves it: `a -> b when x > 3`, `a -> a otherwise`"],
  ["subgraph", "a graph stands beside others and is called in a node: `node a = part(x) into y`"],
  ["try", "a failed node takes its error edge: `a -> b on error`"],
  ["catch", "a failed node takes its error edge: `a -> b on error`"],
  ["set", "a node writes to a channel: `node a = x + 1 into y`"],
  ["goto", "what follows a node is written as an edge: `a -> b`"],
  ["to", "what a node writes follows `into`: `node a = f(x) into y`"],
  ["as", "what a node writes follows `into`: `node a = f(x) into y`"],
  ["is", "values are compared with `==` and `!=`: `x == true`, `x != null`"],
  ["string", 'a channel is declared by its role: `input a: string`, `state a: string = ""`'],
  ["int", "a channel is declared by its role: `input a: int`, `state a: int = 0`"],
  ["bool", "a channel is declared by its role: `input a: bool`, `state a: bool = false`"],
  ["step", "a step is written `node a = …`, and what follows it `a -> b`"],
]);

/** The same for statements of plans, where they differ. */
export const PLAN_HINTS: ReadonlyMap<string, string> = new Map([
  ["matrix", "a task runs once for each value: `task a = f(v) for v in [1, 2]`"],
  ["strategy", "a task runs once for each value: `task a = f(v) for v in [1, 2]`"],
  ["parallel", "tasks run in parallel unless one comes `after` another; `max parallel 4` bounds how many"],
  ["concurrency", "tasks run in parallel unless one comes `after` another; `max parallel 4` bounds how many"],
  ["node", "a step of a plan is a task: `task a = …`"],
  ["step", "a step of a plan is a task: `task a = …`"],
  ["job", "a step of a plan is a task: `task a = …`"],
  ["env", 'variables are set at a task: `task a = shell("…") { env { A: "b" } }`'],
  ["cwd", 'the folder is set at a task: `task a = shell("…") { cwd "web" }`'],
  ["if", "a task runs on a condition with `when`: `task b = f() after a when x > 3`"],
  ["else", "a task runs on a condition with `when`: `task b = f() after a when x > 3`"],
  ["loop", "a task runs once for each value: `task a = f(v) for v in xs`; a loop needs a graph"],
  ["while", "a task runs once for each value: `task a = f(v) for v in xs`; a loop needs a graph"],
  ["try", "what follows a failure is a task: `task b = f() after failed a`"],
  ["catch", "what follows a failure is a task: `task b = f() after failed a`"],
  ["return", "the result of a plan is what its tasks write to its `output` channels"],
]);

const EXPECTED = 'what must hold is written `expect o == "x"`';
const GIVEN = 'the values of inputs are written `given n = "x"`';

/** The same for the statements of a test. */
export const TEST_HINTS: ReadonlyMap<string, string> = new Map([
  ...["assert", "check", "should", "then", "ensure", "output", "outputs", "result"].map(
    (word) => [word, EXPECTED] as const,
  ),
  ...["input", "inputs", "with", "run", "when", "set", "let", "const", "state"].map((word) => [word, GIVEN] as const),
  ...["reply", "respond", "resume"].map(
    (word) => [word, 'what a person answers is written `answer a = "yes"`, with the name of the node'] as const,
  ),
  ...["stub", "fake", "patch", "return"].map(
    (word) => [word, 'the result of a node is replaced with `mock a = "x"`'] as const,
  ),
]);

/** What a type of Python in square brackets is called here. */
export const BRACKET_TYPES: ReadonlyMap<string, string> = new Map([
  ["list", "`list[T]` is written `T[]`"],
  ["List", "`List[T]` is written `T[]`"],
  ["set", "`set[T]` is written `T[]`"],
  ["tuple", "a tuple is written as a record, `{ a: int, b: string }`, or as a list, `T[]`"],
  ["dict", "`dict[str, T]` is written `map<T>`"],
  ["Dict", "`Dict[str, T]` is written `map<T>`"],
  ["Optional", "`Optional[T]` is written `T | null`"],
  ["Union", "`Union[A, B]` is written `A | B`"],
  ["Literal", '`Literal["a", "b"]` is written `"a" | "b"`'],
  ["Annotated", "a reducer is declared at the channel: `state a: int[] = [] reduce append`"],
]);

/** Words for dependencies of tasks in other engines. */
export const DEPENDENCY_WORDS: ReadonlySet<string> = new Set([
  "needs",
  "need",
  "depends",
  "depends_on",
  "dependsOn",
  "requires",
]);

/** Words that begin declarations of a file in other languages, and how to write them here. */
export const ITEM_HINTS: ReadonlyMap<string, string> = new Map([
  ["export", "delete `export`: other files can import every graph, plan and type"],
  ["interface", "a record type is written `type T = { a: int, b?: string }`"],
  ["enum", 'an enum is a union of strings: `type T = "a" | "b"`'],
  ["class", "a record type is written `type T = { a: int, b?: string }`"],
  ["function", 'functions are written in TypeScript and imported: `import { f } from "./nodes.ts"`'],
  ["let", "a constant is written `const A = 3`"],
  ["derive", "a derived name belongs in a graph; a constant is written `const A = 3`"],
  ["from", 'names to import come first: `import { f } from "./nodes.ts"`'],
  ...["it", "describe"].map((word) => [word, 'a test is written `test "what it shows" for g { … }`'] as const),
  ["version", "remove it: a file has no version"],
  ["name", "the name follows the kind: `graph main { … }`"],
  ["digraph", "it is called `graph` here"],
  ["pipeline", "it is called `graph` here, or `plan` for a list of tasks that depend on each other"],
  ["workflow", "it is called `graph` here, or `plan` for a list of tasks that depend on each other"],
]);

/** Prefix operators of other languages that look like names in front of an operand. */
export const PREFIX_HINTS: ReadonlyMap<string, string> = new Map([
  ["typeof", "types are known before the run; narrow a value by `!= null`, `match` or `when`"],
  ["await", "no value needs `await`: read the channel that the node writes"],
  [
    "lambda",
    "functions are written in TypeScript and imported; a comprehension works on each item: `[f(x) for x in xs]`",
  ],
  [
    "if",
    "a choice within an expression is written `x > 3 ? a : b`; what runs next is chosen by edges: `a -> b when x > 3`",
  ],
  ["new", "records are written `{ a: 1 }`; objects are made in imported functions"],
  ["void", "write `null`"],
  ["delete", "values never change: build a record without the field"],
]);
