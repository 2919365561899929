/** Whether generated modules import `./nodes.ts` or `./nodes.js`: what the project's tsconfig.json allows. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { importExtensions, withoutComments } from "../../cli/types/import-extensions.ts";

function directoryWith(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-tsconfig-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

const ALLOWING = `{ "compilerOptions": { "allowImportingTsExtensions": true } }`;

test.each<[string, Record<string, string>, "as-written" | "js"]>([
  ["allows them", { "tsconfig.json": ALLOWING }, "as-written"],
  [
    "rewrites them",
    { "tsconfig.json": `{ "compilerOptions": { "rewriteRelativeImportExtensions": true } }` },
    "as-written",
  ],
  ["does neither", { "tsconfig.json": `{ "compilerOptions": { "module": "nodenext" } }` }, "js"],
  ["is empty", { "tsconfig.json": "{}" }, "js"],
  ["cannot be read", { "tsconfig.json": "{{" }, "js"],
  [
    "has comments and trailing commas",
    { "tsconfig.json": `\uFEFF{ // a\n "compilerOptions": { /* b, */ "allowImportingTsExtensions": true, }, }` },
    "as-written",
  ],
  ["extends one that does", { "tsconfig.json": `{ "extends": "./base" }`, "base.json": ALLOWING }, "as-written"],
  [
    "extends one of a package",
    { "tsconfig.json": `{ "extends": "conf/tsconfig.json" }`, "node_modules/conf/tsconfig.json": ALLOWING },
    "as-written",
  ],
  [
    "overrides what it extends",
    {
      "tsconfig.json": `{ "extends": ["./base.json"], "compilerOptions": { "allowImportingTsExtensions": false } }`,
      "base.json": ALLOWING,
    },
    "js",
  ],
  ["extends itself", { "tsconfig.json": `{ "extends": "./tsconfig.json" }` }, "js"],
  [
    "refers to projects of which one does",
    {
      "tsconfig.json": `{ "files": [], "references": [{ "path": "./tsconfig.app.json" }, { "path": "./node" }] }`,
      "tsconfig.app.json": ALLOWING,
      "node/tsconfig.json": "{}",
    },
    "as-written",
  ],
  ["refers to itself", { "tsconfig.json": `{ "references": [{ "path": "." }] }` }, "js"],
])("a tsconfig.json that %s", (_, files, expected) => {
  const directory = directoryWith({ ...files, "src/deep/a.ngraph": "" });
  expect(importExtensions(join(directory, "src/deep"))).toBe(expected);
});

test("comment signs in strings are no comments", () => {
  expect(JSON.parse(withoutComments(`{ "a": "x // y", "b": ["/*", "*/", ",]"], }`))).toEqual({
    a: "x // y",
    b: ["/*", "*/", ",]"],
  });
});
