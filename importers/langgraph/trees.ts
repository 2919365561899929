/** What the readers of LangGraph programs ask of syntax trees. */
import { scopedDeclaration } from "../program-scopes.ts";
import { isTree, partsOf, walk, type Tree } from "../program-tree.ts";

export type Declared = ReadonlyMap<string, Tree>;

/** Declarations name each other at most so often. */
const DEEPEST = 10;

/** The declaration behind a name, or behind a member of `this`, without assertions of types. */
export function resolve(tree: Tree | undefined, declared: Declared): Tree | undefined {
  let current = plain(tree);
  for (let depth = 0; depth < DEEPEST; depth++) {
    const name = current === undefined ? undefined : functionName(current);
    if (name === undefined) return current;
    const next = declarationOf(current!, name, declared);
    if (next === undefined || next === current) return current;
    current = plain(next);
  }
  return current;
}

/** What a name refers to where it is used; `undefined` if this is not known. */
function declarationOf(tree: Tree, name: string, declared: Declared): Tree | undefined {
  if (tree.type !== "Identifier") return declared.get(`this.${name}`);
  const inner = scopedDeclaration(tree);
  return inner === undefined ? declared.get(name) : (inner ?? undefined);
}

/** The name of a function or of a method of the same object; `undefined` if it has none. */
export function functionName(tree: Tree): string | undefined {
  if (tree.type === "Identifier") return String(tree["name"]);
  const isOwn = tree.type === "MemberExpression" && (tree["object"] as Tree).type === "ThisExpression";
  return isOwn ? memberName(tree) : undefined;
}

/** The function of `method.bind(…)`. */
export function withoutBind(tree: Tree | undefined): Tree | undefined {
  const call = plain(tree);
  if (call?.type !== "CallExpression") return call;
  const callee = call["callee"] as Tree;
  return callee.type === "MemberExpression" && memberName(callee) === "bind" ? plain(callee["object"] as Tree) : call;
}

const WRAPPERS: ReadonlySet<string> = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
  "TSTypeAssertion",
  "ParenthesizedExpression",
]);

/** An expression without assertions of types and parentheses. */
export function plain(tree: Tree | undefined): Tree | undefined {
  let current = tree;
  while (current !== undefined && WRAPPERS.has(current.type)) current = current["expression"] as Tree;
  return current;
}

/** The text of an expression that is a constant: a literal, `START`, `END`, a `const`, a member of a constant object or of an enum. */
export function textOf(tree: Tree | undefined, declared: Declared = NOTHING, depth = 0): string | undefined {
  const own = plain(tree);
  if (own === undefined || depth > DEEPEST) return undefined;
  switch (own.type) {
    case "StringLiteral":
      return String(own["value"]);
    case "TemplateLiteral": {
      const quasis = own["quasis"] as readonly Tree[];
      return quasis.length === 1 ? String((quasis[0]!["value"] as { cooked?: string }).cooked ?? "") : undefined;
    }
    case "Identifier": {
      const name = String(own["name"]);
      const next = declarationOf(own, name, declared);
      return next === undefined || next === own ? ENDS.get(name) : textOf(next, declared, depth + 1);
    }
    case "MemberExpression": {
      const name = memberName(own);
      if (name === undefined) return undefined;
      const object = resolve(own["object"] as Tree, declared);
      const member = object === undefined ? undefined : memberOf(object, name);
      if (member !== undefined) return textOf(member, declared, depth + 1);
      // The ends of a module that is imported whole.
      return object?.type === "Identifier" ? ENDS.get(name) : undefined;
    }
    default:
      return undefined;
  }
}

const NOTHING: Declared = new Map();
const ENDS: ReadonlyMap<string, string> = new Map([
  ["START", "__start__"],
  ["END", "__end__"],
]);

/** `START` and `END` under the names that an import gives them. */
export function renamedEnds(program: Tree): ReadonlyMap<string, Tree> {
  const ends = new Map<string, Tree>();
  for (const [imported, local, { loc }] of importedNames(program)) {
    const value = ENDS.get(imported);
    if (value !== undefined && local !== imported) ends.set(local, { type: "StringLiteral", value, loc: loc ?? null });
  }
  return ends;
}

