#!/usr/bin/env node
/** The program's entry: as little as possible is loaded before it is known what to do. */
import nodeModule from "node:module";
import { ignoreClosedPipes } from "./closed-pipes.ts";
import { VERSION } from "./version.ts";

ignoreClosedPipes();
const [first, ...rest] = process.argv.slice(2);
if (rest.length === 0 && (first === "--version" || first === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  // From Node 22.8 on: compiled code is kept between runs, which saves a good part of the start.
  nodeModule.enableCompileCache?.();
  // Not awaited up here: Node would remark on it when a node waits for what never happens; `main` says so better.
  void import("./main.ts").then(({ main }) => main(process.argv.slice(2)));
}
