import type { Program, Statement } from "./parse-module.ts";

/** Whether a name is a value, a type, or both. Classes, enums and names of other modules count as both. */
export type NameKind = "value" | "type" | "both";

/** The meaning of a name of a module. */
export type ModuleName =
  | { readonly kind: "declared"; readonly statements: readonly Statement[] }
  /** A name of another module; `*` for the namespace of the whole module. */
  | { readonly kind: "imported"; readonly specifier: string; readonly name: string; readonly isType: boolean };

export interface ModuleExport {
  readonly kind: NameKind;
  readonly name: ModuleName;
}

/** The top-level names of one module. */
export interface ModuleScope {
  /** Names that the module itself can use. */
  readonly locals: ReadonlyMap<string, ModuleName>;
  readonly exports: ReadonlyMap<string, ModuleExport>;
  /** Specifiers of modules whose exports are all exported again: `export * from "./more.ts"`. */
  readonly stars: readonly string[];
}

/** Returns `undefined` for a module with `export =`, whose exports have no names. */
export function readScope({ body }: Program): ModuleScope | undefined {
  const locals = new Map<string, ModuleName>();
  const declare = (name: string, statement: Statement): void => {
    const known = locals.get(name);
    const before = known?.kind === "declared" ? known.statements : [];
    locals.set(name, { kind: "declared", statements: [...before, statement] });
  };
  for (const statement of body) {
    if (statement.type === "ImportDeclaration") readImport(statement, locals);
    const declared = declarationOf(statement);
    for (const name of declaredNames(declared)) declare(name, declared);
  }

  const exports = new Map<string, ModuleExport>();
  const stars: string[] = [];
  const addExport = (name: string, added: ModuleExport): void => {
    const known = exports.get(name);
    exports.set(name, known === undefined || known.kind === added.kind ? added : { ...added, kind: "both" });
  };
  for (const statement of body) {
    switch (statement.type) {
      case "TSExportAssignment":
        return undefined;
      case "ExportAllDeclaration":
        stars.push(statement.source.value);
        break;
      case "ExportDefaultDeclaration":
        addExport("default", { kind: "both", name: { kind: "declared", statements: [statement] } });
        break;
      case "ExportNamedDeclaration":
        for (const [name, exported] of namedExports(statement, locals)) addExport(name, exported);
        break;
      default:
    }
  }
  return { locals, exports, stars };
}

function readImport(
  statement: Extract<Statement, { type: "ImportDeclaration" }>,
  locals: Map<string, ModuleName>,
): void {
  const specifier = statement.source.value;
  for (const part of statement.specifiers) {
    const isType = statement.importKind === "type";
    switch (part.type) {
      case "ImportSpecifier":
        locals.set(part.local.name, {
          kind: "imported",
          specifier,
          name: nameOf(part.imported),
          isType: isType || part.importKind === "type",
        });
        break;
      case "ImportDefaultSpecifier":
        locals.set(part.local.name, { kind: "imported", specifier, name: "default", isType });
        break;
      case "ImportNamespaceSpecifier":
        locals.set(part.local.name, { kind: "imported", specifier, name: "*", isType });
        break;
      default:
        part satisfies never;
    }
  }
}

function* namedExports(
  statement: Extract<Statement, { type: "ExportNamedDeclaration" }>,
  locals: ReadonlyMap<string, ModuleName>,
): Iterable<readonly [string, ModuleExport]> {
  const { declaration, source } = statement;
  if (declaration !== null && declaration !== undefined) {
    for (const name of declaredNames(declaration)) {
      const local = locals.get(name) ?? { kind: "declared", statements: [declaration] };
      yield [name, { kind: kindOf(declaration), name: local }];
    }
  }
  for (const part of statement.specifiers) {
    const exported = part.exported;
    const name = nameOf(exported);
    if (part.type !== "ExportSpecifier") {
      const specifier = source?.value ?? "";
      yield [name, { kind: "both", name: { kind: "imported", specifier, name: "*", isType: false } }];
      continue;
    }
    const isType = statement.exportKind === "type" || part.exportKind === "type";
    const local = nameOf(part.local);
    const target: ModuleName | undefined =
      source === null || source === undefined
        ? locals.get(local)
        : { kind: "imported", specifier: source.value, name: local, isType };
    const kinds = target?.kind === "declared" ? new Set(target.statements.map(kindOf)) : new Set<NameKind>();
    const [only = "both"] = kinds;
    const kind = isType ? "type" : kinds.size === 1 ? only : "both";
    yield [name, { kind, name: target ?? { kind: "declared", statements: [] } }];
  }
}

/** The declaration in `export function f() {}`, with the comment above the `export`. */
function declarationOf(statement: Statement): Statement {
  if (statement.type !== "ExportNamedDeclaration" || !statement.declaration) return statement;
  statement.declaration.leadingComments ??= statement.leadingComments ?? null;
  return statement.declaration;
}

function declaredNames(statement: Statement): readonly string[] {
  switch (statement.type) {
    case "FunctionDeclaration":
    case "ClassDeclaration":
    case "TSDeclareFunction":
    case "TSEnumDeclaration":
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
    case "TSImportEqualsDeclaration":
    case "TSModuleDeclaration": {
      const { id } = statement;
      return id?.type === "Identifier" ? [id.name] : [];
    }
    case "VariableDeclaration":
      return statement.declarations.flatMap(({ id }) => patternNames(id));
    default:
      return [];
  }
}

interface Pattern {
  readonly type: string;
}

/** The names that a pattern binds: `{ a, b: [c] }` binds `a` and `c`. */
function patternNames(pattern: Pattern): readonly string[] {
  const found: string[] = [];
  const open: unknown[] = [pattern];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const node = part as {
      readonly type: string;
      readonly name?: string;
      readonly properties?: readonly unknown[];
      readonly elements?: readonly unknown[];
      readonly value?: unknown;
      readonly argument?: unknown;
      readonly left?: unknown;
    } | null;
    switch (node?.type) {
      case "Identifier":
        found.unshift(node.name ?? "");
        break;
      case "ObjectPattern":
        for (const each of node.properties ?? []) open.push(each);
        break;
      case "ArrayPattern":
        for (const each of node.elements ?? []) if (each !== null) open.push(each);
        break;
      case "ObjectProperty":
        open.push(node.value);
        break;
      case "RestElement":
        open.push(node.argument);
        break;
      case "AssignmentPattern":
        open.push(node.left);
        break;
      default:
    }
  }
  return found;
}

function kindOf(statement: Statement): NameKind {
  switch (statement.type) {
    case "FunctionDeclaration":
    case "TSDeclareFunction":
    case "VariableDeclaration":
      return "value";
    case "TSInterfaceDeclaration":
    case "TSTypeAliasDeclaration":
      return "type";
    default:
      return "both";
  }
}

function nameOf(node: { readonly type: string; readonly name?: string; readonly value?: string }): string {
  return (node.type === "StringLiteral" ? node.value : node.name) ?? "";
}
