/**
 * The public API as a text: what each entry point exports, with its declaration. A change of the API is a change of
 * `api-report.txt`, which a reviewer sees. `UPDATE=1` writes it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, type ParseResult } from "@babel/parser";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const REPORT = fileURLToPath(new URL("api-report.txt", import.meta.url));

type Statement = ParseResult["program"]["body"][number];

/** A declaration file of the package. */
interface Declarations {
  readonly path: string;
  readonly text: string;
  readonly body: readonly Statement[];
  readonly comments: readonly { readonly start: number; readonly end: number }[];
}

const files = new Map<string, Declarations>();

function read(path: string): Declarations {
  const known = files.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, "utf8");
  const { program, comments } = parse(text, { sourceType: "module", plugins: [["typescript", { dts: true }]] });
  const places = (comments ?? []).map(({ start, end }) => ({ start: start ?? 0, end: end ?? 0 }));
  const file = { path, text, body: program.body, comments: places };
  files.set(path, file);
  return file;
}

const resolve = ({ path }: Declarations, specifier: string): Declarations | undefined =>
  specifier.startsWith(".") ? read(join(dirname(path), specifier.replace(/\.js$/, ".d.ts"))) : undefined;

/** The text of a statement without its comments, on lines without trailing spaces. */
function textOf({ text, comments }: Declarations, { start, end }: Statement): string {
  let shown = "";
  let at = start ?? 0;
  for (const comment of comments) {
    if (comment.start < at || comment.end > (end ?? 0)) continue;
    shown += text.slice(at, comment.start);
    at = comment.end;
  }
  shown += text.slice(at, end ?? 0);
  const lines = shown.split("\n").map((line) => line.trimEnd());
  return lines.filter((line) => line !== "").join("\n");
}

/** The names that a statement declares. */
function declared(statement: Statement): readonly string[] {
  if (statement.type === "VariableDeclaration") {
    return statement.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  }
  const { id } = statement as { readonly id?: { readonly name?: string } | null };
  return id?.name === undefined ? [] : [id.name];
}

const nameOf = (node: { readonly type: string; readonly name?: string; readonly value?: unknown }): string =>
  node.type === "Identifier" ? (node.name ?? "") : String(node.value);

/** The declarations that a name of a file stands for: overloads and merged ones are several. */
function find(file: Declarations, name: string): readonly string[] {
  const found: string[] = [];
  for (const statement of file.body) {
    const inner = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (inner !== null && inner !== undefined && declared(inner).includes(name)) found.push(textOf(file, inner));
    if (statement.type === "ImportDeclaration") {
      for (const specifier of statement.specifiers) {
        if (specifier.local.name !== name) continue;
        const from = resolve(file, statement.source.value);
        if (from === undefined || specifier.type !== "ImportSpecifier") return [`from "${statement.source.value}"`];
        return exportsOf(from).get(nameOf(specifier.imported)) ?? [];
      }
    }
  }
  return found;
}

const known = new Map<string, ReadonlyMap<string, readonly string[]>>();

/** The exports of a file with their declarations. */
function exportsOf(file: Declarations): ReadonlyMap<string, readonly string[]> {
  const before = known.get(file.path);
  if (before !== undefined) return before;
  const found = new Map<string, readonly string[]>();
  known.set(file.path, found);
  for (const statement of file.body) {
    if (statement.type === "ExportAllDeclaration") {
      const from = resolve(file, statement.source.value);
      if (from === undefined) found.set(`* from "${statement.source.value}"`, []);
      // A name of the file itself wins over one of `export *`.
      else for (const [name, texts] of exportsOf(from)) if (!found.has(name)) found.set(name, texts);
    } else if (statement.type === "ExportDefaultDeclaration") {
      found.set("default", [textOf(file, statement)]);
    } else if (statement.type === "ExportNamedDeclaration") {
      if (statement.declaration !== null && statement.declaration !== undefined) {
        for (const name of declared(statement.declaration)) found.set(name, find(file, name));
      }
      for (const specifier of statement.specifiers) {
        if (specifier.type !== "ExportSpecifier") continue;
        const from = statement.source === null || statement.source === undefined ? undefined : statement.source.value;
        const target = from === undefined ? undefined : resolve(file, from);
        const local = nameOf(specifier.local);
        const texts =
          from === undefined
            ? find(file, local)
            : target === undefined
              ? [`from "${from}"`]
              : exportsOf(target).get(local);
        found.set(nameOf(specifier.exported), texts ?? []);
      }
    }
  }
  return found;
}

test("the public API is the recorded one", () => {
  const entries = Object.entries(packageJson.exports).flatMap(([name, target]) =>
    typeof target === "string"
      ? []
      : [{ name: name === "." ? "ngraph" : `ngraph/${name.slice(2)}`, path: target.types }],
  );
  // A declaration that several entry points export is shown once.
  const shown = new Map<string, string>();
  const sections = entries.map(({ name: entry, path }) => {
    const names = [...exportsOf(read(join(ROOT, path)))].toSorted(([a], [b]) => (a < b ? -1 : 1));
    expect(names.length, relative(ROOT, path)).toBeGreaterThan(0);
    const parts = names.map(([name, texts]) => {
      expect(texts.length > 0 || name.startsWith("* from"), `${entry}: ${name} has a declaration`).toBe(true);
      const text = texts.join("\n");
      const first = shown.get(`${name}\n${text}`);
      if (first !== undefined) return `${name}: as in ${first}`;
      shown.set(`${name}\n${text}`, entry);
      return `${name}:\n${text.replaceAll(/^/gm, "  ")}`;
    });
    return `# ${entry}\n\n${parts.join("\n")}\n`;
  });
  const report = sections.join("\n");
  if (process.env["UPDATE"] === "1") writeFileSync(REPORT, report);
  expect(report).toBe(readFileSync(REPORT, "utf8"));
});
