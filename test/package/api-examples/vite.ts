import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ngraph } from "ngraph/vite";
import { rolldown } from "rolldown";

const directory = mkdtempSync(join(tmpdir(), "app-"));
writeFileSync(
  join(directory, "add.ngraph"),
  "graph add { input n: int  output m: int  node a = n + 1 into m  start -> a }",
);
writeFileSync(join(directory, "main.js"), `export { add } from "./add.ngraph";`);

// Vite takes the same plugin in `plugins` of vite.config.ts.
const bundle = await rolldown({
  input: join(directory, "main.js"),
  external: /^ngraph/,
  plugins: [ngraph()],
});
const { output } = await bundle.generate({ format: "esm" });
assert.match(output[0].code, /createDirectGraph/);
await bundle.close();
rmSync(directory, { recursive: true });
