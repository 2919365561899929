import { expect, test } from "vitest";
import { convert } from "../../grammar/convert.ts";
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

test("a result that is too large to be read is reported", { timeout: 300_000 }, async () => {
  const edges = `graph g { node a = 1  node b = 1  start -> a -> b\n${"b->a\n".repeat(400_000)}}`;
  expect(convert(edges, { to: "yaml" }).lost).toEqual([expect.stringMatching(/too large to be read: 44\d+ bytes/)]);
  const list = `graph g { node a = [${"1,".repeat(650_000)}1] }`;
  await expect(format(list)).rejects.toThrow(/formatted, this file is too large: 4\d+ bytes, the limit is 4194304/);
});
