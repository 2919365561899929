/** The API reference in docs/api is current, and its examples run. `UPDATE=1` writes the pages. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { transform } from "esbuild";
import { expect, onTestFinished, test } from "vitest";
import { apiPages, EXAMPLES } from "./api-reference.ts";

const FOLDER = "docs/api";
const pages = apiPages();

if (process.env["UPDATE"] === "1") {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of pages) writeFileSync(`${FOLDER}/${name}`, text);
}

test("each entry point has a page, and there are no others", () => {
  expect(readdirSync(FOLDER).sort()).toEqual([...pages.keys()].sort());
});

test.each([...pages])("docs/api/%s is current", (name, text) => {
  expect(readFileSync(`${FOLDER}/${name}`, "utf8")).toBe(text);
});

const examples = readdirSync(EXAMPLES);

test("each example is on the page of an entry point", () => {
  expect(examples.filter((file) => !pages.has(file.replace(/\.ts$/, ".md")))).toEqual([]);
});

test.each(examples)("the example %s runs with the built package", async (file) => {
  const { code } = await transform(readFileSync(join(EXAMPLES, file), "utf8"), { loader: "ts", format: "esm" });
  // Inside of the package, so that Node finds the package under its own name.
  mkdirSync("dist/.examples", { recursive: true });
  const directory = mkdtempSync("dist/.examples/");
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, "example.mjs"), code);
  await promisify(execFile)(process.execPath, [join(directory, "example.mjs")], { timeout: 240_000 });
});
