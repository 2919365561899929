import { EXIT, type ExitCode } from "./exit-codes.ts";

/** Ends a command with a message for the user. Any other error, except those of the runtime, is reported as a bug. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  /** The remedy; printed on its own line. */
  readonly help: string | undefined;
  /** A stable code for scripts, part of the `--json` document. */
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
