import assert from "node:assert/strict";
import { compile, emitTypeScript, memoryHost } from "ngraph/compiler";

// Files come through a host; this one has them in memory.
const host = memoryHost({ "nodes.ts": "export const double = (n: number): number => n * 2;" });
const compiled = compile(
  `import { double } from "./nodes.ts"
  graph twice {
    input  n: int
    output m: int
    node a = double(n) into m
    start -> a
  }`,
  { path: "twice.ngraph", host },
);
assert.deepEqual(compiled.table?.effects, ["code"]);
assert.match(emitTypeScript(compiled), /import \{.*double.*\} from "\.\/nodes\.(?:js|ts)"/);

// A finding has a code, a place and often a fix.
const { diagnostics } = compile(`graph g { start -> nowhere }`, { path: "g.ngraph", host });
assert.equal(diagnostics[0]?.code, "NG101");
