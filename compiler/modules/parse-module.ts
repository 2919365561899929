import { parse, type ParserPlugin } from "@babel/parser";
import type { SyntaxTrees } from "../load/host.ts";
import { readTypedefs } from "./read-jsdoc.ts";

export type Program = ReturnType<typeof parse>["program"];
export type Statement = Program["body"][number];
export type StatementOf<Type extends Statement["type"]> = Extract<Statement, { type: Type }>;
export type TsType = StatementOf<"TSTypeAliasDeclaration">["typeAnnotation"];
export type Initialiser = NonNullable<StatementOf<"VariableDeclaration">["declarations"][number]["init"]>;
export type FunctionNode =
  | StatementOf<"FunctionDeclaration">
  | Extract<Statement, { type: "TSDeclareFunction" }>
  | Extract<Initialiser, { type: "ArrowFunctionExpression" | "FunctionExpression" }>;

/** Maximum length of a module in UTF-16 code units; a longer module counts as unreadable. */
const MAX_LENGTH = 2 * 1024 * 1024;

/**
 * Parses a TypeScript or JavaScript module; never runs it. Returns `undefined` for CommonJS files and for text that has
 * syntax errors.
 */
export function parseModule(text: string, path: string): Program | undefined {
  if (text.length > MAX_LENGTH || /\.c[jt]s$/.test(path)) return undefined;
  try {
    const { program, comments } = parse(text, {
      sourceType: "module",
      allowUndeclaredExports: true,
      plugins: pluginsFor(path),
    });
    // A JavaScript file without imports and exports may be CommonJS. Its typedefs are skipped: as exports they would
    // make the file look like an ES module.
    const isScript = !program.body.some(({ type }) => /^(Import|Export)/.test(type));
    if (!isTypeScript(path) && !isScript) program.body.push(...readTypedefs(comments));
    return program;
  } catch {
    return undefined;
  }
}

/** Shorter modules are parsed as fast as a stored tree is read. */
const MIN_STORED_LENGTH = 256;

/** `parseModule`, which takes the tree from `trees` if it is there, and adds it otherwise. */
export function parseStoredModule(text: string, path: string, trees: SyntaxTrees | undefined): Program | undefined {
  if (trees === undefined || text.length < MIN_STORED_LENGTH) return parseModule(text, path);
  const stored = trees.get(path, text);
  if (stored !== undefined) return JSON.parse(stored) as Program;
  const program = parseModule(text, path);
  const tree = program === undefined ? undefined : toJson(program);
  if (tree !== undefined) trees.set(path, text, tree);
  return program;
}

/** The tree without the places that nothing reads; `undefined` if JSON cannot say it (a literal such as `1e999`). */
function toJson(program: Program): string | undefined {
  let isExact = true;
  const tree = JSON.stringify(program, (key, value: unknown) => {
    if (typeof value === "number" && !Number.isFinite(value)) isExact = false;
    return key === "loc" || key === "tokens" || key === "errors" ? undefined : value;
  });
  return isExact ? tree : undefined;
}

export function isTypeScript(path: string): boolean {
  return /\.[cm]?tsx?$/.test(path);
}

function pluginsFor(path: string): ParserPlugin[] {
  const plugins: ParserPlugin[] = ["decorators", "explicitResourceManagement"];
  if (isTypeScript(path)) plugins.push(["typescript", { dts: /\.d\.[cm]?ts$/.test(path) }]);
  // JSX is not parsed in `.ts` files, where `<T>x` is a cast.
  if (!isTypeScript(path) || path.endsWith("x")) plugins.push("jsx");
  return plugins;
}
