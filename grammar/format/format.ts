import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { hasErrors } from "../../diagnostics/diagnostic.ts";
import { formattedTooLarge } from "../../diagnostics/catalog/syntax.ts";
import type { File } from "../ast.ts";
import { fileSize, LARGEST_FILE } from "../limits.ts";
import { parse } from "../parse.ts";

/** Thrown for a text with syntax errors. Such a text is not formatted. */
export class FormatError extends Error {
  readonly code = "NG_FORMAT_SYNTAX";
  /** The syntax errors, sorted by position. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const [first] = diagnostics;
    const { line, column } = first?.file.position(first.span.start) ?? { line: 1, column: 1 };
    super(`${first?.file.path ?? "input"}:${line}:${column}: ${first?.message ?? "syntax error"}; fix it, then format`);
    this.name = "FormatError";
    this.diagnostics = diagnostics;
  }
}

/**
 * Formats a text in the one style. Its meaning and its comments do not change. Formatting the result again changes
 * nothing.
 *
 * @throws {FormatError} when the text has syntax errors, or its formatted form is too large to be read; such files are never formatted
 * @example
 * await format("graph g{node a=print( 'x' )}"); // FormatError: strings are written in double quotes
 */
export async function format(text: string, options: { readonly path?: string } = {}): Promise<string> {
  const file = readForFormat(text, options.path);
  // The printer is loaded on first use, because reading a file does not need it.
  const { printFile } = await import("./print-file.ts");
  const formatted = printFile(file);
  const bytes = fileSize(formatted);
  if (bytes <= LARGEST_FILE) return formatted;
  const place = { file: file.source, span: { start: 0, end: 0 } };
  throw new FormatError([formattedTooLarge(place, bytes, LARGEST_FILE)]);
}

/** Parses a text for formatting, with `\n` as line break and without the byte order mark. Throws a `FormatError`. */
export function readForFormat(text: string, path?: string): File {
  const options = path === undefined ? {} : { path };
  const plain = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const { file, diagnostics } = parse(plain, options);
  if (!hasErrors(diagnostics)) return file;
  // The spans of the diagnostics must be offsets of the original text.
  throw new FormatError(plain === text ? diagnostics : parse(text, options).diagnostics);
}
