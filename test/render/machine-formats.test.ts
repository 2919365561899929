import { expect, test } from "vitest";
import { renderGithub, renderPlain, renderSarif, toJson } from "../../diagnostics/render/index.ts";
import { SourceFile } from "../../diagnostics/source.ts";
import { joinNeverComplete, placeOf, sample } from "./samples.ts";

const file = new SourceFile("dir/a b.ngraph", "one\ntwo three\n");

test("plain lines are those that problem matchers of editors read", () => {
  const text = renderPlain([sample(file, "three"), sample(file, "one", {}, "NG111", "line\nbreak")]);
  expect(text).toBe("dir/a b.ngraph(2,5): error NG101: the message\ndir/a b.ngraph(1,1): warning NG111: line break");
  const matcher = /^([^\s].*)[(:](\d+)[,:](\d+)(?:\):\s+|\s+-\s+)(error|warning|info)\s+(\w+)\s*:\s*(.*)$/;
  for (const line of text.split("\n")) expect(line).toMatch(matcher);
});

test("plain lines are followed by the label, the trace, the notes and the help", () => {
  const found = sample(file, "three", { help: "a\n  b", notes: ["n"] });
  expect(renderPlain([found])).toBe("dir/a b.ngraph(2,5): error NG101: the message\n  note: n\n  help: a b");
  expect(renderPlain([joinNeverComplete()]).split("\n")).toHaveLength(4);
});

test("JSON has 1-based ranges with exclusive ends, labels, fixes and the trace", () => {
  const [json] = toJson([joinNeverComplete()]);
  expect(json).toMatchObject({
    code: "NG301",
    name: "join-never-complete",
    severity: "error",
    file: "review.ngraph",
    range: { start: { line: 14, column: 3 }, end: { line: 14, column: 22 } },
    labels: [{ message: "" }, { message: "and this arm are exclusive", range: { start: { line: 9, column: 53 } } }],
    notes: [],
    fixes: [{ title: "signal it from either", edits: [{ text: "legal, rewrite", range: { start: { line: 14 } } }] }],
    trace: [
      { step: 0, ran: ["triage"], chose: { triage: '"ok"' }, barriers: {} },
      { step: 1, ran: ["legal"], chose: {}, barriers: { publish: ["legal"] } },
    ],
    url: "docs/diagnostics/NG301.md",
  });
  expect(JSON.parse(JSON.stringify(json))).toEqual(json);
});

test("GitHub's workflow commands are escaped", () => {
  const found = sample(file, "three", { help: "a\nb", notes: ["50%"] }, "NG111", "a, b: c");
  expect(renderGithub([found])).toBe(
    "::warning file=dir/a b.ngraph,line=2,col=5,endLine=2,endColumn=9,title=NG111 unused-declaration::a, b: c%0A50%25%0Ahelp: a%0Ab",
  );
  expect(renderGithub([sample(new SourceFile("a,b:c", "x"), "x", {}, "NG207")])).toContain("::notice file=a%2Cb%3Ac,");
});

test("SARIF names each rule once and points results to it", () => {
  const other = new SourceFile("/abs/b.ngraph", "zzz\n");
  const found = [
    sample(file, "three", { labels: [{ ...placeOf(other, "zzz"), message: "there" }] }),
    sample(file, "one", {}, "NG111"),
    joinNeverComplete(),
    sample(file, "two"),
  ];
  const log = JSON.parse(renderSarif(found, { version: "1.2.3" }));
  expect(log.version).toBe("2.1.0");
  const [run] = log.runs;
  const rules = run.tool.driver.rules.map((rule: { id: string }) => rule.id);
  expect(rules).toEqual(["NG101", "NG111", "NG301"]);
  for (const result of run.results) expect(rules[result.ruleIndex]).toBe(result.ruleId);
  expect(run.results[0]).toMatchObject({
    level: "error",
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: "dir/a%20b.ngraph" },
          region: { startLine: 2, startColumn: 5, endLine: 2, endColumn: 10 },
        },
      },
    ],
    relatedLocations: [{ physicalLocation: { artifactLocation: { uri: "file:///abs/b.ngraph" } } }],
  });
  expect(run.results[2].fixes[0].artifactChanges[0].replacements[0].insertedContent.text).toBe("legal, rewrite");
});
