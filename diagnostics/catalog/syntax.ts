/** Diagnostics of the text spelling. */
import { diagnostic, type Diagnostic, type Fix, type Label, type Place } from "../diagnostic.ts";
import type { Span } from "../source.ts";

/** Replaces a span of the diagnostic's file. */
export function replacement(title: string, span: Span, text: string): Fix {
  return { title, edits: [{ span, text }] };
}

export interface UnexpectedDetails {
  /** The tokens that the grammar allows here: "`->`", "a name for the node". */
  readonly expected: string;
  /** The token that was found: "`=`", "the end of the file". */
  readonly found: string;
  /** The token before it: "`draft`". */
  readonly after?: string;
  readonly help?: string | undefined;
  readonly notes?: readonly string[];
  readonly labels?: readonly Label[];
  readonly fixes?: readonly Fix[];
}

/** NG001: the token does not fit the grammar. */
export function unexpected(place: Place, details: UnexpectedDetails): Diagnostic {
  const after = details.after === undefined ? "" : ` after ${details.after}`;
  return diagnostic("NG001", place, `expected ${details.expected}${after}, found ${details.found}`, {
    label: `expected ${details.expected}`,
    ...pick(details),
  });
}

export interface SyntaxDetails {
  readonly message: string;
  readonly label?: string;
  readonly help?: string | undefined;
  readonly notes?: readonly string[];
  readonly labels?: readonly Label[];
  readonly fixes?: readonly Fix[];
}

/** NG001 with a custom message: syntax of another language, a misplaced statement. */
export function syntaxProblem(place: Place, details: SyntaxDetails): Diagnostic {
  return diagnostic("NG001", place, details.message, { label: details.label ?? "", ...pick(details) });
}

/** NG001: `my-node`. */
export function kebabName(place: Place, written: string): Diagnostic {
  const name = written.replaceAll("-", "_");
  const [shown, use] = [written, name].map((text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text));
  return syntaxProblem(place, {
    message: `\`${shown}\` is not a name: names have no \`-\``,
    label: `write \`${use}\``,
    help: "names consist of the letters A to Z, digits and `_`",
    fixes: [replacement(`write \`${use}\``, place.span, name)],
  });
}

/** Files that `ngc import` may be able to read. */
const IMPORTED_FILE = /^\.(?:json|ya?ml|asl|[cm]?[jt]sx?)$/;

/** NG001: a file of another language, where a graph is expected. */
export function foreignFile(place: Place, extension: string): Diagnostic {
  return syntaxProblem(place, {
    message: `this is not a graph file: its name ends in \`${extension}\``,
    label: "not the text of a graph",
    help: IMPORTED_FILE.test(extension)
      ? "graphs are in files whose names end in `.ngraph` or `.ngraph.yaml`; `ngc import` reads graphs of other systems"
      : "graphs are in files whose names end in `.ngraph` or `.ngraph.yaml`; a graph imports functions from other files",
  });
}

/** NG001, a warning: a file without declarations and comments. */
export function emptyFile(place: Place): Diagnostic {
  return diagnostic("NG001", place, "this file is empty", {
    severity: "warning",
    label: "declares nothing",
    help: 'declare a graph: `graph hello { node greet = print("hi")  start -> greet }`',
  });
}

/** NG002: a string, template or comment is not closed. */
export function unterminated(
  place: Place,
  what: "string" | "template" | "comment",
  closing: string,
  fixes: readonly Fix[] = [],
): Diagnostic {
  const mark = closing === "`" ? "a backtick" : `\`${closing}\``;
  return diagnostic("NG002", place, `this ${what} is never closed`, {
    label: closing === "`" ? "begins here, and no backtick follows" : `begins here, and no ${mark} follows`,
    help:
      what === "string"
        ? `close it with ${mark} on the same line; text over several lines goes between backticks`
        : `close it with ${mark}`,
    fixes,
  });
}

