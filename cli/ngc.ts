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
  const { main } = await import("./main.ts");
  await main(process.argv.slice(2));
}
