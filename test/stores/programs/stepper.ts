/**
 * One of several processes that want the same thread: of the store at argv[2] (see `kill-store.ts`), with the table in the file argv[3].
 * Each line `try` makes it run the thread or go on with it; it prints where it is, the code of the error that refuses it, or how the
 * run ended. Each line `step` lets the node it is at finish.
 */
import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { createEngine, NgraphError, type Table } from "../../../runtime/index.ts";
import { openStore } from "../../fault/kill-store.ts";

const [place, tableFile] = process.argv.slice(2) as [string, string];
let finish: () => void = () => {};
const say = (line: string): void => void writeSync(1, `${line}\n`);

const stop = async (name: string): Promise<string> => {
  const finished = new Promise<void>((resolve) => (finish = resolve));
  say(`at ${name}`);
  await finished;
  return `${name} by ${process.pid}`;
};
const store = openStore(place);
const table = JSON.parse(readFileSync(tableFile, "utf8")) as Table;
const engine = createEngine(table, { store, functions: { stop } });

async function attempt(): Promise<void> {
  try {
    const isNew = (await engine.state("thread")) === undefined;
    const { status } = await (isNew ? engine.run({}, { thread: "thread" }) : engine.resume("thread"));
    say(status);
  } catch (error) {
    say(error instanceof NgraphError ? error.code : String(error));
  }
}

createInterface({ input: process.stdin })
  .on("line", (line) => void (line === "try" ? attempt() : finish()))
  .on("close", () => void store.close());
say("ready");
