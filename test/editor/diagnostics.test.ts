import { describe, expect, test } from "vitest";
import { memoryHost } from "../../compiler/load/host.ts";
import { SourceFile } from "../../diagnostics/source.ts";
import { checkDocument, spellingOf } from "../../editor/document.ts";
import { findCodeActions } from "../../editor/find-code-actions.ts";
import { findDiagnostics, type Links } from "../../editor/find-diagnostics.ts";
import { toOffset, toPosition } from "../../editor/positions.ts";
import { replaceText } from "../../editor/replace-text.ts";
import { applyTextEdits } from "./apply-text-edits.ts";

const links: Links = { uriOf: (path) => `file://${path}`, pageOf: (code) => `file:///docs/${code}.md` };
const WHOLE = { start: { line: 0, character: 0 }, end: { line: 1000, character: 0 } };

function check(text: string, path = "/p/a.ngraph", files: Readonly<Record<string, string>> = {}) {
  const spelling = spellingOf(path, "") ?? "ngraph";
  const document = { uri: `file://${path}`, path, spelling, version: 1, text };
  return checkDocument(document, memoryHost(files));
}

const MISSPELT = `graph g {\n  state draft: string = ""\n  node write = print(draf)\n  start -> write -> end\n}\n`;

describe("diagnostics", () => {
  test("have the range, the code, its page and the help of a finding", () => {
    const [found, ...others] = findDiagnostics(check(MISSPELT), links).filter(({ severity }) => severity === 1);
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      range: { start: { line: 2, character: 21 }, end: { line: 2, character: 25 } },
      source: "ngraph",
      codeDescription: { href: `file:///docs/${found?.code}.md` },
    });
    expect(found?.message).toContain("`draf`");
  });

  test("have the other places of a finding as related information", () => {
    const twice = `graph g {\n  node a = print("x")\n  node a = print("y")\n  start -> a -> end\n}\n`;
    const related = findDiagnostics(check(twice), links).flatMap((each) => each.relatedInformation ?? []);
    expect(related.map(({ location }) => [location.uri, location.range.start.line])).toContainEqual([
      "file:///p/a.ngraph",
      1,
    ]);
  });

  test("of an imported file are placed at the import", () => {
    const text = `import { g } from "./b.ngraph"\n\ngraph h {\n  node a = g()\n  start -> a -> end\n}\n`;
    const found = findDiagnostics(check(text, "/p/a.ngraph", { "/p/b.ngraph": MISSPELT }), links);
    expect(found).toContainEqual(
      expect.objectContaining({
        range: { start: { line: 0, character: 18 }, end: { line: 0, character: 30 } },
        relatedInformation: [
          expect.objectContaining({ location: expect.objectContaining({ uri: "file:///p/b.ngraph" }) }),
        ],
      }),
    );
  });

  test("of YAML are those of the same text", () => {
    const yaml = `graph: g\nnodes:\n  write: print(draf)\nedges:\n  - start -> write -> end\n`;
    const found = findDiagnostics(check(yaml, "/p/a.ngraph.yaml"), links);
    expect(found.filter(({ severity }) => severity === 1).length).toBeGreaterThan(0);
  });
});

describe("code actions", () => {
  const context = { host: memoryHost({}), links };

  test("apply the fix of a finding in the range", () => {
    const checked = check(MISSPELT);
    const range = { start: { line: 2, character: 22 }, end: { line: 2, character: 22 } };
    const [action] = findCodeActions(checked, range, undefined, context);
    expect(action).toMatchObject({ kind: "quickfix", isPreferred: true });
    const edits = action?.edit?.changes?.["file:///p/a.ngraph"] ?? [];
    expect(applyTextEdits(MISSPELT, edits)).toContain("print(draft)");
  });

  test("are none outside of the range", () => {
    const range = { start: { line: 4, character: 0 }, end: { line: 4, character: 0 } };
    expect(findCodeActions(check(MISSPELT), range, undefined, context)).toEqual([]);
  });

  test("fix all findings on request", () => {
    const actions = findCodeActions(check(MISSPELT), WHOLE, ["source.fixAll"], context);
    expect(actions.map(({ kind }) => kind)).toEqual(["source.fixAll.ngraph"]);
    const edits = actions[0]?.edit?.changes?.["file:///p/a.ngraph"] ?? [];
    expect(applyTextEdits(MISSPELT, edits)).toBe(MISSPELT.replace("draf)", "draft)"));
  });

  test("insert the line breaks of the text", () => {
    const text = MISSPELT.replaceAll("\n", "\r\n");
    const actions = findCodeActions(check(text), WHOLE, ["source.fixAll"], context);
    const edits = actions[0]?.edit?.changes?.["file:///p/a.ngraph"] ?? [];
    expect(applyTextEdits(text, edits)).toBe(text.replace("draf)", "draft)"));
  });
});

describe("positions", () => {
  test("count UTF-16 code units from 0", () => {
    const file = new SourceFile("a", "é😀\r\nb");
    expect(toPosition(file, 3)).toEqual({ line: 0, character: 3 });
    expect(toPosition(file, 5)).toEqual({ line: 1, character: 0 });
    expect(toOffset(file, { line: 1, character: 1 })).toBe(6);
  });

  test("behind the end of a line or of the text are moved to that end", () => {
    const file = new SourceFile("a", "ab\r\nc");
    expect(toOffset(file, { line: 0, character: 9 })).toBe(2);
    expect(toOffset(file, { line: 7, character: 0 })).toBe(5);
  });
});

test.each([
  ["", "a\n"],
  ["\na\n", "b\n\na\n"],
  ["a\nb\nc\n", "a\nx\nc\n"],
  ["a\nb\n", "a\nb\nb\n"],
  ["a\nb\nb\n", "a\nb\n"],
  ["a", "a\n"],
  ["a\r\nb\r\n", "a\nb\n"],
  ["😀\n", "😁\n"],
  ["a\n", ""],
])("the edit from %j to %j has this effect", (from, to) => {
  expect(applyTextEdits(from, replaceText(new SourceFile("a", from), to))).toBe(to);
});
