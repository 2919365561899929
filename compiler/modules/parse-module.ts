import { parse, type ParserOptions, type ParserPlugin } from "@babel/parser";
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
    const { program, comments } = parse(text, optionsFor(path));
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

/** A syntax error of a module, without its place in the message. */
export interface ModuleError {
  readonly message: string;
  readonly offset: number;
}

/**
 * The first syntax error of a module that `parseModule` does not read. Returns `undefined` for text that a run may load: CommonJS,
 * and syntax that only this parser refuses.
 */
export function syntaxErrorOf(text: string, path: string): ModuleError | undefined {
  if (text.length > MAX_LENGTH || !/\.[cm]?[jt]sx?$/.test(path)) return undefined;
  const error = errorOf(text, optionsFor(path));
  if (error === undefined || isTypeScript(path) || path.endsWith(".mjs")) return error;
  const asScript = errorOf(text, { ...optionsFor(path), sourceType: "script", allowReturnOutsideFunction: true });
  return asScript === undefined ? undefined : error;
}

/** Errors after which the parser continues, and which every other parser reports, too. */
const CERTAIN: ReadonlySet<string> = new Set(["MissingSemicolon", "VarRedeclaration", "DeclarationMissingInitializer"]);
/** Errors about syntax that is new to this parser. */
const UNKNOWN: ReadonlySet<string> = new Set(["MissingPlugin", "MissingOneOfPlugins"]);

function errorOf(text: string, options: ParserOptions): ModuleError | undefined {
  const found = firstError(text, options);
  if (found === undefined) return undefined;
  const message = found.message
    .replace(/\.? \(\d+:\d+\)$/, "")
    .replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
  return { message, offset: found.pos };
}

interface ParserError {
  readonly message: string;
  readonly pos: number;
  readonly reasonCode: string;
}

function firstError(text: string, options: ParserOptions): ParserError | undefined {
  try {
    const { errors } = parse(text, { ...options, errorRecovery: true });
    return (errors as unknown as readonly ParserError[] | null)?.find(({ reasonCode }) => CERTAIN.has(reasonCode));
  } catch (error) {
    const { reasonCode, pos, message } = error as Partial<ParserError>;
    if (typeof pos !== "number" || message === undefined || reasonCode === undefined || UNKNOWN.has(reasonCode))
      return undefined;
    return { reasonCode, pos, message };
  }
}

function optionsFor(path: string): ParserOptions {
  return { sourceType: "module", allowUndeclaredExports: true, plugins: pluginsFor(path) };
}

export function isTypeScript(path: string): boolean {
  return /\.[cm]?tsx?$/.test(path);
}

function pluginsFor(path: string): ParserPlugin[] {
  const plugins: ParserPlugin[] = [
    "decorators",
    "decoratorAutoAccessors",
    "deferredImportEvaluation",
    "explicitResourceManagement",
  ];
  if (isTypeScript(path)) plugins.push(["typescript", { dts: /\.d\.[cm]?ts$/.test(path) }]);
  // JSX is not parsed in `.ts` files, where `<T>x` is a cast.
  if (!isTypeScript(path) || path.endsWith("x")) plugins.push("jsx");
  return plugins;
}
