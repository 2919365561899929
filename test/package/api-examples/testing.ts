import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertPassed, runTests } from "ngraph/testing";

const file = join(mkdtempSync(join(tmpdir(), "ngraph-")), "greeting.ngraph");
writeFileSync(
  file,
  `graph greeting {
  input  name: string
  output text: string
  node greet = \`Hello, \${name}!\` into text
  start -> greet
}

test "greets" for greeting {
  given  name = "Ada"
  expect text == "Hello, Ada!"
}
`,
);
const results = await runTests(file);
assert.deepEqual(
  results.map(({ title }) => title),
  ["greets"],
);
for (const result of results) assertPassed(result);
