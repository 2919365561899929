/** The declarations of a program, and of the files that it imports by a relative path. */
import { bindScopes, boundNames } from "./program-scopes.ts";
import { isTree, parseProgram, walk, type Tree } from "./program-tree.ts";

/**
 * Reads a module that a program imports.
 *
 * @param from the path of the importing module as an earlier call returned it; `undefined` for the program itself
 * @returns its text and its path, `undefined` if it cannot be read
 */
export type ReadModule = (
  specifier: string,
  from: string | undefined,
) => { readonly path: string; readonly text: string } | undefined;

/** A program of a hundred modules says nothing new about the state of its graph. */
const MAX_MODULES = 100;

interface Module {
  readonly path: string | undefined;
  readonly program: Tree;
  readonly own: ReadonlyMap<string, Tree>;
}

/** Functions and constants of the program by name; of several with one name the first. Names that it imports have their declaration in the other file. */
export function declarations(program: Tree, readModule?: ReadModule): ReadonlyMap<string, Tree> {
  const found = new Map(ownDeclarations(program));
  if (readModule === undefined) return found;
  const modules = new Map<string, Module>();
  const open = (specifier: unknown, from: string | undefined): Module | undefined => {
    if (typeof specifier !== "string" || !/^\.\.?(?:\/|$)/.test(specifier) || modules.size >= MAX_MODULES)
      return undefined;
    const read = readModule(specifier, from);
    if (read === undefined) return undefined;
    const known = modules.get(read.path);
    if (known !== undefined) return known;
    const parsed = tryParse(read.text, read.path);
    if (parsed === undefined) return undefined;
    const module = { path: read.path, program: parsed, own: ownDeclarations(parsed) };
    modules.set(read.path, module);
    return module;
  };
  const imported = new Set<string>();
  for (const { local, name, source } of importsOf(program)) {
    imported.add(local);
    const tree = exported(open(source, undefined), name, open);
    if (tree !== undefined && !found.has(local)) found.set(local, tree);
  }
  // What the imported declarations use themselves. A name that the program imports from a package keeps this meaning.
  const add = (name: string, tree: Tree | undefined): void => {
    if (tree !== undefined && !found.has(name) && !imported.has(name)) found.set(name, tree);
  };
  // The loop also visits the modules that it opens.
  for (const { path, program: of, own } of modules.values()) {
    for (const [name, tree] of own) add(name, tree);
    for (const { local, name, source } of importsOf(of)) add(local, exported(open(source, path), name, open));
  }
  return found;
}

/** What a module exports under a name: its own declaration, or that of a module which it exports from or imports. */
function exported(
  module: Module | undefined,
  name: string,
  open: (specifier: unknown, from: string | undefined) => Module | undefined,
  depth = 0,
): Tree | undefined {
  if (module === undefined || depth > 10) return undefined;
  const next = (source: unknown, of: string): Tree | undefined =>
    exported(open(source, module.path), of, open, depth + 1);
  const local = localName(module.program, name);
  const own = module.own.get(local);
  if (own !== undefined) return own;
  const brought = importsOf(module.program).find((each) => each.local === local);
  if (brought !== undefined) return next(brought.source, brought.name);
  for (const statement of statementsOf(module.program)) {
    const source = isTree(statement["source"]) ? statement["source"]["value"] : undefined;
    if (source === undefined) continue;
    if (statement.type === "ExportAllDeclaration") {
      const tree = next(source, name);
      if (tree !== undefined) return tree;
    }
    if (statement.type !== "ExportNamedDeclaration") continue;
    for (const each of statement["specifiers"] as readonly Tree[])
      if (nameOf(each["exported"]) === name) return next(source, nameOf(each["local"]) ?? name);
  }
  return undefined;
}

/** The name in the module of what it exports as `name`. */
function localName(program: Tree, name: string): string {
  for (const statement of statementsOf(program)) {
    if (name === "default" && statement.type === "ExportDefaultDeclaration") {
      const declaration = statement["declaration"] as Tree;
      return nameOf(declaration) ?? nameOf(declaration["id"]) ?? DEFAULT;
    }
    if (statement.type !== "ExportNamedDeclaration" || isTree(statement["source"])) continue;
    for (const each of statement["specifiers"] as readonly Tree[])
      if (nameOf(each["exported"]) === name) return nameOf(each["local"]) ?? name;
  }
  return name;
}

