/** Reads the public API from the declaration files of the built package. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse, type ParseResult } from "@babel/parser";
import packageJson from "../../package.json" with { type: "json" };

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

type Statement = ParseResult["program"]["body"][number];

/** A declaration of a name: overloads and merged declarations are several. */
export interface Declaration {
  /** Without comments. */
  readonly text: string;
  /** As it is in the file, with the comments of its members. */
  readonly source: string;
  readonly doc: string | undefined;
  /** The kind of statement in the syntax tree. */
  readonly kind: string;
}

/** A declaration file of the package. */
interface DeclarationFile {
  readonly path: string;
  readonly text: string;
  readonly body: readonly Statement[];
  readonly comments: readonly { readonly start: number; readonly end: number }[];
}

const files = new Map<string, DeclarationFile>();

function read(path: string): DeclarationFile {
  const known = files.get(path);
  if (known !== undefined) return known;
  const text = readFileSync(path, "utf8");
  const { program, comments } = parse(text, { sourceType: "module", plugins: [["typescript", { dts: true }]] });
  const places = (comments ?? []).map(({ start, end }) => ({ start: start ?? 0, end: end ?? 0 }));
  const file = { path, text, body: program.body, comments: places };
  files.set(path, file);
  return file;
}

const resolve = ({ path }: DeclarationFile, specifier: string): DeclarationFile | undefined =>
  specifier.startsWith(".") ? read(join(dirname(path), specifier.replace(/\.js$/, ".d.ts"))) : undefined;

/** The text of a statement without its comments, on lines without trailing spaces. */
function textOf({ text, comments }: DeclarationFile, { start, end }: Statement): string {
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

/** The documentation before a statement, without the marks of the comment. */
function docOf({ text, comments }: DeclarationFile, { start }: Statement): string | undefined {
  const before = comments.findLast(({ end }) => end <= (start ?? 0));
  if (before === undefined || text.slice(before.end, start ?? 0).trim() !== "") return undefined;
  const comment = text.slice(before.start, before.end);
  if (!comment.startsWith("/**")) return undefined;
  return comment
    .slice(3, -2)
    .replaceAll(/^[ \t]*\* ?/gm, "")
    .trim();
}

/** The names that a statement declares. */
function declared(statement: Statement): readonly string[] {
  if (statement.type === "VariableDeclaration") {
    return statement.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  }
  const { id } = statement as { readonly id?: { readonly name?: string } | null };
  return id?.name === undefined ? [] : [id.name];
}

function declarationOf(file: DeclarationFile, statement: Statement, outer: Statement): Declaration {
  const { start, end } = statement;
  return {
    text: textOf(file, statement),
    source: file.text.slice(start ?? 0, end ?? 0),
    doc: docOf(file, outer),
    kind: statement.type,
  };
}

/** A declaration of another package. */
const elsewhere = (module: string): Declaration => {
  const text = `from "${module}"`;
  return { text, source: text, doc: undefined, kind: "" };
};

const nameOf = (node: { readonly type: string; readonly name?: string; readonly value?: unknown }): string =>
  node.type === "Identifier" ? (node.name ?? "") : String(node.value);

/** The declarations that a name of a file stands for: overloads and merged ones are several. */
function find(file: DeclarationFile, name: string): readonly Declaration[] {
  const found: Declaration[] = [];
  for (const statement of file.body) {
    const inner = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement;
    if (inner !== null && inner !== undefined && declared(inner).includes(name))
      found.push(declarationOf(file, inner, statement));
    if (statement.type === "ImportDeclaration") {
      for (const specifier of statement.specifiers) {
        if (specifier.local.name !== name) continue;
        const from = resolve(file, statement.source.value);
        if (from === undefined || specifier.type !== "ImportSpecifier") return [elsewhere(statement.source.value)];
        return exportsOf(from).get(nameOf(specifier.imported)) ?? [];
      }
    }
  }
  return found;
}

const known = new Map<string, ReadonlyMap<string, readonly Declaration[]>>();

/** The exports of a file with their declarations. */
function exportsOf(file: DeclarationFile): ReadonlyMap<string, readonly Declaration[]> {
  const before = known.get(file.path);
  if (before !== undefined) return before;
  const found = new Map<string, readonly Declaration[]>();
  known.set(file.path, found);
  for (const statement of file.body) {
    if (statement.type === "ExportAllDeclaration") {
      const from = resolve(file, statement.source.value);
      if (from === undefined) found.set(`* from "${statement.source.value}"`, []);
      // A name of the file itself wins over one of `export *`.
      else for (const [name, texts] of exportsOf(from)) if (!found.has(name)) found.set(name, texts);
    } else if (statement.type === "ExportDefaultDeclaration") {
      found.set("default", [declarationOf(file, statement, statement)]);
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
              ? [elsewhere(from)]
              : exportsOf(target).get(local);
        found.set(nameOf(specifier.exported), texts ?? []);
      }
    }
  }
  return found;
}

/** The entry points of the package: `ngraph`, `ngraph/runtime` and the others, with what they export, by name. */
export function entryPoints(): readonly EntryPoint[] {
  return Object.entries(packageJson.exports).flatMap(([name, target]) =>
    typeof target === "string"
      ? []
      : [
          {
            name: name === "." ? "ngraph" : `ngraph/${name.slice(2)}`,
            path: target.types,
            exports: [...exportsOf(read(join(ROOT, target.types)))].toSorted(([a], [b]) => (a < b ? -1 : 1)),
          },
        ],
  );
}

export interface EntryPoint {
  readonly name: string;
  /** Of its declaration file, in the package. */
  readonly path: string;
  readonly exports: readonly (readonly [name: string, declarations: readonly Declaration[]])[];
}
