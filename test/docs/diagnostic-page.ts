import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compile, memoryHost, type CompileOptions, type CompileResult } from "../../compiler/index.ts";
import { CODE_GROUPS, DIAGNOSTIC_CODES, type CodeInfo, type DiagnosticCode } from "../../diagnostics/codes.ts";
import { ADVICE } from "./diagnostic-advice.ts";
import { renderPretty } from "../../diagnostics/render/index.ts";

/** The fixtures of the checks, and those of findings that need a whole compilation. */
const FIXTURES = ["test/checks/fixtures", "test/docs/fixtures"];

/** The index of all pages, by subject. */
export function diagnosticIndex(): string {
  const codes = Object.entries(DIAGNOSTIC_CODES);
  const parts = Object.entries(CODE_GROUPS).flatMap(([digit, title]) => [
    `## ${title}`,
    "",
    "| code | name | severity | meaning |",
    "|---|---|---|---|",
    ...codes
      .filter(([code]) => code[2] === digit)
      .map(([code, info]) => `| [${code}](${code}.md) | \`${info.name}\` | ${info.severity} | ${info.title} |`),
    "",
  ]);
  return [
    "# Diagnostics",
    "",
    "Each code has a page with an example that causes it, its message, a similar example without it, why it matters, and how to choose a fix.",
    "`ngc explain CODE` prints the page. The tests generate these pages from the compiler's output.",
    "",
    ...parts,
  ].join("\n");
}

/** The page of a code: its subject, an example that causes it with the message, a similar one that does not, and advice. */
export function diagnosticPage(code: DiagnosticCode): string {
  const { name, severity, title }: CodeInfo = DIAGNOSTIC_CODES[code];
  const parts = [`# ${code} ${name}`, "", `${severity[0]?.toUpperCase()}${severity.slice(1)}: ${title}.`, ""];
  const fires = fixture(code, "fires");
  if (fires !== undefined) {
    const what = /^plan /m.test(fires) && !/^graph /m.test(fires) ? "plan" : "graph";
    parts.push(`## A ${what} that causes it`, "", ...fenced(fires), "");
    const message = messageOf(code, fires);
    if (message !== undefined) parts.push("```text", message, "```", "");
  }
  const near = fixture(code, "near");
  if (near !== undefined) parts.push("## A similar one that does not", "", ...fenced(near), "");
  const { why, fix } = ADVICE[code];
  const isFinding = severity !== "info";
  parts.push("## Why it matters", "", why, "", isFinding ? "## How to choose a fix" : "## What to do", "", fix, "");
  return parts.join("\n");
}

export function fixture(code: string, kind: "fires" | "near"): string | undefined {
  const path = FIXTURES.flatMap((directory) =>
    ["ngraph", "yaml"].map((extension) => join(directory, `${code}-${kind}.${extension}`)),
  ).find((each) => existsSync(each));
  if (path === undefined) return undefined;
  // The first line lists the findings that the tests expect.
  return readFileSync(path, "utf8")
    .replace(/^\/\/ findings:.*\n/m, "")
    .trim();
}

/** The file of a fixture, and beside it those that follow lines `// file NAME`. */
function filesOf(text: string): readonly (readonly [name: string, text: string])[] {
  const [main = "", ...others] = text.split(/^\/\/ file (?=\S+$)/m);
  return [
    [`example.${isYaml(main) ? "yaml" : "ngraph"}`, main],
    ...others.map((other): [string, string] => {
      const end = other.indexOf("\n");
      return [other.slice(0, end), other.slice(end + 1)];
    }),
  ];
}

function isYaml(text: string): boolean {
  return /^(?:graph|plan|imports|types):/.test(text);
}

function fenced(text: string): readonly string[] {
  return filesOf(text).flatMap(([name, part], at) => [
    ...(at === 0 ? [] : ["", `With \`${name}\`:`, ""]),
    "```" + (/\w+$/.exec(name)?.[0] ?? ""),
    part.trim(),
    "```",
  ]);
}

export function compileFixture(text: string, options: CompileOptions = {}): CompileResult {
  const files = Object.fromEntries(filesOf(text));
  const [[path, main] = ["", ""]] = filesOf(text);
  return compile(main, { path, host: memoryHost(files), ...options });
}

/** The message of the compiler with this code for a fixture; `undefined` if it has none. */
export function messageOf(code: DiagnosticCode, text: string): string | undefined {
  // A first line `// baseline: …` holds the earlier version of the graph.
  const old = /^\/\/ baseline: (.*)$/m.exec(text)?.[1];
  const baseline = old === undefined ? {} : { baseline: compile(old, { path: "old.ngraph" }).tables };
  const { diagnostics, graphs } = compileFixture(text, baseline);
  const found = diagnostics.filter((item) => item.code === code);
  if (found.length > 0) return renderPretty(found).trim();
  const proof = graphs.flatMap((graph) => graph.proofs).find((item) => item.code === code);
  return proof === undefined ? undefined : `info[${code}]: ${proof.message}`;
}
