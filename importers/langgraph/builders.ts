/** The `StateGraph` builders of a program, each with its calls in the order of the text. */
import { isTree, line, partsOf, walk, type Tree } from "../program-tree.ts";
import { importedNames, memberName, plain } from "./trees.ts";

export interface Builder {
  /** `new StateGraph(…)` or `new MessageGraph(…)`; the argument describes the state. */
  readonly creation: Tree;
  /** The variables that hold it and what it compiles to, in the order of the text. */
  readonly variables: string[];
  readonly calls: Tree[];
}

export interface FoundBuilders {
  readonly builders: readonly Builder[];
  /** Calls that run under a condition, in a loop, or behind an error. */
  readonly conditional: ReadonlySet<Tree>;
  /** The builders that arguments of calls name: a node may be a graph. */
  readonly arguments: ReadonlyMap<Tree, Builder>;
  /** Calls that add to a graph, and of which the graph is not known: a sentence each, with its place. */
  readonly unread: readonly (readonly [at: string, message: string])[];
}

const METHODS: ReadonlySet<string> = new Set([
  "addNode",
  "addEdge",
  "addConditionalEdges",
  "setEntryPoint",
  "setFinishPoint",
  "addSequence",
  "compile",
  "setConditionalEntryPoint",
]);

/** Methods that graphs of other libraries do not have, or that add what a reader would miss. */
const ADDING: ReadonlySet<string> = new Set(["addNode", "addEdge", "addConditionalEdges", "addSequence"]);

