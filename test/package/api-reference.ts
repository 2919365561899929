/** The pages of the API reference: what each entry point exports, from the docstrings, with an example. */
import { existsSync, readFileSync } from "node:fs";
import { slugOf } from "../../site/site-links.ts";
import { entryPoints, type Declaration, type EntryPoint } from "./public-api.ts";

/** Programs that the tests type-check and run. */
export const EXAMPLES = "test/package/api-examples";

const PART_OF_KIND: Readonly<Record<string, string>> = {
  TSDeclareFunction: "Functions",
  FunctionDeclaration: "Functions",
  ClassDeclaration: "Classes",
  VariableDeclaration: "Values",
  ExportDefaultDeclaration: "Values",
  TSInterfaceDeclaration: "Types",
  TSTypeAliasDeclaration: "Types",
};
const PARTS = ["Functions", "Classes", "Values", "Types", "Other names"] as const;

/** `ngraph/stores/sqlite` has the page `stores-sqlite.md`. */
export const pageName = (entry: string): string =>
  `${entry.replace(/^ngraph\/?/, "").replaceAll("/", "-") || "ngraph"}.md`;

/** The pages by their names, with the list of entry points as README.md. */
export function apiPages(): ReadonlyMap<string, string> {
  const entries = entryPoints();
  const shown = new Map<string, string>();
  const pages = new Map(entries.map((entry) => [pageName(entry.name), entryPage(entry, shown)]));
  return new Map([["README.md", indexPage(entries)], ...pages]);
}

function indexPage(entries: readonly EntryPoint[]): string {
  const rows = entries.map((entry) => {
    const [first = ""] = moduleDoc(entry)
      .replaceAll("\n", " ")
      .split(/(?<=[.:]) /);
    return `| [\`${entry.name}\`](${pageName(entry.name)}) | ${first.replace(/[.:]$/, "").replaceAll("|", "\\|")} |`;
  });
  return [
    "# API reference",
    "",
    "The entry points of the package. The pages are generated from the docstrings of the sources; the tests check that they are current, and run their examples.",
    "[Runs](../runs.md) and [stores](../stores.md) describe the engine as a guide.",
    "",
    "| entry point | for |",
    "|---|---|",
    ...rows,
    "",
    "`ngraph/schema.json` is the JSON Schema of graphs in YAML.",
    "",
  ].join("\n");
}

function entryPage(entry: EntryPoint, shown: Map<string, string>): string {
  const page = pageName(entry.name);
  const parts = new Map<string, string[]>(PARTS.map((part) => [part, []]));
  for (const [name, declarations] of entry.exports) {
    const part = PART_OF_KIND[declarations[0]?.kind ?? ""] ?? "Other names";
    const key = `${name}\n${declarations.map(({ text }) => text).join("\n")}`;
    const first = shown.get(key);
    if (first === undefined) shown.set(key, page);
    parts.get(part)?.push(first === undefined ? nameSection(name, declarations) : reference(name, first, entry.name));
  }
  return [
    `# ${entry.name}`,
    "",
    prose(moduleDoc(entry)),
    "",
    ...example(page),
    ...[...parts].flatMap(([part, sections]) => (sections.length === 0 ? [] : [`## ${part}`, "", ...sections])),
  ].join("\n");
}

function reference(name: string, page: string, entry: string): string {
  return `### ${name}\n\n${name === entry ? "" : `See [\`${name}\`](${page}#${slugOf(name)}).`}\n`;
}

function nameSection(name: string, declarations: readonly Declaration[]): string {
  if (name.startsWith("* from")) return `### ${name}\n\nEverything that this module exports.\n`;
  const docs = declarations.flatMap(({ doc }) => (doc === undefined ? [] : [prose(doc)]));
  const sources = declarations.map(({ source }) => source.replace(/^export (?:default )?(?:declare )?|^declare /, ""));
  return [`### ${name}`, "", ...docs.flatMap((doc) => [doc, ""]), "```ts", ...sources, "```", ""].join("\n");
}

/** The text of a docstring as Markdown. */
function prose(doc: string): string {
  const parts = doc.split(/^(?=@(?:param|returns?|throws|example|typeParam|template|see|deprecated)\b)/m);
  return parts
    .map((part) => {
      const [, tag, body = ""] = /^@(\w+) ?([\s\S]*)$/.exec(part.trim()) ?? [];
      if (tag === undefined) return escaped(part.trim());
      if (tag === "example") return body.includes("```") ? body : ["```ts", body.trim(), "```"].join("\n");
      const text = body.trim().replaceAll(/\n\s*/g, " ");
      if (tag === "param" || tag === "template") {
        return text.replace(
          /^(\S+)\s*-?\s*(.*)$/,
          (_, name: string, what: string) => `- \`${name}\`: ${escaped(what)}`,
        );
      }
      if (tag === "throws") return `Throws ${escaped(text)}${/[.!?]$/.test(text) ? "" : "."}`;
      return `${tag === "return" || tag === "returns" ? "Returns" : `${tag[0]?.toUpperCase()}${tag.slice(1)}:`} ${escaped(text)}`;
    })
    .join("\n\n")
    .replaceAll(/(^- .*)\n\n(?=- )/gm, "$1\n");
}

/** Text in which a page reads neither `<` as a tag nor `{{` as an expression; code stays as it is. */
function escaped(text: string): string {
  return text
    .replaceAll(/\{@link ([^}|]+?)(?:\|([^}]*))?\}/g, (_, target: string, label?: string) => `\`${label ?? target}\``)
    .split(/(```[\s\S]*?```|`[^`]*`)/)
    .map((part) => (part.startsWith("`") ? part : part.replaceAll("<", "&lt;").replaceAll("{{", "{&#123;")))
    .join("");
}

/** The comment at the beginning of the source of an entry point. */
function moduleDoc({ path, name }: EntryPoint): string {
  const source = readFileSync(path.replace(/^\.\/dist\//, "").replace(/\.d\.ts$/, ".ts"), "utf8");
  const comment = /^\/\*\*([\s\S]*?)\*\//.exec(source)?.[1];
  if (comment === undefined) throw new Error(`${name} has no docstring`);
  const text = comment.replaceAll(/^[ \t]*\* ?/gm, "").trim();
  // The heading of the page has the name.
  const rest = text.replace(new RegExp(`^\`${name}\`: `), "");
  return `${rest[0]?.toUpperCase()}${rest.slice(1)}`;
}

function example(page: string): readonly string[] {
  const path = `${EXAMPLES}/${page.replace(/\.md$/, ".ts")}`;
  if (!existsSync(path)) return [];
  return ["## Example", "", "```ts", readFileSync(path, "utf8").trim(), "```", ""];
}
