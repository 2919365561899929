/** Text and YAML to the syntax tree and back. */
export * from "./ast.ts";
export { parse, parseFragment, type Fragment } from "./parse.ts";
export type { Fragments } from "./fragments.ts";
export { LARGEST_FILE } from "./limits.ts";
export { completionsAt, type Completion } from "./completions.ts";
export { format, FormatError } from "./format/format.ts";
export { printFile, PRINT_WIDTH } from "./format/print-file.ts";
export { parseYaml } from "./yaml/parse-yaml.ts";
export { toYaml, type ToYamlOptions } from "./yaml/to-yaml.ts";
export { yamlSchema } from "./yaml/yaml-schema.ts";
export { convert, type Conversion } from "./convert.ts";
