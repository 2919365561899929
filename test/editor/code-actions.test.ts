/** Each suggested fix, as the language server offers it, in both spellings: the finding goes, no error comes, and formatted texts stay formatted. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CodeAction } from "vscode-languageserver-protocol";
import { formatText } from "../../cli/sources/format-text.ts";
import { memoryHost } from "../../compiler/index.ts";
import type { Spelling } from "../../compiler/load/read-syntax.ts";
import { checkDocument, type CheckedDocument, type OpenDocument } from "../../editor/document.ts";
import { findCodeActions } from "../../editor/find-code-actions.ts";
import { formatActions } from "../../editor/format-actions.ts";
import { convert } from "../../grammar/convert.ts";
import { applyTextEdits } from "./apply-text-edits.ts";

const links = { uriOf: (path: string) => `file://${path}`, pageOf: () => undefined };
const EVERYWHERE = { start: { line: 0, character: 0 }, end: { line: 10_000, character: 0 } };

interface Project {
  readonly path: string;
  readonly spelling: Spelling;
  readonly text: string;
  readonly others: Readonly<Record<string, string>>;
}

async function format({ text, path }: Pick<OpenDocument, "text" | "path">): Promise<string | undefined> {
  const formatted = await formatText(text, path);
  return typeof formatted === "string" ? formatted : undefined;
}

function checker({ path, spelling, text, others }: Project) {
  const host = memoryHost({ ...others, [path]: text });
  const check = (now: string): CheckedDocument =>
    checkDocument({ uri: `file://${path}`, path, spelling, version: 1, text: now }, host);
  const actionsOf = (checked: CheckedDocument): Promise<CodeAction[]> =>
    formatActions(
      findCodeActions(checked, EVERYWHERE, ["quickfix", "source.fixAll"], { host, links }),
      checked.document,
      format,
    );
  return { check, actionsOf };
}

function after({ path, text }: Project, action: CodeAction): string {
  return applyTextEdits(text, action.edit?.changes?.[`file://${path}`] ?? []);
}

const errorsOf = ({ result }: CheckedDocument): string[] =>
  result.diagnostics.flatMap(({ severity, code, message }) => (severity === "error" ? [`${code} ${message}`] : []));
const countOf = ({ result }: CheckedDocument, code: unknown): number =>
  result.diagnostics.filter((each) => each.code === code).length;

/** A fixture in the spellings that can say it, formatted where it has no syntax error. */
async function projectsOf(directory: string, file: string): Promise<Project[]> {
  const whole = readFileSync(join(directory, file), "utf8").replace(/^\/\/ findings:.*\n/m, "");
  const [main = "", ...rest] = whole.split(/^\/\/ file (?=\S+$)/m);
  const others = Object.fromEntries(
    rest.map((each) => [`/p/${each.slice(0, each.indexOf("\n"))}`, each.slice(each.indexOf("\n") + 1)]),
  );
  const [ngraph, yaml] = ["/p/a.ngraph", "/p/a.ngraph.yaml"];
  if (file.endsWith(".yaml")) return [{ path: yaml, spelling: "yaml", others, text: main }];
  const text = (await format({ text: main, path: ngraph })) ?? main;
  const converted = convert(text, { to: "yaml" });
  const inYaml = converted.lost.length === 0 ? await format({ text: converted.text, path: yaml }) : undefined;
  return [
    { path: ngraph, spelling: "ngraph", others, text },
    ...(inYaml === undefined || inYaml === "" ? [] : [{ path: yaml, spelling: "yaml" as const, others, text: inYaml }]),
  ];
}

const FIXTURES = ["test/checks/fixtures", "test/docs/fixtures"].flatMap((directory) =>
  readdirSync(directory)
    .filter((file) => file.includes("-fires"))
    .toSorted()
    .map((file) => [file, directory] as const),
);
const swept = new Set<string>();

