/** `ngraph/stdlib`: the built-in nodes, their signatures, and the library of the expression language. */
export * from "../stdlib/index.ts";