/** The name of a default export without one. It cannot be a name of the program. */
const DEFAULT = "export default";

interface ImportedName {
  readonly local: string;
  readonly name: string;
  readonly source: unknown;
}

function importsOf(program: Tree): readonly ImportedName[] {
  return statementsOf(program).flatMap((statement) => {
    if (statement.type !== "ImportDeclaration" || !isTree(statement["source"])) return [];
    const source = statement["source"]["value"];
    return (statement["specifiers"] as readonly Tree[]).map((each) => ({
      local: nameOf(each["local"]) ?? "",
      name: each.type === "ImportDefaultSpecifier" ? "default" : (nameOf(each["imported"]) ?? "*"),
      source,
    }));
  });
}

/** Functions, constants and enums by their names, and methods as `this.NAME`. */
function ownDeclarations(program: Tree): ReadonlyMap<string, Tree> {
  bindScopes(program);
  const found = new Map<string, Tree>();
  const methods = new Set<string>();
  const add = (name: unknown, tree: unknown): void => {
    if (typeof name === "string" && isTree(tree) && !found.has(name)) found.set(name, tree);
  };
  // Declarations of the module come before those within functions.
  const top = statementsOf(program).map((each) => (isTree(each["declaration"]) ? each["declaration"] : each));
  const own = top.flatMap((each) => (each.type === "VariableDeclaration" ? (each["declarations"] as Tree[]) : [each]));
  for (const tree of [...own, ...walk(program)]) {
    if (tree.type === "FunctionDeclaration" && isTree(tree["id"])) add(tree["id"]["name"], tree);
    if (tree.type === "VariableDeclarator" && isTree(tree["id"]) && tree["id"].type === "Identifier")
      add(tree["id"]["name"], tree["init"]);
    if (tree.type === "TSEnumDeclaration") add((tree["id"] as Tree)["name"], tree);
    // Methods of two classes with one name have no name here.
    if (/^Class(?:Method|Property)$/.test(tree.type) && tree["computed"] !== true) {
      const name = `this.${String((tree["key"] as Tree)["name"])}`;
      if (methods.has(name)) found.delete(name);
      else add(name, tree.type === "ClassMethod" ? tree : tree["value"]);
      methods.add(name);
    }
    if (tree.type === "ExportDefaultDeclaration") add(DEFAULT, tree["declaration"]);
  }
  return found;
}

/** Declarations whose names mean the same in all of the program: no parameter, loop or second declaration has the name, and nothing assigns it. */
export function constants(program: Tree, declared: ReadonlyMap<string, Tree>): ReadonlyMap<string, Tree> {
  const once = new Set<string>();
  const others = new Set<string>();
  const bind = (name: string): void => void (once.has(name) ? others : once).add(name);
  for (const tree of walk(program)) {
    const params = tree["params"];
    if (Array.isArray(params)) for (const name of params.flatMap(boundNames)) others.add(name);
    if (tree.type === "CatchClause") for (const name of boundNames(tree["param"])) others.add(name);
    if (tree.type === "AssignmentExpression") for (const name of boundNames(tree["left"])) others.add(name);
    if (tree.type === "VariableDeclarator") for (const name of boundNames(tree["id"])) bind(name);
    if (/^(?:FunctionDeclaration|TSEnumDeclaration|Import(?:Default|Namespace)?Specifier)$/.test(tree.type))
      for (const name of boundNames(tree["local"] ?? tree["id"])) bind(name);
  }
  return new Map([...declared].filter(([name]) => !others.has(name)));
}

function statementsOf(program: Tree): readonly Tree[] {
  const root = isTree(program["program"]) ? program["program"] : program;
  return (root["body"] as readonly unknown[]).filter(isTree);
}

/** The text of a name, which an export may also write as a string. */
function nameOf(tree: unknown): string | undefined {
  if (!isTree(tree)) return undefined;
  if (tree.type === "Identifier") return String(tree["name"]);
  return tree.type === "StringLiteral" ? String(tree["value"]) : undefined;
}

function tryParse(text: string, path: string): Tree | undefined {
  try {
    return parseProgram(text, path);
  } catch {
    // A file that is no program describes no state.
    return undefined;
  }
}
