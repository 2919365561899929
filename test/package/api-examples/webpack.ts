import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ngraph } from "ngraph/webpack";
import webpack from "webpack";

const folder = mkdtempSync(join(tmpdir(), "ngraph-"));
writeFileSync(join(folder, "g.ngraph"), "graph g { output n: int  node a = 1 + 1 into n  start -> a }");
writeFileSync(join(folder, "app.js"), `import { g } from "./g.ngraph"; console.log((await g().run({})).output.n);`);

const compiler = webpack({
  mode: "production",
  context: folder,
  entry: "./app.js",
  output: { path: folder, filename: "out.mjs", module: true },
  plugins: [ngraph()],
  externals: [/^ngraph\//],
  externalsType: "module",
  experiments: { outputModule: true },
});
const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) => {
  compiler.run((error, done) => (error ? reject(error) : resolve(done)));
});
assert.equal(stats?.hasErrors(), false, stats?.toString());
