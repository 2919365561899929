#!/usr/bin/env node
/** The program's entry: as little as possible is loaded before it is known what to do. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ignoreClosedPipes } from "./process/closed-pipes.ts";
import { loadProgram } from "./start/load-program.ts";
import { VERSION } from "./start/version.ts";

ignoreClosedPipes();
const args = process.argv.slice(2);
const [first = ""] = args;
if (args.length === 1 && (first === "--version" || first === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const command = /^[a-z]{1,12}$/.test(first) ? first : "other";
  const { main } = loadProgram(dirname(fileURLToPath(import.meta.url)), import.meta.url, command);
  // Not awaited up here: Node would remark on it when a node waits for what never happens; `main` says so better.
  void main(args);
}
