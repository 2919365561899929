import { hasErrors, type Diagnostic } from "../diagnostics/diagnostic.ts";
import { printFile } from "./format/print-file.ts";
import { parse } from "./parse.ts";
import { parseYaml } from "./yaml/parse-yaml.ts";
import { toYaml } from "./yaml/to-yaml.ts";

export interface Conversion {
  /** The other spelling; empty when the text has errors. */
  readonly text: string;
  /** What is wrong with the text that was read. */
  readonly diagnostics: readonly Diagnostic[];
  /** What the other spelling has no place for, a sentence each. */
  readonly lost: readonly string[];
}

/**
 * A text in the other spelling: `.ngraph` text to YAML, or YAML to `.ngraph` text. The meaning is the same; comments do not survive, and
 * `lost` says so. (YAML comments are no part of what is read, so nothing is said about them.)
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
  if (to === "ngraph") {
    const printed = printFile(file);
    return { text: printed, diagnostics, lost: unreadable(printed) };
  }
  return { ...toYaml(file, schema === undefined ? {} : { schema }), diagnostics };
}

/** A word of the grammar can be a name in YAML in a place where the text takes it for the word. */
function unreadable(text: string): string[] {
  const first = parse(text).diagnostics.find(({ severity }) => severity === "error");
  if (first === undefined) return [];
  const { line } = first.file.position(first.span.start);
  return [`line ${line}: the text cannot be read back as it is: ${first.message}; rename what stands there`];
}
