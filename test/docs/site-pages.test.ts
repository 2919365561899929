/** What the site is assembled from: pages, links, order and the picture of the landing page. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drawCompiled } from "../../cli/drawing/compiled-drawing.ts";
import { printableDrawing } from "../../cli/drawing/drawing.ts";
import { renderSvg } from "../../cli/drawing/svg.ts";
import { compile, memoryHost } from "../../compiler/index.ts";
import { sitePages } from "../../site/assemble-pages.ts";
import { GROUPS } from "../../site/navigation.ts";
import { slugOf, withSiteLinks } from "../../site/site-links.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

const pages = sitePages(".");

test("each page has one place in the order, but those of single diagnostics, examples and entry points", () => {
  const ordered = GROUPS.flatMap((group) => group.pages);
  const expected = [...pages.keys()]
    .map((path) => path.replace(/\.md$/, ""))
    .filter((path) => path !== "index" && !/^(?:diagnostics|examples|api)\/(?!index$)/.test(path));
  expect([...ordered].sort()).toEqual(expected.sort());
});

test("every address that a page links to is a page with this heading, or a file", () => {
  const broken: string[] = [];
  for (const [path, text] of pages) {
    const prose = text.replaceAll(/^(`{3,})[\s\S]*?^\1$/gm, "");
    for (const [, target = ""] of prose.matchAll(/\]\((\/[^)\s]*)\)/g)) {
      const [address = "", anchor] = target.slice(1).split("#");
      if (/\.(?:svg|png)$/.test(address)) continue;
      const page = pages.get(`${address === "" || address.endsWith("/") ? `${address}index` : address}.md`);
      const headings = [...(page ?? "").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => slugOf(heading));
      if (page === undefined || (anchor !== undefined && !headings.includes(anchor))) broken.push(`${path}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

test("links become addresses of the site, code stays as it is", () => {
  const text = "[a](runs.md#errors) [b](../examples/trip/trip.ngraph) [c](diagnostics/README.md) [d](https://x.y)";
  expect(withSiteLinks(text, "docs/guide.md")).toBe(
    "[a](/runs#errors) [b](/examples/trip#tripngraph) [c](/diagnostics/) [d](https://x.y)",
  );
  const code = "`[a](runs.md)`\n```ts\n[b](runs.md)\n```\n";
  expect(withSiteLinks(code, "docs/guide.md")).toBe(code);
  expect(() => withSiteLinks("[a](../package.json)", "docs/guide.md")).toThrow(
    "docs/guide.md: the site has no page for the link to ../package.json",
  );
});

test("the landing page has the graph, the finding and the picture", () => {
  const landing = pages.get("index.md") ?? "";
  expect(landing).toContain("graph support {");
  expect(landing).toContain("error[NG301]");
  expect(landing).toContain("<svg");
  expect(landing).not.toContain("<!--");
});

test("docs/support.svg is the picture of the README's graph", async () => {
  const graph = fencedBlocks(readFileSync("README.md", "utf8")).find(({ language }) => language === "ngraph");
  const nodes = `export const searchDocs = (ticket: string): string[] => [ticket];
export const searchTickets = searchDocs;
export const draftReply = (ticket: string, notes: string[]): { reply: string; score: number } => ({ reply: ticket, score: notes.length });`;
  const host = memoryHost({ "nodes.ts": nodes });
  const compiled = compile(graph?.text ?? "", { path: "support.ngraph", host });
  if (compiled.table === undefined) throw new Error("the graph of README.md does not compile");
  const picture = await renderSvg(printableDrawing(drawCompiled(compiled, compiled.table).drawing));
  if (process.env["UPDATE"] === "1") writeFileSync("docs/support.svg", `${picture.trim()}\n`);
  expect(readFileSync("docs/support.svg", "utf8").trim()).toBe(picture.trim());
});
