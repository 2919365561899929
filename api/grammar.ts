/** `ngraph/grammar`: text and YAML to the syntax tree and back. Knows no meaning: names are not looked up. */
export * from "../grammar/index.ts";
