import { sortDiagnostics, type Diagnostic } from "../../diagnostics/diagnostic.ts";
import {
  renderGithub,
  renderPlain,
  renderPretty,
  renderSarif,
  type SarifOptions,
} from "../../diagnostics/render/index.ts";
import { jsonText } from "./json-text.ts";
import type { Output } from "./output.ts";
import { printableText } from "./printable-text.ts";
import { VERSION } from "../start/version.ts";

export const FORMATS = ["pretty", "plain", "json", "github", "sarif"] as const;
export type Format = (typeof FORMATS)[number];

export interface PrintOptions {
  /** Default: `pretty` on a terminal and `plain` elsewhere. */
  readonly format?: Format;
  /** Also prints diagnostics of severity `info`: proofs and remarks. */
  readonly verbose?: boolean;
  readonly max?: number;
  /** Options of the `sarif` format. */
  readonly sarif?: Omit<SarifOptions, "version">;
}

/** The diagnostics to print, sorted; those of severity `info` only if `verbose`. */
export function shownDiagnostics(diagnostics: readonly Diagnostic[], verbose: boolean): Diagnostic[] {
  return sortDiagnostics(verbose ? diagnostics : diagnostics.filter((item) => item.severity !== "info"));
}

/** Prints diagnostics on stderr; formats for machines go to stdout. With `--json` the document contains them and this prints nothing. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], options: PrintOptions, output: Output): void {
  if (output.json) return;
  const shown = shownDiagnostics(diagnostics, options.verbose === true);
  const max = options.max === undefined ? {} : { max: options.max };
  const format = options.format ?? (process.stderr.isTTY ? "pretty" : "plain");
  switch (format) {
    case "pretty":
      if (shown.length > 0) output.problem(renderPretty(shown, { styles: output.stderrStyles, ...max }));
      break;
    case "plain":
      if (shown.length > 0) output.problem(renderPlain(shown, max));
      break;
    case "github":
      // Actions reads commands from stdout.
      if (shown.length > 0) output.verbatim(printableText(renderGithub(shown, max)));
      break;
    case "sarif":
      output.verbatim(jsonText(JSON.parse(renderSarif(shown, { ...options.sarif, version: VERSION })), 2));
      break;
    case "json":
      break;
  }
}

/** `2 errors, 1 warning` */
export function countText(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: Diagnostic["severity"], word: string): string[] => {
    const number = diagnostics.filter((item) => item.severity === severity).length;
    return number === 0 ? [] : [`${number} ${word}${number === 1 ? "" : "s"}`];
  };
  return [...count("error", "error"), ...count("warning", "warning")].join(", ");
}

/** Removes duplicates: findings of a file that several named files import. */
export function uniqueDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter((item) => {
    const key = JSON.stringify([item.code, item.file.path, item.span.start, item.span.end, item.message]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
