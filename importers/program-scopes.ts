/** The declarations that names within functions and blocks refer to: two functions may declare one name. */
import { isTree, partsOf, type Tree } from "./program-tree.ts";

interface Scope {
  readonly outer: Scope | undefined;
  /** Whether `var` belongs to it. */
  readonly isFunction: boolean;
  /** Functions and values by name; `null` for a name whose value is not known, such as a parameter. */
  readonly names: Map<string, Tree | null>;
}

const scoped = new WeakMap<Tree, Tree | null>();

/**
 * What an identifier refers to, if a function or a block declares it: `null` if its value is not known, `undefined` if it is a
 * name of the module. `bindScopes` has read its program.
 */
export function scopedDeclaration(identifier: Tree): Tree | null | undefined {
  return scoped.get(identifier);
}

/** Binds the identifiers of a program to the declarations within its functions and blocks. */
export function bindScopes(program: Tree): void {
  const used: (readonly [identifier: Tree, scope: Scope])[] = [];
  const whole: Scope = { outer: undefined, isFunction: true, names: new Map() };
  const open: (readonly [part: unknown, scope: Scope])[] = [[program, whole]];
  while (open.length > 0) {
    const [next, outer] = open.pop()!;
    if (Array.isArray(next)) for (const each of next) open.push([each, outer]);
    if (!isTree(next)) continue;
    if (next.type === "Identifier") used.push([next, outer]);
    const scope = scopeOf(next, outer);
    declare(next, outer, scope);
    for (const [, part] of partsOf(next)) open.push([part, scope]);
  }
  for (const [identifier, scope] of used) {
    const name = String(identifier["name"]);
    let at: Scope | undefined = scope;
    while (at !== undefined && !at.names.has(name)) at = at.outer;
    if (at?.outer !== undefined) scoped.set(identifier, at.names.get(name)!);
  }
}

const FUNCTIONS = /Function|^(?:Object|Class)(?:Private)?Method$/;
const BLOCKS: ReadonlySet<string> = new Set([
  "BlockStatement",
  "CatchClause",
  "ForStatement",
  "ForInStatement",
  "ForOfStatement",
  "SwitchStatement",
  "StaticBlock",
]);

function scopeOf(tree: Tree, outer: Scope): Scope {
  const isFunction = FUNCTIONS.test(tree.type) && Array.isArray(tree["params"]);
  if (!isFunction && !BLOCKS.has(tree.type)) return outer;
  return { outer, isFunction, names: new Map() };
}

/** @param scope that of the tree's parts */
function declare(tree: Tree, outer: Scope, scope: Scope): void {
  const { id, params } = tree;
  if (tree.type === "FunctionDeclaration" && isTree(id)) outer.names.set(String(id["name"]), tree);
  if (Array.isArray(params)) for (const name of params.flatMap(boundNames)) scope.names.set(name, null);
  if (tree.type === "CatchClause") for (const name of boundNames(tree["param"])) scope.names.set(name, null);
  if (tree.type !== "VariableDeclaration") return;
  let at = scope;
  while (tree["kind"] === "var" && !at.isFunction) at = at.outer!;
  for (const each of tree["declarations"] as readonly Tree[]) {
    const target = each["id"] as Tree;
    const isKnown = target.type === "Identifier" && isTree(each["init"]);
    for (const name of boundNames(target)) at.names.set(name, isKnown ? (each["init"] as Tree) : null);
  }
}

/** The names that a pattern binds. */
export function boundNames(pattern: unknown): readonly string[] {
  const names: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    const next = open.pop();
    if (!isTree(next)) continue;
    if (next.type === "Identifier") names.push(String(next["name"]));
    else if (next.type === "AssignmentPattern") open.push(next["left"]);
    else if (next.type === "RestElement") open.push(next["argument"]);
    else if (next.type === "TSParameterProperty") open.push(next["parameter"]);
    else if (next.type === "ArrayPattern") open.push(...(next["elements"] as readonly unknown[]));
    else if (next.type === "ObjectPattern")
      for (const each of next["properties"] as readonly Tree[])
        open.push(each.type === "RestElement" ? each : each["value"]);
  }
  return names;
}
