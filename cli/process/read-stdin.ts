import { readFileSync } from "node:fs";
import { CommandError } from "./command-error.ts";
import { decodeSource, reasonOf } from "../sources/source-files.ts";

/** All of standard input as text. */
export function readStdin(): string {
  if (process.stdin.isTTY) throw new CommandError("nothing is piped into standard input");
  for (;;) {
    try {
      return decodeSource("standard input", readFileSync(0));
    } catch (error) {
      if (error instanceof CommandError) throw error;
      // The pipe has no data yet.
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") continue;
      throw new CommandError(`cannot read standard input: ${reasonOf(error)}`, { cause: error });
    }
  }
}
