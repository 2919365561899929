import { ansiStyles, plainStyles, type Styles } from "../diagnostics/render/index.ts";

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
  const writeOut = process.stdout.write.bind(process.stdout);
  const writeError = process.stderr.write.bind(process.stderr);
  // What user code prints must not mix with the document.
  if (json) process.stdout.write = writeError as typeof process.stdout.write;
  return {
    json,
    quiet,
    stdoutStyles: mayColor(process.stdout, options) ? ansiStyles : plainStyles,
    stderrStyles: mayColor(process.stderr, options) ? ansiStyles : plainStyles,
    live: process.stderr.isTTY && process.env["TERM"] !== "dumb",
    result: (text) => void (json || writeOut(`${text}\n`)),
    raw: (text) => void writeOut(text),
    document: (value) => void (json && writeOut(`${JSON.stringify(value, null, 2)}\n`)),
    note: (text) => void (quiet || writeError(`${text}\n`)),
    problem: (text) => void writeError(`${text}\n`),
  };
}

/** https://no-color.org: any value but the empty one turns colours off; FORCE_COLOR turns them on without a terminal. */
function mayColor(stream: NodeJS.WriteStream, options: CommonOptions): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (options.color === false || options.json === true || (NO_COLOR !== undefined && NO_COLOR !== "")) return false;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== "" && FORCE_COLOR !== "0") return true;
  return stream.isTTY && TERM !== "dumb";
}
