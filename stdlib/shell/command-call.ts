import type { Json } from "../../runtime/value/json.ts";
import { NodeFailure } from "../node-failure.ts";

/** A command line for the shell, or a program with its arguments. */
export interface CommandCall {
  readonly program: string;
  /** Absent for a command line. */
  readonly args?: readonly string[];
  /** For messages. */
  readonly shown: string;
}

/** The call that a node describes. @throws NodeFailure */
export function readCommand(command: Json | undefined, isQuoted: boolean): CommandCall {
  const isPosix = typeof process === "undefined" || process.platform !== "win32";
  if (!Array.isArray(command)) {
    if (isQuoted && !isPosix) {
      throw new NodeFailure(
        "this command has values that are quoted for a POSIX shell, which `cmd.exe` does not read: " +
          'write it as a list (`shell(["git", "checkout", branch])`), or pass the values with `env`',
        { retryable: false },
      );
    }
    const line = String(command);
    return refuseNul({ program: line, shown: line });
  }
  const [program, ...args] = (command as readonly Json[]).map(String);
  if (program === undefined || program === "") {
    throw new NodeFailure("the list of a command begins with the name of a program", { retryable: false });
  }
  return refuseNul({ program, args, shown: [program, ...args].map(shownArgument).join(" ") });
}

function refuseNul(call: CommandCall): CommandCall {
  if (!call.shown.includes("\0")) return call;
  throw new NodeFailure("a command cannot contain a NUL character", { retryable: false });
}

/** An argument as it could be written in a POSIX shell. */
function shownArgument(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
