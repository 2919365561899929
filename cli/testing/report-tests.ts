import type { Coverage } from "../../testing/coverage.ts";
import type { TestResult } from "../../testing/run-test.ts";
import { printable } from "../../diagnostics/render/index.ts";
import type { Output } from "../output/output.ts";
import { printableText } from "../output/printable-text.ts";

export const TEST_FORMATS = ["text", "tap", "junit", "github"] as const;
export type TestFormat = (typeof TEST_FORMATS)[number];

export function printResults(results: readonly TestResult[], format: TestFormat, output: Output): void {
  switch (format) {
    case "text":
      return printText(results, output);
    case "tap":
      return output.verbatim(tap(results));
    case "junit":
      return output.verbatim(junit(results));
    case "github":
      for (const line of github(results)) output.verbatim(line);
  }
}

/** The document of `--json`. */
export function resultsDocument(results: readonly TestResult[], coverage?: readonly Coverage[]): object {
  const failed = results.filter(({ ok }) => !ok).length;
  return {
    version: 1,
    ok: failed === 0,
    passed: results.length - failed,
    failed,
    tests: results,
    ...(coverage === undefined ? {} : { coverage }),
  };
}

const PART_NAMES = { node: "nodes", edge: "edges", arm: "arms", error: "error routes" } as const;

/** The share of the parts of each graph that tests take, and the other parts. In formats of other programs on stderr. */
export function printCoverage(coverage: readonly Coverage[], format: TestFormat, output: Output): void {
  const print = (line: string): void => (format === "text" ? output.result(line) : output.note(line));
  for (const each of coverage) {
    print(coverageLine(each));
    for (const { kind, text, line, column, count } of each.parts) {
      if (count === 0)
        print(`        ${each.file}(${line},${column}): not taken: ${kind === "node" ? "node " : ""}${text}`);
    }
  }
}

/** `coverage of reply: nodes 2/2  edges 3/4`. */
export function coverageLine({ graph, parts }: Coverage): string {
  const counts = (Object.keys(PART_NAMES) as (keyof typeof PART_NAMES)[]).flatMap((kind) => {
    const all = parts.filter((part) => part.kind === kind);
    if (all.length === 0) return [];
    return [`${PART_NAMES[kind]} ${all.filter(({ count }) => count > 0).length}/${all.length}`];
  });
  return `coverage of ${graph}: ${counts.join("  ")}`;
}

function printText(results: readonly TestResult[], output: Output): void {
  const { stdoutStyles: styles } = output;
  for (const { ok, title, file, line, column, failures } of results) {
    const shown = oneLine(title);
    output.result(ok ? `ok      ${shown}` : `${styles.error("FAILED")}  ${shown}  ${file}(${line},${column})`);
    for (const failure of failures) {
      output.result(`        ${file}(${failure.line},${failure.column}): ${failure.message}`);
      for (const detail of failure.details) output.result(`          ${detail}`);
    }
  }
  const failed = results.filter(({ ok }) => !ok).length;
  output.note(`${results.length - failed} of ${results.length} ${results.length === 1 ? "test" : "tests"} passed`);
}

/** The Test Anything Protocol, version 13. */
function tap(results: readonly TestResult[]): string {
  const lines = ["TAP version 13", `1..${results.length}`];
  for (const [index, { ok, title, file, failures }] of results.entries()) {
    lines.push(`${ok ? "ok" : "not ok"} ${index + 1} - ${oneLine(title).replaceAll("#", "\\#")}`);
    for (const { message, line, column, details } of failures) {
      for (const text of [`${file}(${line},${column}): ${message}`, ...details]) lines.push(`# ${oneLine(text)}`);
    }
  }
  return lines.join("\n");
}

function junit(results: readonly TestResult[]): string {
  const failed = results.filter(({ ok }) => !ok).length;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="ngc test" tests="${results.length}" failures="${failed}">`,
  ];
  for (const { title, graph, file, line, failures } of results) {
    const head = `  <testcase name="${escapeXml(title)}" classname="${escapeXml(graph)}" file="${escapeXml(file)}" line="${line}"`;
    if (failures.length === 0) lines.push(`${head}/>`);
    else {
      lines.push(`${head}>`);
      for (const { message, details } of failures) {
        lines.push(`    <failure message="${escapeXml(message)}">${escapeXml(details.join("\n"))}</failure>`);
      }
      lines.push("  </testcase>");
    }
  }
  return [...lines, "</testsuite>"].join("\n");
}

/** Workflow commands of GitHub Actions, one for each failure. */
function github(results: readonly TestResult[]): string[] {
  const property = (text: string): string => message(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  const message = (text: string): string =>
    printableText(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  return results.flatMap(({ title, file, failures }) =>
    failures.map(
      (failure) =>
        `::error file=${property(file)},line=${failure.line},col=${failure.column},title=${property(title)}::${message([failure.message, ...failure.details].join("\n"))}`,
    ),
  );
}

function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, " "));
}

/** Escapes text for XML 1.0, which allows no control characters. */
function escapeXml(text: string): string {
  return printableText(text)
    .replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
}
