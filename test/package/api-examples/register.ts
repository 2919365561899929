import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";

import { join } from "node:path";
import { fileURLToPath } from "node:url";

const directory = mkdtempSync(fileURLToPath(new URL("app-", import.meta.url)));
writeFileSync(
  join(directory, "add.ngraph"),
  "graph add { input n: int  output m: int  node a = n + 1 into m  start -> a }",
);
writeFileSync(join(directory, "app.mjs"), `import { add } from "./add.ngraph"; console.log(typeof add);`);

// In a project that has ngraph: node --import ngraph/register app.mjs
const register = import.meta.resolve("ngraph/register");
const printed = execFileSync(process.execPath, ["--import", register, join(directory, "app.mjs")], {
  encoding: "utf8",
});
assert.equal(printed, "function\n");
rmSync(directory, { recursive: true });
