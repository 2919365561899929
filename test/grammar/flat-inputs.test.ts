import { expect, test } from "vitest";
import { format } from "../../grammar/format/format.ts";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { parseYaml } from "../../grammar/yaml/parse-yaml.ts";

/** More arguments than a call can have on the default stack. */
const COUNT = 130_000;
const names = Array.from({ length: COUNT }, (_, at) => `a${at}`);

// Flat inputs nest nothing: no list of items may become the arguments of one call.
test.each([
  ["members of a barrier", `graph g { all(${names.join(", ")}) -> b }`],
  ["sources", `graph g { any(${names.join(", ")}) -> b }`],
  ["a chain", `graph g { start -> ${names.join(" -> ")} }`],
  ["items of a list", `graph g { node a = [${names.join(",")}] }`],
  ["arguments", `graph g { node a = f(${names.join(",")}) }`],
  ["fields", `graph g { node a = { ${names.join(",")} } }`],
  ["members of a union", `type T = ${names.join("|")}`],
  ["policies", `graph g { node a = b { ${"alone ".repeat(COUNT)} } }`],
  ["parts of a template", `graph g { node a = \`${"${a}".repeat(COUNT)}\` }`],
  ["mistakes", `graph g { ${"node = ".repeat(COUNT)} }`],
  ["comments", "// a\n".repeat(COUNT)],
])("%s: 130,000 of them are read", { timeout: 60_000 }, (_, text) => {
  const { diagnostics } = parse(text);
  for (const { message } of diagnostics) expect(message).not.toContain("nested");
});

test("130,000 names are formatted, and written and read as YAML", { timeout: 300_000 }, async () => {
  const text = `graph g {\n  node a = f({ ${names.join(", ")} })\n  start -> ${names.join(", ")}\n}\n`;
  expect((await format(text)).match(/\ba129999\b/g)).toHaveLength(2);
  expect(parseYaml(toYaml(parse(text).file).text).diagnostics).toEqual([]);
});
