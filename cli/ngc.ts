#!/usr/bin/env node
/** The entry of the program. It loads as little as possible before the command is known. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { watchOutputStreams } from "./process/output-streams.ts";
import { loadProgram, type Program } from "./start/load-program.ts";
import { MISSING_PART } from "./start/missing-part.ts";
import { VERSION } from "./start/version.ts";

/** The file name of the first part of the program; set by the build. */
declare const __NGRAPH_MAIN__: string;

watchOutputStreams();
const args = process.argv.slice(2);
const [first = ""] = args;
if (!hasWorkingDirectory()) {
  process.stderr.write("error: the working directory does not exist\n  = help: change to another directory\n");
  process.exitCode = 64;
} else if (args.length === 1 && (first === "--version" || first === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const command = /^[a-z]{1,12}$/.test(first) ? first : "other";
  const program = loaded(command);
  // No top-level await: Node would print its own warning if a node never settles; `main` reports that as an error.
  void program?.main(args);
}

function loaded(command: string): Program | undefined {
  try {
    return loadProgram(dirname(fileURLToPath(import.meta.url)), import.meta.url, __NGRAPH_MAIN__, command);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === MISSING_PART)) throw error;
    process.stderr.write(`error: ${error.message}\n  = help: install ngraph again\n`);
    process.exitCode = 70;
    return undefined;
  }
}

/** It may have been deleted while a shell was in it. */
function hasWorkingDirectory(): boolean {
  try {
    return process.cwd() !== "";
  } catch {
    return false;
  }
}