export function findBuilders(program: Tree): FoundBuilders {
  const names = builderNames(program);
  const isBuilder = (tree: Tree): boolean => {
    if (tree.type !== "NewExpression") return false;
    const callee = tree["callee"] as Tree;
    if (callee.type === "MemberExpression") return CLASSES.has(memberName(callee) ?? "");
    return callee.type === "Identifier" && names.has(String(callee["name"]));
  };
  const builders: Builder[] = [];
  const byVariable = new Map<string, Builder>();
  const byCreation = new Map<Tree, Builder>();
  const create = (creation: Tree, variable: string | undefined): Builder => {
    let builder = byCreation.get(creation);
    if (builder === undefined) {
      builder = { creation, variables: [], calls: [] };
      byCreation.set(creation, builder);
      builders.push(builder);
    }
    if (variable !== undefined) builder.variables.push(variable.replace(/^this\.#?/, ""));
    return builder;
  };
  const trees = [...walk(program)];
  const classes = classesOf(trees);
  /** The field of a class is a variable of this class only. `at` is a part of it. */
  const keyOf = (variable: string | undefined, at: Tree): string =>
    variable?.startsWith("this.") === true ? `${classes.get(at)} ${variable}` : (variable ?? "");
  // Methods of a class may come before the field.
  for (const tree of trees) {
    const [variable, value] = assigned(tree);
    if (variable?.startsWith("this.") !== true || value === undefined) continue;
    const { root } = chainOf(value);
    if (isBuilder(root)) byVariable.set(keyOf(variable, tree), create(root, variable));
  }
  const builderOf = (root: Tree): Builder | undefined =>
    isBuilder(root) ? create(root, undefined) : byVariable.get(keyOf(variableOf(root), root));
  const named = new Map<Tree, Builder>();
  const seen = new Set<Tree>();
  const unread: (readonly [string, string])[] = [];
  for (const tree of trees) {
    const [variable, value] = assigned(tree);
    if (variable !== undefined && value !== undefined) {
      const { root } = chainOf(value);
      const builder = builderOf(root);
      if (builder !== undefined) byVariable.set(keyOf(variable, tree), create(builder.creation, variable));
    }
    if (isBuilder(tree)) create(tree, undefined);
    if (tree.type !== "CallExpression" || seen.has(tree)) continue;
    const { root, calls } = chainOf(tree);
    if (calls.length === 0) continue;
    for (const call of calls) seen.add(call);
    const builder = builderOf(root);
    for (const argument of calls.flatMap((call) => call["arguments"] as readonly Tree[])) {
      const given = builderOf(chainOf(argument).root);
      if (given !== undefined) named.set(argument, given);
    }
    if (builder !== undefined) builder.calls.push(...calls);
    else {
      const method = calls.map(methodOf).find((each) => ADDING.has(each));
      if (method !== undefined)
        unread.push([
          line(calls[0]!),
          `\`${method}\` is not read: its graph is no variable that is a \`StateGraph\` here`,
        ]);
    }
  }
  return { builders, conditional: conditionalCalls(program), arguments: named, unread };
}

/** By the parts of a class: its number. */
function classesOf(trees: readonly Tree[]): ReadonlyMap<Tree, number> {
  const classes = new Map<Tree, number>();
  for (const [index, tree] of trees.entries())
    // A class in a class comes later, and replaces what the outer one has said of it.
    if (/^Class(?:Declaration|Expression)$/.test(tree.type)) for (const part of walk(tree)) classes.set(part, index);
  return classes;
}

const CLASSES: ReadonlySet<string> = new Set(["StateGraph", "MessageGraph"]);

/** The local names of the classes: an import may rename them. */
function builderNames(program: Tree): ReadonlySet<string> {
  const renamed = importedNames(program).filter(([imported]) => CLASSES.has(imported));
  return new Set([...CLASSES, ...renamed.map(([, local]) => local)]);
}

/** The variable and the value of a declaration, an assignment, or a field of a class. */
function assigned(tree: Tree): readonly [string | undefined, Tree | undefined] {
  // A field without a value has `null` here.
  const given = tree["init"] ?? tree["right"] ?? tree["value"];
  const value = isTree(given) ? plain(given) : undefined;
  if (value === undefined) return [undefined, undefined];
  switch (tree.type) {
    case "VariableDeclarator":
      return [variableOf(tree["id"] as Tree), value];
    case "AssignmentExpression":
      return [variableOf(tree["left"] as Tree), value];
    case "ClassProperty":
      return [`this.${String((tree["key"] as Tree)["name"])}`, value];
    case "ClassPrivateProperty":
      return [`this.#${String(((tree["key"] as Tree)["id"] as Tree)["name"])}`, value];
    default:
      return [undefined, undefined];
  }
}

/** `name`, or `this.name`. */
function variableOf(tree: Tree): string | undefined {
  if (tree.type === "Identifier") return String(tree["name"]);
  if (tree.type !== "MemberExpression" || (tree["object"] as Tree).type !== "ThisExpression") return undefined;
  const property = tree["property"] as Tree;
  if (property.type === "PrivateName") return `this.#${String((property["id"] as Tree)["name"])}`;
  const name = memberName(tree);
  return name === undefined ? undefined : `this.${name}`;
}

export function methodOf(call: Tree): string {
  return memberName(call["callee"] as Tree) ?? "";
}

/** The root of a chain of builder calls, and the calls, first one first. */
function chainOf(value: Tree): { readonly root: Tree; readonly calls: readonly Tree[] } {
  const calls: Tree[] = [];
  const inner = (tree: Tree): Tree => {
    let current = plain(tree)!;
    while (current.type === "AwaitExpression") current = plain(current["argument"] as Tree)!;
    return current;
  };
  let root = inner(value);
  while (root.type === "CallExpression") {
    const callee = root["callee"] as Tree;
    if (callee.type !== "MemberExpression" || !METHODS.has(memberName(callee) ?? "")) break;
    calls.push(root);
    root = inner(callee["object"] as Tree);
  }
  return { root, calls: calls.reverse() };
}

/** The fields of a statement or expression that do not always run, or more than once. */
const UNCERTAIN: Readonly<Record<string, readonly string[]>> = {
  IfStatement: ["consequent", "alternate"],
  ConditionalExpression: ["consequent", "alternate"],
  LogicalExpression: ["right"],
  SwitchStatement: ["cases"],
  CatchClause: ["body"],
  ForStatement: ["body"],
  ForInStatement: ["body"],
  ForOfStatement: ["body"],
  WhileStatement: ["body"],
  DoWhileStatement: ["body"],
};

/** Methods of lists that call their function for each item. */
const EACH: ReadonlySet<string> = new Set(["forEach", "map", "flatMap", "reduce", "filter"]);

/** The fields of a tree that do not run once each time that it runs. */
function uncertainFields(tree: Tree): readonly string[] {
  if (tree.type === "CallExpression" && EACH.has(methodOf(tree))) return ["arguments"];
  return Object.hasOwn(UNCERTAIN, tree.type) ? UNCERTAIN[tree.type]! : [];
}

function conditionalCalls(program: Tree): ReadonlySet<Tree> {
  const found = new Set<Tree>();
  const open: (readonly [tree: unknown, isConditional: boolean])[] = [[program, false]];
  while (open.length > 0) {
    const [next, isConditional] = open.pop()!;
    if (Array.isArray(next)) for (const each of next) open.push([each, isConditional]);
    if (!isTree(next)) continue;
    if (isConditional && next.type === "CallExpression") found.add(next);
    const uncertain = uncertainFields(next);
    for (const [field, part] of partsOf(next)) open.push([part, isConditional || uncertain.includes(field)]);
  }
  return found;
}
