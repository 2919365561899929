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
