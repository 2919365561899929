import fc from "fast-check";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { diagnostic } from "../../diagnostics/diagnostic.ts";
import { displayWidth, renderPretty } from "../../diagnostics/render/index.ts";
import { SourceFile } from "../../diagnostics/source.ts";
import { joinNeverComplete, placeOf, sample } from "./samples.ts";
import { numRuns } from "../support/depth.ts";

describe("renderPretty", () => {
  test("prints the example of the design, character for character", () => {
    expect(renderPretty([joinNeverComplete()])).toBe(
      [
        "error[NG301]: `publish` can never run: its barrier waits for both arms of one choice",
        "  --> review.ngraph:14:3",
        "   |",
        ' 9 |   triage -> match verdict { "ok" -> legal  "bad" -> rewrite }',
        "   |                                     -----           ------- and this arm are exclusive",
        "14 |   all(legal, rewrite) -> publish",
        "   |   ^^^^^^^^^^^^^^^^^^^ waits for both",
        '   = trace: start · triage ("ok") · legal · stuck: publish has 1 of 2 (waits for rewrite)',
        "   = help: signal it from either: `any(legal, rewrite) -> publish`",
      ].join("\n"),
    );
  });

  test("colours change nothing but colours", () => {
    const colored = renderPretty([joinNeverComplete()], { color: true });
    expect(colored).toContain("\u001b[1m\u001b[31m");
    expect(stripVTControlCharacters(colored)).toBe(renderPretty([joinNeverComplete()]));
  });

  test("messages of several labels on one line hang from their marks", () => {
    const file = new SourceFile("a.ngraph", "one two three\n");
    const found = sample(file, "two", {
      label: "the middle",
      labels: [
        { ...placeOf(file, "one"), message: "the first" },
        { ...placeOf(file, "three"), message: "the last" },
      ],
    });
    expect(renderPretty([found]).split("\n").slice(3)).toEqual([
      "1 | one two three",
      "  | --- ^^^ ----- the last",
      "  | |   |",
      "  | |   the middle",
      "  | the first",
    ]);
  });

  test("labels in other files get a frame of their own", () => {
    const file = new SourceFile("a.ngraph", "use x\n");
    const other = new SourceFile("b.ngraph", "\ndeclare x\n");
    const found = sample(file, "x", { label: "used", labels: [{ ...placeOf(other, "x"), message: "declared" }] });
    expect(renderPretty([found])).toBe(
      [
        "error[NG101]: the message",
        " --> a.ngraph:1:5",
        "  |",
        "1 | use x",
        "  |     ^ used",
        " ::: b.ngraph:2:9",
        "  |",
        "2 | declare x",
        "  |         - declared",
      ].join("\n"),
    );
  });

  test("a place of several lines is marked on its first and last one", () => {
    const file = new SourceFile("a.ngraph", "graph x {\n  a\n  b\n}\n");
    const found = sample(file, file.text.trimEnd(), { label: "all of it" });
    expect(renderPretty([found]).split("\n").slice(3)).toEqual([
      "1 | graph x {",
      "  | ^^^^^^^^^",
      "...",
      "4 | }",
      "  | ^ all of it",
    ]);
  });

  test("tabs and wide characters do not move the marks", () => {
    const file = new SourceFile("a.ngraph", '\tnode "日本語" = 👍 here\n');
    const [line, marks] = renderPretty([sample(file, "here", { label: "x" })])
      .split("\n")
      .slice(3);
    const before = (line ?? "").slice(0, (line ?? "").indexOf("here"));
    expect((marks ?? "").indexOf("^^^^")).toBe(displayWidth(before));
    expect(line).not.toContain("\t");
  });

  test.each([
    ["an emoji of one character", "✅", 2],
    ["a lightning bolt", "⚡", 2],
    ["a family of four, joined by U+200D", "👨‍👩‍👧‍👦", 2],
    ["a hand with a skin tone", "👍🏽", 2],
    ["a flag", "🇩🇪", 2],
    ["a keycap", "1️⃣", 2],
    ["a symbol that U+FE0F turns into an emoji", "❤️", 2],
    ["a symbol that is text", "❤", 1],
    ["a letter with a combining mark", "e\u0301", 1],
    ["a Chinese character", "語", 2],
    ["a fullwidth letter", "Ａ", 2],
    ["Hangul syllables", "한국", 4],
    ["a digit", "1", 1],
  ])("%s: its width is in cells, and the mark after it is under its token", (_name, text, width) => {
    expect(displayWidth(text)).toBe(width);
    const file = new SourceFile("a.ngraph", `node "${text}" = here\n`);
    const marks = renderPretty([sample(file, "here", { label: "x" })]).split("\n")[4];
    expect(marks).toBe(`  | ${" ".repeat(10 + width)}^^^^ x`);
  });

  test("a mark on an emoji is as wide as the emoji", () => {
    const file = new SourceFile("a.ngraph", "a 👩‍💻 b\n");
    expect(renderPretty([sample(file, "👩‍💻", { label: "x" })]).split("\n")[4]).toBe("  |   ^^ x");
  });

  test("long lines are cut around their marks", () => {
    const file = new SourceFile("a.ngraph", `${"x".repeat(5000)}HERE${"y".repeat(5000)}\n`);
    const [line = "", marks = ""] = renderPretty([sample(file, "HERE")], { maxLineWidth: 60 })
      .split("\n")
      .slice(3);
    expect(line.length).toBeLessThan(70);
    expect(line.slice(marks.indexOf("^"), marks.indexOf("^") + 4)).toBe("HERE");
    expect(line).toMatch(/^1 \| …x+HEREy+…$/);
  });

  test("a place at the very end, in an empty file and of no length has a mark or none, never an error", () => {
    const file = new SourceFile("a.ngraph", "abc");
    const atEnd = diagnostic("NG001", { file, span: { start: 3, end: 3 } }, "m", { label: "here" });
    expect(renderPretty([atEnd]).split("\n").slice(3)).toEqual(["1 | abc", "  |    ^ here"]);
    const empty = new SourceFile("e.ngraph", "");
    const inEmpty = diagnostic("NG001", { file: empty, span: { start: 0, end: 0 } }, "m", { notes: ["n"] });
    expect(renderPretty([inEmpty])).toBe("error[NG001]: m\n --> e.ngraph:1:1\n  = note: n");
  });

  test("nothing of a source can move the cursor, colour or reorder the terminal", () => {
    const file = new SourceFile("a.ngraph", "x = \u001b[31m\u202e\u0007 y\r\n");
    const found = sample(file, "y", { label: "bad \u001b[2J" }, "NG003", "message\nwith \u001b[0m");
    const text = renderPretty([found]);
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(text.split("\n")[0]).toBe("error[NG003]: message with \\u{001b}[0m");
  });

  test("at most fifty are printed, errors first, with the number of the others", () => {
    const file = new SourceFile("a.ngraph", "x\n");
    const warnings = Array.from({ length: 60 }, () => sample(file, "x", {}, "NG111"));
    const text = renderPretty([...warnings, sample(file, "x", {}, "NG101")]);
    expect(text.match(/^warning\[/gm)).toHaveLength(49);
    expect(text.match(/^error\[/gm)).toHaveLength(1);
    expect(text).toContain("11 more not shown (show them with --max-diagnostics 61)");
    expect(renderPretty(warnings, { max: 60 })).not.toContain("more not shown");
  });

  test("the signals left in barriers end a trace that has no end of its own", () => {
    const file = new SourceFile("a.ngraph", "x\n");
    const trace = [
      { step: 0, ran: ["a", "b"], chose: { a: "else" }, barriers: {} },
      { step: 1, ran: ["constructor"], chose: {}, barriers: { c: ["a"] } },
    ];
    expect(renderPretty([sample(file, "x", { trace })])).toContain(
      "= trace: start · [a (else), b] · constructor · c has a",
    );
  });

  test("any spans in any text have frames with marks and labels", () => {
    const texts = fc.string({
      unit: fc.constantFrom("a", "b", " ", "\n", "\t", "語", "👍", "e\u0301", "\r\n"),
      maxLength: 80,
    });
    fc.assert(
      fc.property(texts, fc.array(fc.tuple(fc.nat(90), fc.nat(20)), { minLength: 1, maxLength: 5 }), (text, spans) => {
        const file = new SourceFile("f.ngraph", text);
        const places = spans.map(([start, length]) => ({ file, span: { start, end: start + length } }));
        const labels = places.slice(1).map((place, index) => ({ ...place, message: `label ${index}` }));
        const found = diagnostic("NG001", places[0] ?? { file, span: { start: 0, end: 0 } }, "m", {
          label: "primary",
          labels,
        });
        const output = renderPretty([found], { maxLineWidth: 20 });
        expect(output).toContain("error[NG001]: m");
        if (text !== "") {
          expect(output).toContain("^");
          for (const label of labels) expect(output).toContain(label.message);
        }
        for (const line of output.split("\n")) expect(line).toBe(line.trimEnd());
      }),
      { seed: 7, numRuns: numRuns(400) },
    );
  });
});
