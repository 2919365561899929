import { readdirSync, readFileSync } from "node:fs";
import * as prettier from "prettier";
import { describe, expect, test } from "vitest";
import { format } from "../../grammar/format/format.ts";
import * as plugin from "../../grammar/prettier-plugin.ts";

const CASES = new URL("cases/", import.meta.url);
const options = { plugins: [plugin], filepath: "g.ngraph" };

describe("Prettier with the plugin", () => {
  test.each(readdirSync(CASES))("formats %s as `format` does", async (name) => {
    const text = readFileSync(new URL(name, CASES), "utf8");
    expect(await prettier.format(text, options)).toBe(await format(text));
  });

  test("knows the language by its extension", async () => {
    expect((await prettier.getFileInfo("a/b.ngraph", { plugins: [plugin] })).inferredParser).toBe("ngraph");
  });

  test("obeys Prettier's own options", async () => {
    const text = "graph g { node a = f(first, second, third) { tries 2 } }";
    expect(await prettier.format(text, { ...options, printWidth: 40, useTabs: true, endOfLine: "crlf" })).toBe(
      "graph g {\r\n\tnode a = f(first, second, third) {\r\n\t\ttries 2\r\n\t}\r\n}\r\n",
    );
  });

  test("formats code blocks in Markdown", async () => {
    const text = "# A\n\n```ngraph\ngraph g{start->a}\n```\n";
    expect(await prettier.format(text, { plugins: [plugin], parser: "markdown" })).toBe(
      "# A\n\n```ngraph\ngraph g {\n  start -> a\n}\n```\n",
    );
  });

  test("reports the place of an error", async () => {
    const error: unknown = await prettier
      .format("graph g {\n  node = 1\n}", options)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(SyntaxError);
    expect(error).toMatchObject({ loc: { start: { line: 2, column: 8 } } });
    expect((error as Error).message).toContain("(NG001)");
  });
});
