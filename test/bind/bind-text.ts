import { bindProject, type BoundProject, type BindOptions } from "../../compiler/bind/bind-project.ts";
import { loadProject, type LoadOptions } from "../../compiler/load/load-project.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { finish } from "../../compiler/algorithms/steps.ts";
import { checkProject } from "../../compiler/checks/check-project.ts";
import { sortDiagnostics, type Diagnostic } from "../../diagnostics/diagnostic.ts";

/** Default modules from which the texts of tests import. */
export const MODULES = {
  "nodes.ts": [
    "export async function search(query: unknown): Promise<any> { return []; }",
    "export function rank(items: readonly string[]): string[] { return [...items]; }",
    "export const combine = (a: unknown, b: unknown) => a;",
    "export interface Ticket { title: string }",
    "export class Parser {}",
  ].join("\n"),
};

/** Binds a text beside files in memory. */
export function bindText(
  text: string,
  files: Readonly<Record<string, string>> = MODULES,
  options: Partial<LoadOptions & BindOptions> = {},
): BoundProject {
  return bindProject(loadProject(text, { path: "main.ngraph", host: memoryHost(files), ...options }), options);
}

/** Findings of the checks about names and channels. They need no types. */
const UNTYPED = new Set(["NG103", "NG108", "NG110", "NG111", "NG115", "NG406"]);

/** The findings of binding a text, and of the checks of its names and channels. */
export function findingsOf(text: string, files?: Readonly<Record<string, string>>): readonly Diagnostic[] {
  const project = bindText(text, files);
  const found = finish(checkProject(project)).diagnostics.filter(({ code }) => UNTYPED.has(code));
  return sortDiagnostics([...project.diagnostics, ...found]);
}

/** `NG101 main.ngraph:3:5`, in the order of printing. */
export function places(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map((item) => {
    const { line, column } = item.file.position(item.span.start);
    return `${item.code} ${item.file.path}:${line}:${column}`;
  });
}

/** The text that a diagnostic marks. */
export function marked(item: Diagnostic): string {
  return item.file.text.slice(item.span.start, item.span.end);
}

/** The text with a diagnostic's first fix applied; `undefined` when it offers none. */
export function withFix({ fixes, file }: Diagnostic): string | undefined {
  const [fix] = fixes;
  if (fix === undefined) return undefined;
  let { text } = file;
  for (const { span, text: replacement } of [...fix.edits].sort((a, b) => b.span.start - a.span.start)) {
    text = text.slice(0, span.start) + replacement + text.slice(span.end);
  }
  return text;
}

/** A readable list of everything that was found, for failing tests. */
export function explain(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map((item) => `${item.severity} ${item.code} at \`${marked(item)}\`: ${item.message}`).join("\n");
}

/** A graph around statements; a start edge and nothing unused is up to them. */
export function graph(...statements: readonly string[]): string {
  return `graph main {\n${statements.map((statement) => `  ${statement}`).join("\n")}\n}\n`;
}
