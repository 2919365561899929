#!/usr/bin/env node
/** The program's entry: as little as possible is loaded before it is known what to do. */
import { ignoreClosedPipes } from "./closed-pipes.ts";
import { VERSION } from "./version.ts";

ignoreClosedPipes();
const [first, ...rest] = process.argv.slice(2);
if (rest.length === 0 && (first === "--version" || first === "-V")) {
  process.stdout.write(`${VERSION}\n`);
} else {
  const { main } = await import("./main.ts");
  await main(process.argv.slice(2));
}
