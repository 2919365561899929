/** What people write who come from other languages, and what it is called here. */
import type { BinaryOperator } from "../ast.ts";

/** `xs.includes(x)`: methods whose function has another name; all others keep theirs. */
export const METHODS: ReadonlyMap<string, string> = new Map([
  ["includes", "contains"],
  ["has", "contains"],
  ["toLowerCase", "lower"],
  ["toUpperCase", "upper"],
  ["toSorted", "sort"],
  ["size", "len"],
  ["test", "matches"],
]);

/** `Math.max(a, b)`: objects that only hold functions. */
export const NAMESPACES: ReadonlySet<string> = new Set(["Math", "Object", "Array", "String", "Number", "JSON"]);

/** Methods that take a function: a comprehension says the same. */
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

/** Operators that are words elsewhere. */
export const WORD_OPERATORS: ReadonlyMap<string, BinaryOperator> = new Map([
  ["and", "&&"],
  ["or", "||"],
]);

/** Policies under the names that other engines give them. */
export const POLICY_ALIASES: ReadonlyMap<string, string> = new Map([
  ["retries", "tries"],
  ["retry", "tries"],
  ["attempts", "tries"],
  ["deadline", "timeout"],
  ["memoize", "cache"],
  ["exclusive", "alone"],
  ["concurrency", "max parallel"],
  ["writes", "touches"],
  ["goto", "goes"],
]);

/** Generic types of other languages: how many arguments they take, and what they become. */
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
