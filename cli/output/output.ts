import { writeSync } from "node:fs";
import { ansiStyles, plainStyles, type Styles } from "../../diagnostics/render/index.ts";
import { reportStdoutFailure } from "../process/output-streams.ts";
import { jsonText } from "./json-text.ts";
import { printablePainted, printableText } from "./printable-text.ts";

/** Options of every command. */
export interface CommonOptions {
  readonly json?: boolean;
  /** `false` with `--no-color`. */
  readonly color?: boolean;
  readonly quiet?: boolean;
}

/**
 * The output of a command: results go to stdout, everything else to stderr. With `--json` stdout receives one document and nothing
 * else, even if user code prints to it.
 */
export interface Output {
  readonly json: boolean;
  readonly quiet: boolean;
  /** Colours for text on stdout and on stderr. */
  readonly stdoutStyles: Styles;
  readonly stderrStyles: Styles;
  /** Whether stderr is a terminal that can rewrite its last line. */
  readonly live: boolean;
  /** Prints a result and a line break. Silent with `--json`. */
  result(text: string): void;
  /** Prints a result for other programs unchanged, and a line break. Silent with `--json`. */
  verbatim(text: string): void;
  /** Writes text unchanged to stdout: formatted sources. */
  raw(text: string): void;
  /** Prints the document of `--json`. Silent without `--json`. */
  document(value: unknown): void;
  /** Prints progress and remarks on stderr; silent with `--quiet`. */
  note(text: string): void;
  /** Prints diagnostics and errors on stderr. */
  problem(text: string): void;
  /** Prints on stderr what a command has printed: escaped, with lines of any length, and without a line break of its own. */
  printed(text: string): void;
}

export function createOutput(options: CommonOptions): Output {
  hasDocument = false;
  const json = options.json === true;
  const quiet = options.quiet === true;
  // Output of user code must not mix with the document.
  if (json)
    process.stdout.write = ((...args: unknown[]) => Reflect.apply(process.stderr.write, process.stderr, args)) as Write;
  const stdoutStyles = mayColor(process.stdout, options) ? ansiStyles : plainStyles;
  const stderrStyles = mayColor(process.stderr, options) ? ansiStyles : plainStyles;
  const onStdout = (text: string): void => writeTo(process.stdout, `${shownBy(stdoutStyles, text)}\n`);
  const onStderr = (text: string): void => writeTo(process.stderr, `${shownBy(stderrStyles, withShortLines(text))}\n`);
  return {
    json,
    quiet,
    stdoutStyles,
    stderrStyles,
    live: process.stderr.isTTY && process.env["TERM"] !== "dumb",
    result: (text) => void (json || onStdout(text)),
    verbatim: (text) => void (json || writeTo(process.stdout, `${text}\n`)),
    raw: (text) => writeTo(process.stdout, text),
    document: (value) => void (json && writeDocument(value)),
    note: (text) => void (quiet || onStderr(text)),
    problem: onStderr,
    printed: (text) => writeTo(process.stderr, printableText(text)),
  };
}

/** The same output without progress and remarks. */
export function quietly(output: Output): Output {
  return { ...output, quiet: true, note: () => {} };
}

type Write = typeof process.stdout.write;

/** Longer lines of messages are cut: a name or an error text may have any length. */
const MAX_LINE = 4000;

function withShortLines(text: string): string {
  if (text.length <= MAX_LINE) return text;
  return text
    .split("\n")
    .map((line) => (line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line))
    .join("\n");
}

/** Escapes everything that acts on a terminal, except our own colours. */
function shownBy(styles: Styles, text: string): string {
  return styles === plainStyles ? printableText(text) : printablePainted(text);
}

/** Whether the current command has written its document. */
let hasDocument = false;

/** Writes the document of `--json`. Only the first call of a command writes; later problems are printed on stderr only. */
export function writeDocument(value: unknown): void {
  if (hasDocument) return;
  hasDocument = true;
  writeTo(process.stdout, `${jsonText(value, 2)}\n`);
}

/**
 * Writes to a stream even if user code has replaced its `write` (as `createOutput` does for `--json`) or has ended it. Text for a
 * closed pipe (`| head`) is dropped.
 */
export function writeTo(stream: NodeJS.WriteStream, text: string, done: () => void = () => {}): void {
  if (!stream.writableEnded && !stream.destroyed) {
    Object.getPrototypeOf(stream).write.call(stream, text, done);
    return;
  }
  try {
    writeSync(stream === process.stdout ? 1 : 2, text);
  } catch (error) {
    if (stream === process.stdout) reportStdoutFailure(error);
  }
  done();
}

/** https://no-color.org: any value but the empty one turns colours off; FORCE_COLOR turns them on without a terminal. */
function mayColor(stream: NodeJS.WriteStream, options: CommonOptions): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (options.color === false || options.json === true || (NO_COLOR !== undefined && NO_COLOR !== "")) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "" && FORCE_COLOR !== "0") return true;
  return stream.isTTY && TERM !== "dumb";
}