/** The names that a program imports from any module, or destructures from a `require`, each with its local name. */
export function importedNames(program: Tree): readonly (readonly [imported: string, local: string, at: Tree])[] {
  const names: (readonly [string, string, Tree])[] = [];
  const add = (imported: unknown, local: unknown, at: Tree): void => {
    if (isTree(imported) && isTree(local) && local.type === "Identifier")
      names.push([nameOrText(imported) ?? "", String(local["name"]), at]);
  };
  for (const tree of walk(program)) {
    if (tree.type === "ImportSpecifier") add(tree["imported"], tree["local"], tree);
    if (tree.type !== "VariableDeclarator" || (tree["id"] as Tree).type !== "ObjectPattern") continue;
    const init = isTree(tree["init"]) ? plain(tree["init"]) : undefined;
    if (init?.type !== "CallExpression" || (init["callee"] as Tree)["name"] !== "require") continue;
    for (const each of (tree["id"] as Tree)["properties"] as readonly Tree[]) add(each["key"], each["value"], each);
  }
  return names;
}

/** The name behind the point of `a.name` and `a["name"]`. */
export function memberName(member: Tree): string | undefined {
  const { property: own, computed } = member;
  if (!isTree(own)) return undefined;
  if (computed === true) return textOf(own);
  return own.type === "Identifier" ? String(own["name"]) : undefined;
}

/** A member of an object, a frozen object, or an enum. */
function memberOf(object: Tree, name: string): Tree | undefined {
  if (object.type === "ObjectExpression") return property(object, name);
  if (object.type === "CallExpression") {
    const callee = object["callee"] as Tree;
    const [first] = object["arguments"] as readonly Tree[];
    const frozen = callee.type === "MemberExpression" && memberName(callee) === "freeze" ? plain(first) : undefined;
    return frozen === undefined ? undefined : property(frozen, name);
  }
  if (object.type !== "TSEnumDeclaration") return undefined;
  const members = ((object["members"] ?? (object["body"] as Tree)["members"]) as readonly Tree[]) ?? [];
  const found = members.find((each) => nameOrText(each["id"] as Tree) === name);
  return isTree(found?.["initializer"]) ? found["initializer"] : undefined;
}

function nameOrText(tree: Tree): string | undefined {
  return tree.type === "Identifier" ? String(tree["name"]) : textOf(tree);
}

export function elements(tree: Tree): readonly Tree[] {
  return tree.type === "ArrayExpression" ? (tree["elements"] as readonly unknown[]).filter(isTree) : [];
}

/** The fields of an object, without methods and what it spreads. */
export function properties(tree: Tree): readonly Tree[] {
  return tree.type === "ObjectExpression"
    ? (tree["properties"] as readonly Tree[]).filter((each) => each.type === "ObjectProperty")
    : [];
}

export function property(tree: Tree, name: string): Tree | undefined {
  return properties(tree).find((each) => keyOf(each) === name)?.["value"] as Tree | undefined;
}

/** The key of a field or method. */
export function keyOf(each: Tree, declared: Declared = NOTHING): string | undefined {
  const own = each["key"] as Tree | undefined;
  if (own === undefined) return undefined;
  if (own.type === "Identifier" && each["computed"] !== true) return String(own["name"]);
  return textOf(own, declared);
}

export function isNew(tree: Tree, name: string): boolean {
  if (tree.type !== "NewExpression" || !isTree(tree["callee"])) return false;
  const { callee } = tree;
  return callee["name"] === name || (callee.type === "MemberExpression" && memberName(callee) === name);
}

export function isFunction(tree: Tree | undefined): tree is Tree {
  return tree !== undefined && /^(?:Arrow)?Function|^(?:Object|Class)(?:Private)?Method$/.test(tree.type);
}

/** What a function returns, at each place; a `return` without a value is `undefined`. Returns of inner functions are theirs. */
export function returnsOf(fn: Tree): readonly (Tree | undefined)[] {
  const body = fn["body"] as Tree;
  if (body.type !== "BlockStatement") return [body];
  const found: (Tree | undefined)[] = [];
  const open: Tree[] = [body];
  while (open.length > 0) {
    const tree = open.pop()!;
    if (tree.type === "ReturnStatement") {
      found.push(isTree(tree["argument"]) ? tree["argument"] : undefined);
      continue;
    }
    if (isFunction(tree)) continue;
    const children = partsOf(tree).flatMap(([, part]) => [part].flat().filter(isTree));
    // In the order of the text.
    for (const child of children.reverse()) open.push(child);
  }
  return found;
}

/** The expression that a function returns, if it returns at one place. */
export function returned(fn: Tree): Tree | undefined {
  const found = returnsOf(fn);
  return found.length === 1 ? plain(found[0]) : undefined;
}
