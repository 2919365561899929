/** Text and YAML to the syntax tree and back. */
export * from "./ast.ts";
export { LARGEST_FILE, parse, parseFragment, type Fragment, type Fragments } from "./parse.ts";
export { format, FormatError } from "./format/format.ts";
export { printFile, PRINT_WIDTH } from "./format/print-file.ts";
export { parseYaml } from "./yaml/parse-yaml.ts";
export { toYaml, type ToYamlOptions } from "./yaml/to-yaml.ts";
export { yamlSchema } from "./yaml/yaml-schema.ts";
export { convert, type Conversion } from "./convert.ts";
