/** Each relative link of the documentation leads to a file, and to a heading of it. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";
import { slugOf } from "../../site/site-links.ts";

const PAGES = [
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".md")),
];

/** The text of a page without its code. */
const proseOf = (path: string): string =>
  readFileSync(path, "utf8")
    .replaceAll(/^(`{3,})[\s\S]*?^\1$/gm, "")
    .replaceAll(/`[^`\n]+\]\([^`\n]*`/g, "");

/** The anchors of a page, as GitHub derives them. */
function anchorsOf(path: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of proseOf(path).matchAll(/^#{1,6} (.*)$/gm)) {
    const slug = slugOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The links of a page that lead nowhere. */
function brokenLinks(path: string): readonly string[] {
  return [...proseOf(path).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = "", anchor] = target.split("#");
    const to = file === "" ? path : posix.normalize(posix.join(posix.dirname(path), file));
    if (!existsSync(to)) return [target];
    return anchor === undefined || anchorsOf(to).has(anchor) ? [] : [target];
  });
}

test("there are pages with links", () => expect(PAGES.length).toBeGreaterThan(100));

test.each(PAGES)("the links of %s lead to files and headings", (path) => {
  expect(brokenLinks(path)).toEqual([]);
});
