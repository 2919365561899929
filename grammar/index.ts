/** Text and YAML to the syntax tree and back. */
export * from "./ast.ts";
export { LARGEST_FILE, parse, parseFragment, type Fragment, type Fragments } from "./parse.ts";
