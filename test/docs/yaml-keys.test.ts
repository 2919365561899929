import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { yamlSchema } from "../../grammar/yaml/yaml-schema.ts";

/** All keys of the forms, at any place. */
function keysOf(schema: unknown, keys = new Set<string>()): Set<string> {
  if (typeof schema !== "object" || schema === null) return keys;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties") for (const key of Object.keys(value as object)) keys.add(key);
    keysOf(value, keys);
  }
  return keys;
}

test("docs/yaml.md names every key", () => {
  const code = [...readFileSync("docs/yaml.md", "utf8").matchAll(/`[^`\n]+`/g)].map(([text]) => text).join(" ");
  const missing = [...keysOf(yamlSchema())].filter((key) => !new RegExp(`[\`{ ]${key}[\`:, }]`).test(code));
  expect(missing).toEqual([]);
});
