import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { ngraph } from "ngraph/esbuild";

const folder = mkdtempSync(join(tmpdir(), "ngraph-"));
writeFileSync(join(folder, "g.ngraph"), "graph g { output n: int  node a = 1 + 1 into n  start -> a }");
writeFileSync(join(folder, "app.js"), `import { g } from "./g.ngraph"; console.log((await g().run({})).output.n);`);

const { outputFiles } = await build({
  entryPoints: [join(folder, "app.js")],
  bundle: true,
  write: false,
  format: "esm",
  plugins: [ngraph()],
  external: ["ngraph/*"],
});
assert.match(outputFiles[0]?.text ?? "", /from "ngraph\/(?:direct|generated)"/);
