import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { compile, emitJavaScript } from "ngraph/compiler";
import type { Graph, GraphTypes } from "ngraph/generated";
import { MemoryStore } from "ngraph/runtime";

const text = `graph sure { output said: string  node a = ask("Sure?") into said  start -> a }`;
// `ngc compile sure.ngraph --target js` writes the same module.
const directory = mkdtempSync(fileURLToPath(new URL("sure-", import.meta.url)));
const file = join(directory, "sure.ngraph.js");
writeFileSync(file, emitJavaScript(compile(text, { path: "sure.ngraph" })));
const { sure } = (await import(pathToFileURL(file).href)) as { sure(options: object): Graph<GraphTypes> };

const engine = sure({ store: new MemoryStore() });
assert.equal((await engine.run({}, { thread: "t" })).status, "paused");
const { status, output } = await engine.resume("t", { answer: "yes" });
assert.deepEqual([status, output], ["completed", { said: "yes" }]);
rmSync(directory, { recursive: true });