describe("the fixes of", () => {
  test.each(FIXTURES)("%s", { timeout: 300_000 }, async (file, directory) => {
    for (const project of await projectsOf(directory, file)) {
      const { check, actionsOf } = checker(project);
      const before = check(project.text);
      const wasFormatted = (await format(project)) === project.text;
      for (const action of await actionsOf(before)) {
        const about = `${project.spelling}: ${action.title}`;
        const text = after(project, action);
        const now = check(text);
        const code = action.diagnostics?.[0]?.code;
        swept.add(`${project.spelling} ${code ?? "all"}`);
        if (code !== undefined) expect(countOf(now, code), about).toBeLessThan(countOf(before, code));
        expect(
          errorsOf(now).filter((error) => !errorsOf(before).includes(error)),
          about,
        ).toEqual([]);
        if (wasFormatted) expect(await format({ ...project, text }), about).toBe(text);
      }
    }
  });

  test("many codes were tried", () => {
    const inNgraph = [...swept].filter((each) => each.startsWith("ngraph"));
    const inYaml = [...swept].filter((each) => each.startsWith("yaml"));
    expect(inNgraph.length).toBeGreaterThanOrEqual(18);
    expect(inYaml.length).toBeGreaterThanOrEqual(18);
  });

  test("what is fixed in the text is fixed in YAML", () => {
    const codesIn = (spelling: Spelling): string[] =>
      [...swept].filter((each) => each.startsWith(`${spelling} `)).map((each) => each.slice(spelling.length + 1));
    const onlyInText = codesIn("ngraph").filter((code) => !codesIn("yaml").includes(code));
    // Their fixtures have syntax errors, and are not converted.
    expect(onlyInText.toSorted()).toEqual(["NG003", "NG006"]);
  });
});

describe("a policy that is deleted takes with it", () => {
  const graph = (pause: string): string => `graph g {\n  node pause = sleep(2h)${pause}\n  start -> pause -> end\n}\n`;
  const yaml = (pause: string): string => `graph: g\nnodes:\n${pause}edges:\n  - start -> pause -> end\n`;
  const defaults = (text: string): string => `graph g {\n${text}  node a = ask("ok?")\n  start -> a -> end\n}\n`;
  const yamlDefaults = (text: string): string =>
    `graph: g\n${text}nodes:\n  a: { call: ask, args: ['"ok?"'] }\nedges:\n  - start -> a -> end\n`;

  test.each<readonly [what: string, path: string, before: string, after: string]>([
    ["its braces", "a.ngraph", graph(" { timeout 3h }"), graph("")],
    ["braces of several lines", "a.ngraph", graph(" {\n    timeout 3h\n  }"), graph("")],
    ["its line", "a.ngraph", graph(" {\n    pause before\n    timeout 3h\n  }"), graph(" {\n    pause before\n  }")],
    ["the blanks before it", "a.ngraph", graph(" { pause before  timeout 3h }"), graph(" { pause before }")],
    ["the blanks after it", "a.ngraph", graph(" { timeout 3h  pause before }"), graph(" { pause before }")],
    [
      "its comma in YAML",
      "a.yaml",
      yaml("  pause: { call: sleep, args: [2h], timeout: 3h }\n"),
      yaml("  pause: { call: sleep, args: [2h] }\n"),
    ],
    [
      "the comma after it in YAML",
      "a.yaml",
      yaml("  pause: { timeout: 3h, call: sleep, args: [2h] }\n"),
      yaml("  pause: { call: sleep, args: [2h] }\n"),
    ],
    [
      "its line in YAML",
      "a.yaml",
      yaml("  pause:\n    call: sleep\n    timeout: 3h\n    args: [2h]\n"),
      yaml("  pause:\n    call: sleep\n    args: [2h]\n"),
    ],
    ["`defaults`", "a.ngraph", defaults("  defaults { timeout 30s }\n"), defaults("")],
    ["`defaults` of several lines", "a.ngraph", defaults("  defaults {\n    timeout 30s\n  }\n"), defaults("")],
    ["`defaults` in YAML", "a.yaml", yamlDefaults("defaults: { timeout: 30s }\n"), yamlDefaults("")],
    ["`defaults` in lines of YAML", "a.yaml", yamlDefaults("defaults:\n  timeout: 30s\n"), yamlDefaults("")],
  ])("%s", (_, name, before, expected) => {
    const project: Project = {
      path: `/p/${name}`,
      spelling: name === "a.yaml" ? "yaml" : "ngraph",
      text: before,
      others: {},
    };
    const checked = checker(project).check(before);
    const host = memoryHost({ [project.path]: before });
    const [action] = findCodeActions(checked, EVERYWHERE, ["quickfix"], { host, links });
    expect(action?.title).toBe("Delete it");
    expect(after(project, action!)).toBe(expected);
  });
});

test("a text that was not formatted keeps the smallest edit", async () => {
  const text = readFileSync("test/checks/fixtures/NG501-fires.ngraph", "utf8").replace(
    "graph missing",
    "graph  missing",
  );
  const project: Project = { path: "/p/a.ngraph", spelling: "ngraph", text, others: {} };
  const { check, actionsOf } = checker(project);
  const [action] = await actionsOf(check(text));
  expect(action?.edit?.changes?.["file:///p/a.ngraph"]?.map(({ newText }) => newText)).toEqual(['  "c" -> end']);
});
