/**
 * One of several processes that run the same thread of the store at argv[2] (see `kill-store.ts`), with the table in
 * the file argv[3]. For each line `try` it runs or resumes the thread; it prints the current node, the code of the
 * error that refuses it, or how the run ended. `run`, `resume`, `update`, `fork` and `abandon` call the operation and
 * print the same. For each line `step` the current node finishes. argv[4] is the length of the lease in milliseconds.
 */
import { readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { createEngine, NgraphError, type Table } from "../../../runtime/index.ts";
import { openStore } from "../../fault/kill-store.ts";

const [place, tableFile, leaseMs = "30000"] = process.argv.slice(2) as [string, string, string?];
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
const engine = createEngine(table, { store, functions: { stop }, leaseMs: Number(leaseMs) });

/** The commands of the program. Each returns the text to print. */
const ACTIONS: Readonly<Record<string, () => Promise<string>>> = {
  try: async () => ((await engine.state("thread")) === undefined ? ACTIONS["run"]!() : ACTIONS["resume"]!()),
  run: async () => (await engine.run({}, { thread: "thread" })).status,
  resume: async () => (await engine.resume("thread")).status,
  abandon: async () => (await engine.run({}, { thread: "thread", abandon: true })).status,
  update: async () => {
    await engine.update("thread", { log: [`updated by ${process.pid}`] });
    return "updated";
  },
  fork: async () => {
    await engine.fork("thread");
    return "forked";
  },
};

async function attempt(action: () => Promise<string>): Promise<void> {
  try {
    say(await action());
  } catch (error) {
    say(error instanceof NgraphError ? error.code : String(error));
  }
}

createInterface({ input: process.stdin })
  .on("line", (line) => void (line === "step" ? finish() : attempt(ACTIONS[line]!)))
  .on("close", () => void store.close());
say("ready");
