import { EXIT, type ExitCode } from "./exit-codes.ts";

/** Ends a command with a message for the user. Everything that is thrown and is not this (or an error of the runtime) is a bug. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  /** What to do about it, on a line of its own. */
  readonly help: string | undefined;
  /** For `--json`: says what went wrong to a script. */
  readonly code: string;

  constructor(
    message: string,
    options: { exitCode?: ExitCode; help?: string | undefined; code?: string; cause?: unknown } = {},
  ) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "CommandError";
    this.exitCode = options.exitCode ?? EXIT.usage;
    this.help = options.help;
    this.code = options.code ?? "usage";
  }
}
