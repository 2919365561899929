import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { check } from "../../compiler/index.ts";
import type { CompilerHost } from "../../compiler/load/host.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

/** Modules exist and may export anything: the pages show graphs, not node functions. */
const host: CompilerHost = {
  readFile: (path) => (path.endsWith("nodes.ts") ? `export * from "anything";` : undefined),
  realPath: (path) => path,
};

describe.each([
  "README.md",
  "docs/language.md",
  "docs/guide.md",
  "docs/concepts.md",
  "docs/agents.md",
  "docs/models.md",
  "docs/plans.md",
  "docs/runs.md",
])("%s", (page) => {
  const blocks = fencedBlocks(readFileSync(page, "utf8")).filter((block) =>
    ["ngraph", "yaml"].includes(block.language),
  );

  test("has graphs", () => expect(blocks.length).toBeGreaterThan(0));

  test.each(blocks.map((block) => [block.line, block] as const))("the graph at line %i checks clean", (line, block) => {
    const path = `${page}-${line}.${block.language === "yaml" ? "yaml" : "ngraph"}`;
    const { diagnostics } = check(block.text, { path, host });
    const findings = diagnostics.filter((item) => item.severity !== "info");
    expect(
      findings.map((item) => `${item.code} line ${item.file.position(item.span.start).line}: ${item.message}`),
    ).toEqual([]);
  });
});
