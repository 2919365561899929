import assert from "node:assert/strict";
import { convert, format, parse } from "ngraph/grammar";

const text = `graph g { input n: int  output m: int  node a = n + 1 into m  start -> a }`;
assert.deepEqual(parse(text).diagnostics, []);

// One style, and the other spelling.
assert.match(await format(text), /^graph g \{\n {2}input n: int\n/);
assert.match(convert(text, { to: "yaml" }).text, /^graph: g$/m);
