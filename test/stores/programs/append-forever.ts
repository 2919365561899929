/** Appends to one list of a store at argv[2] until it is ended. Prints each number once it is durable. */
import { writeSync } from "node:fs";
import { SampleRun } from "../../../runtime/stores/conformance/sample-run.ts";
import { SqliteStore } from "../../../runtime/stores/sqlite.ts";

const run = await SampleRun.start(new SqliteStore({ path: process.argv[2]! }), "thread", `process ${process.pid}`);
for (let n = 0; ; n++) {
  await run.save([
    { channel: "log", append: [n] },
    { channel: "last", set: n },
  ]);
  writeSync(1, `${n}\n`);
}
