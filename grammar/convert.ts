import { hasErrors, type Diagnostic } from "../diagnostics/diagnostic.ts";
import type { File } from "./ast.ts";
import { printFile } from "./format/print-file.ts";
import { fileSize, LARGEST_FILE } from "./limits.ts";
import { parse } from "./parse.ts";
import { parseYaml } from "./yaml/parse-yaml.ts";
import { toYaml } from "./yaml/to-yaml.ts";
import { yamlAsides, type YamlMark } from "./yaml/yaml-comments.ts";

export interface Conversion {
  /** The other spelling; empty when the text has errors. */
  readonly text: string;
  /** The errors of the text that was read. */
  readonly diagnostics: readonly Diagnostic[];
  /** The parts that the other spelling cannot represent, a sentence each. */
  readonly lost: readonly string[];
}

/**
 * A text in the other spelling: `.ngraph` text to YAML, or YAML to `.ngraph` text. The meaning is the same. Comments
 * move with their statement, and `lost` lists the parts that cannot be converted.
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
  if (to === "yaml") {
    const { text: written, lost } = toYaml(file, schema === undefined ? {} : { schema });
    const bytes = fileSize(written);
    if (bytes > LARGEST_FILE) {
      lost.push(
        `the result is too large to be read: ${bytes} bytes, the limit is ${LARGEST_FILE}; split the file before`,
      );
    }
    return { text: written, lost, diagnostics };
  }
  const { comments, marks } = yamlAsides(text);
  const printed = printFile({ ...file, comments: comments.filter((comment) => !MODELINE.test(comment.text)) });
  return { text: printed, diagnostics, lost: [...lostMarks(file, marks), ...unreadable(printed)] };
}

/** The comment that names the JSON Schema of a YAML file for editors. It is not converted. */
const MODELINE = /^#\s*yaml-language-server:/;

/** A sentence for each feature that only YAML has. No value is lost: an alias becomes a copy, a tag repeats a type. */
function lostMarks({ source }: File, marks: readonly YamlMark[]): string[] {
  return marks.flatMap(({ kind, text, span }) => {
    const sentence = LOST_MARKS[kind];
    return sentence === undefined ? [] : [`line ${source.position(span.start).line}: ${sentence(text.trim())}`];
  });
}

const LOST_MARKS: Readonly<Partial<Record<YamlMark["kind"], (text: string) => string>>> = {
  anchor: (text) => `the anchor \`${text}\`: what it marks is written out`,
  alias: (text) => `the alias \`${text}\`: its value is written out`,
  tag: (text) => `the tag \`${text}\``,
};

/** Checks that the converted text can be read: a name that is valid in YAML can be a keyword in the text spelling. */
function unreadable(text: string): string[] {
  const first = parse(text).diagnostics.find(({ severity }) => severity === "error");
  if (first === undefined) return [];
  const { line } = first.file.position(first.span.start);
  return [`line ${line}: the text cannot be read back as it is: ${first.message}; rename it`];
}
