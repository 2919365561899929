import { writeSync } from "node:fs";
import { ansiStyles, plainStyles, type Styles } from "../../diagnostics/render/index.ts";
import { printablePainted, printableText } from "./printable-text.ts";

/** Options that every command has. */
export interface CommonOptions {
  readonly json?: boolean;
  /** `false` with `--no-color`. */
  readonly color?: boolean;
  readonly quiet?: boolean;
}

/**
 * Where a command's words go: results on stdout, everything else on stderr. With `--json` stdout gets one document and
 * nothing else, whatever user code prints.
 */
export interface Output {
  readonly json: boolean;
  readonly quiet: boolean;
  /** How text on stdout and on stderr may be painted. */
  readonly stdoutStyles: Styles;
  readonly stderrStyles: Styles;
  /** Whether stderr is a terminal that can rewrite its last line. */
  readonly live: boolean;
  /** A result; a line break is added. Silent with `--json`. */
  result(text: string): void;
  /** A result for other programs, exactly as it is; a line break is added. Silent with `--json`. */
  verbatim(text: string): void;
  /** Text exactly as it is on stdout: formatted sources. */
  raw(text: string): void;
  /** The document of `--json`. Silent without. */
  document(value: unknown): void;
  /** Progress and remarks; silent with `--quiet`. */
  note(text: string): void;
  /** Diagnostics and errors. */
  problem(text: string): void;
}

export function createOutput(options: CommonOptions): Output {
  const json = options.json === true;
  const quiet = options.quiet === true;
  // What user code prints must not mix with the document.
  if (json)
    process.stdout.write = ((...args: unknown[]) => Reflect.apply(process.stderr.write, process.stderr, args)) as Write;
  const stdoutStyles = mayColor(process.stdout, options) ? ansiStyles : plainStyles;
  const stderrStyles = mayColor(process.stderr, options) ? ansiStyles : plainStyles;
  const onStdout = (text: string): void => writeTo(process.stdout, `${shownBy(stdoutStyles, text)}\n`);
  const onStderr = (text: string): void => writeTo(process.stderr, `${shownBy(stderrStyles, text)}\n`);
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
  };
}

/** The same without progress and remarks. */
export function quietly(output: Output): Output {
  return { ...output, quiet: true, note: () => {} };
}

type Write = typeof process.stdout.write;

/** Nothing acts on the terminal but our own colours. */
function shownBy(styles: Styles, text: string): string {
  return styles === plainStyles ? printableText(text) : printablePainted(text);
}

let hasDocument = false;

/** The one document of `--json`: what comes after it is only said on stderr. */
export function writeDocument(value: unknown): void {
  if (hasDocument) return;
  hasDocument = true;
  writeTo(process.stdout, `${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Writes whatever user code has done to the stream: put another `write` in its place (as `--json` does, see `createOutput`), or ended
 * it. Who has gone away (`| head`) does not miss it.
 */
export function writeTo(stream: NodeJS.WriteStream, text: string, done: () => void = () => {}): void {
  if (!stream.writableEnded && !stream.destroyed) {
    Object.getPrototypeOf(stream).write.call(stream, text, done);
    return;
  }
  try {
    writeSync(stream === process.stdout ? 1 : 2, text);
  } catch {
    // A pipe that is closed.
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