/** NG002 for a template. */
export function unterminatedTemplate(place: Place): Diagnostic {
  const { start, end } = place.span;
  const text = place.file.text.slice(start, end);
  // A backtick inside of `${` would begin another template.
  const closing = text.lastIndexOf("${") > text.lastIndexOf("}") ? "}`" : "`";
  const title = closing === "`" ? "close it with a backtick" : "close it with `}` and a backtick";
  const found = unterminated(place, "template", "`", [replacement(title, { start: end, end }, closing)]);
  return { ...found, help: title };
}

/** NG003: a character that is not allowed outside of strings. */
export function forbiddenCharacter(
  place: Place,
  details: {
    readonly character: string;
    readonly why: string;
    readonly help?: string;
    readonly fixes?: readonly Fix[];
  },
): Diagnostic {
  return diagnostic("NG003", place, `${details.character} ${details.why}`, { label: "here", ...pick(details) });
}

/** NG004: too many nested brackets, operators or parts of a type. */
export function tooDeep(place: Place, what: "nesting" | "operators" | "types", limit: number): Diagnostic {
  const message =
    what === "operators"
      ? `this expression has more than ${limit} operators`
      : what === "types"
        ? `this type has more than ${limit} parts`
        : `nested more than ${limit} levels deep`;
  return diagnostic("NG004", place, message, {
    label: `the limit of ${limit} is passed here`,
    help: "compute a part of it in a node of its own",
  });
}

/** NG005: the file is larger than the limit. */
export function fileTooLarge(place: Place, bytes: number, limit: number): Diagnostic {
  return diagnostic("NG005", place, `this file is too large: ${bytes} bytes, the limit is ${limit}`, {
    label: "not read",
    help: "split it into several files and import what they share",
  });
}

/** NG005: the formatted file has more bytes than the limit. */
export function formattedTooLarge(place: Place, bytes: number, limit: number): Diagnostic {
  return diagnostic("NG005", place, `formatted, this file is too large: ${bytes} bytes, the limit is ${limit}`, {
    label: "not formatted",
    help: "split it into several files and import what they share",
  });
}

/** NG005: the file has more declarations than the limit. */
export function tooManyDeclarations(place: Place, limit: number): Diagnostic {
  return diagnostic("NG005", place, `this file has more than ${limit} declarations`, {
    label: "the file is not checked",
    help: "split it into several files and import what they share",
  });
}

/** NG006: an invalid number, duration or escape. */
export function badLiteral(
  place: Place,
  details: {
    readonly message: string;
    readonly label?: string;
    readonly help?: string | undefined;
    readonly fixes?: readonly Fix[];
  },
): Diagnostic {
  return diagnostic("NG006", place, details.message, { label: details.label ?? "", ...pick(details) });
}

/** Copies the details that are present: an absent property must not become `undefined`. */
function pick(details: {
  readonly help?: string | undefined;
  readonly notes?: readonly string[];
  readonly labels?: readonly Label[];
  readonly fixes?: readonly Fix[];
}) {
  return {
    ...(details.help === undefined ? {} : { help: details.help }),
    ...(details.notes === undefined ? {} : { notes: details.notes }),
    ...(details.labels === undefined ? {} : { labels: details.labels }),
    ...(details.fixes === undefined ? {} : { fixes: details.fixes }),
  };
}

/** NG001: `a, b -> c`, which readers take for a barrier. */
export function ambiguousSource(place: Place, list: string, shown: string): Diagnostic {
  return syntaxProblem(place, {
    message: `\`${shown} -> …\` does not say whether one signal is enough`,
    label: "write `any(…)` or `all(…)`",
    help: "`any(…)`: each of these nodes signals the target; `all(…)`: the target waits for all of them",
    fixes: [
      replacement("signal the target from each", place.span, `any(${list})`),
      replacement("wait for all", place.span, `all(${list})`),
    ],
  });
}
