/** Appends to one list of a store at argv[2] until the store refuses, then once more. Prints numbers, then the errors. */
import { writeSync } from "node:fs";
import { SampleRun } from "../../../runtime/stores/conformance/sample-run.ts";
import { SqliteStore } from "../../../runtime/stores/sqlite.ts";

const store = new SqliteStore(process.argv[2]!);
const run = await SampleRun.start(store);
let failures = 0;
for (let n = 0; failures < 2; n++) {
  try {
    await run.save([{ channel: "log", append: ["x".repeat(1000)] }]);
    writeSync(1, `${n}\n`);
  } catch (error) {
    failures++;
    const { code, message } = error as Error & { code: string };
    writeSync(1, `${code}: ${message}\n`);
  }
}
