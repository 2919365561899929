/**
 * The public API as a text: what each entry point exports, with its declaration. A change of the API is a change of
 * `api-report.txt`, which a reviewer sees. `UPDATE=1` writes it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { entryPoints } from "./public-api.ts";

const REPORT = fileURLToPath(new URL("api-report.txt", import.meta.url));

test("the public API is the recorded one", () => {
  // A declaration that several entry points export is shown once.
  const shown = new Map<string, string>();
  const sections = entryPoints().map(({ name: entry, path, exports }) => {
    expect(exports.length, path).toBeGreaterThan(0);
    const parts = exports.map(([name, declarations]) => {
      expect(declarations.length > 0 || name.startsWith("* from"), `${entry}: ${name} has a declaration`).toBe(true);
      const text = declarations.map((each) => each.text).join("\n");
      const first = shown.get(`${name}\n${text}`);
      if (first !== undefined) return `${name}: as in ${first}`;
      shown.set(`${name}\n${text}`, entry);
      return `${name}:\n${text.replaceAll(/^/gm, "  ")}`;
    });
    return `# ${entry}\n\n${parts.join("\n")}\n`;
  });
  const report = sections.join("\n");
  if (process.env["UPDATE"] === "1") writeFileSync(REPORT, report);
  expect(report).toBe(readFileSync(REPORT, "utf8"));
});
