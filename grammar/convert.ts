import { hasErrors, type Diagnostic } from "../diagnostics/diagnostic.ts";
import type { File } from "./ast.ts";
import { printFile } from "./format/print-file.ts";
import { parse } from "./parse.ts";
import { parseYaml } from "./yaml/parse-yaml.ts";
import { toYaml } from "./yaml/to-yaml.ts";
import { yamlAsides, type YamlMark } from "./yaml/yaml-comments.ts";

export interface Conversion {
  /** The other spelling; empty when the text has errors. */
  readonly text: string;
  /** What is wrong with the text that was read. */
  readonly diagnostics: readonly Diagnostic[];
  /** What the other spelling has no place for, a sentence each. */
  readonly lost: readonly string[];
}

/**
 * A text in the other spelling: `.ngraph` text to YAML, or YAML to `.ngraph` text. The meaning is the same; comments go with the
 * statement that they stand at, and `lost` says what cannot be carried over.
 *
 * @example
 * const { text, lost } = convert(source, { path: "support.ngraph", to: "yaml" });
 */
export function convert(
  text: string,
  options: { readonly to: "ngraph" | "yaml"; readonly path?: string; readonly schema?: string },
): Conversion {
  const { to, path, schema } = options;
  const at = path === undefined ? {} : { path };
  const { file, diagnostics } = to === "yaml" ? parse(text, at) : parseYaml(text, at);
  if (hasErrors(diagnostics)) return { text: "", diagnostics, lost: [] };
  if (to === "yaml") return { ...toYaml(file, schema === undefined ? {} : { schema }), diagnostics };
  const { comments, marks } = yamlAsides(text);
  const printed = printFile({ ...file, comments: comments.filter((comment) => !MODELINE.test(comment.text)) });
  return { text: printed, diagnostics, lost: [...lostMarks(file, marks), ...unreadable(printed)] };
}

/** Speaks to editors about YAML files only. */
const MODELINE = /^#\s*yaml-language-server:/;

/** What only YAML has. The values are all there: an alias stands for a copy, and the types that tags could say are known. */
function lostMarks({ source }: File, marks: readonly YamlMark[]): string[] {
  return marks.flatMap(({ kind, text, span }) => {
    const sentence = LOST_MARKS[kind];
    return sentence === undefined ? [] : [`line ${source.position(span.start).line}: ${sentence(text.trim())}`];
  });
}

const LOST_MARKS: Readonly<Partial<Record<YamlMark["kind"], (text: string) => string>>> = {
  anchor: (text) => `the anchor \`${text}\`: what it marks is written out`,
  alias: (text) => `the alias \`${text}\`: what it stands for is written out again`,
  tag: (text) => `the tag \`${text}\``,
};

/** A word of the grammar can be a name in YAML in a place where the text takes it for the word. */
function unreadable(text: string): string[] {
  const first = parse(text).diagnostics.find(({ severity }) => severity === "error");
  if (first === undefined) return [];
  const { line } = first.file.position(first.span.start);
  return [`line ${line}: the text cannot be read back as it is: ${first.message}; rename what stands there`];
}
