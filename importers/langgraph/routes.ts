/** Conditional edges of a program: which nodes a router leads to. */
import { ImportError, type Changes } from "../imported.ts";
import { isTree, line, walk, type Tree } from "../program-tree.ts";
import { END, START, type RoutesEdge, type StateRoute } from "../state-graph.ts";
import {
  elements,
  isFunction,
  isNew,
  keyOf,
  memberName,
  plain,
  properties,
  resolve,
  returnsOf,
  textOf,
  withoutBind,
  type Declared,
} from "./trees.ts";

export interface RouteReading {
  readonly declared: Declared;
  /** Declarations that are constants. */
  readonly constants: Declared;
  /** The node of a name, which may be `START` or `END`. @throws ImportError */
  readonly end: (tree: Tree) => string;
  readonly changes: Changes;
  /** What the routers return that are read: many edges may have the same one. */
  readonly routers: Map<Tree, RouterResults>;
}

/** The lists of nodes that a router returns. */
interface RouterResults {
  readonly routes: readonly StateRoute[];
  /** Whether it returns `Send`. */
  readonly sends: boolean;
  readonly remarks: readonly string[];
}

/** The node of the text that a program returns. */
export function nodeOfText(text: string): string {
  return text === "__start__" ? START : text === "__end__" ? END : text;
}

/** Whether a function has `new Send(…)`. */
export function makesSends(fn: Tree | undefined): boolean {
  return isFunction(fn) && [...walk(fn)].some((tree) => isNew(tree, "Send"));
}

/**
 * @param condition the name of the imported function
 * @throws ImportError for a router whose targets are not known
 */
export function readRoutes(
  from: string,
  condition: string,
  router: Tree,
  map: Tree | undefined,
  reading: RouteReading,
): RoutesEdge {
  const { declared, changes } = reading;
  const body = resolve(withoutBind(router), declared);
  const notes: string[] = [];
  const say = (message: string, at = router): void => void notes.push(changes.add(line(at), message));
  const results = isFunction(body) ? resultsOf(body, condition, reading) : undefined;
  const given = mapped(map, reading, say);
  if (given === undefined) for (const remark of results?.remarks ?? []) say(remark);
  const routes = given ?? results?.routes ?? [];
  const keys = new Set<string>();
  const unique = routes.filter(({ key }) => !keys.has(key) && keys.add(key));
  if (unique.length === 0) {
    throw new ImportError(
      line(router),
      `the targets of \`${condition}\` are not in this file`,
      "give `addConditionalEdges` its map of targets",
    );
  }
  if (results?.sends === true)
    say(
      `\`${condition}\` returns \`Send\`, which runs a node once for each item: here it returns a key, and a node with \`for\` runs for each item`,
    );
  return { kind: "routes", from, condition, routes: unique, notes };
}

/** The routes of the third argument: a record of keys, or a list of nodes. `undefined` if it is neither. */
function mapped(
  map: Tree | undefined,
  { declared, constants, end }: RouteReading,
  say: (message: string, at: Tree) => void,
): readonly StateRoute[] | undefined {
  const own = resolve(map, declared);
  if (own?.type === "ArrayExpression")
    return elements(own).flatMap((each) => {
      if (each.type === "SpreadElement") {
        say("the targets that are spread here are not read", each);
        return [];
      }
      const target = end(each);
      return [{ key: textOf(each, constants) ?? target, targets: [target] }];
    });
  if (own?.type !== "ObjectExpression") return undefined;
  const fields = properties(own);
  for (const each of own["properties"] as readonly Tree[])
    if (!fields.includes(each)) say("the routes that are spread here are not read", each);
  return fields.map((each) => {
    const key = keyOf(each, constants);
    if (key === undefined) throw new ImportError(line(each), "the key of a route is a text or a constant");
    return { key, targets: [end(each["value"] as Tree)] };
  });
}

/** What a router returns: without a map, the texts are names of nodes. */
function resultsOf(body: Tree, condition: string, { constants, routers }: RouteReading): RouterResults {
  const read = routers.get(body);
  if (read !== undefined) return read;
  const returned = returnsOf(body).flatMap((tree) => (tree === undefined ? [undefined] : choices(tree, constants)));
  const known = returned.filter((each) => each !== undefined);
  // A function that calls another one may still have the type of its result.
  const typed = known.length < returned.length || known.length === 0 ? typedChoices(body["returnType"], constants) : [];
  const lists = typed.length > 0 ? typed : known;
  const sends = makesSends(body);
  const remarks: string[] = [];
  if (returned.length > known.length && known.length > 0 && typed.length === 0 && !sends)
    remarks.push(`\`${condition}\` also returns values that are no constant texts: these routes are not read`);
  const routes = new Map<string, StateRoute>();
  for (const names of lists) {
    const key = names.join(",");
    if (routes.has(key)) continue;
    if (names.length > 1)
      remarks.push(`\`${condition}\` returns a list of nodes: here it returns the key "${key}" for it`);
    routes.set(key, { key, targets: names.map(nodeOfText) });
  }
  const results = { routes: [...routes.values()], sends, remarks };
  routers.set(body, results);
  return results;
}

/** The nodes that an expression names, a list for each of its values; `undefined` for a value that is no constant. */
export function choices(own: Tree, constants: Declared, depth = 0): readonly (readonly string[] | undefined)[] {
  const tree = plain(own)!;
  if (depth > DEEPEST) return [undefined];
  const inner = (next: Tree): readonly (readonly string[] | undefined)[] => choices(next, constants, depth + 1);
  switch (tree.type) {
    case "ConditionalExpression":
      return [...inner(tree["consequent"] as Tree), ...inner(tree["alternate"] as Tree)];
    case "LogicalExpression":
      return [...inner(tree["left"] as Tree), ...inner(tree["right"] as Tree)];
    case "ArrayExpression": {
      const names = elements(tree).map((each) => textOf(sentTo(each), constants));
      return [names.length === 0 || names.includes(undefined) ? undefined : ([...new Set(names)] as string[])];
    }
    case "CallExpression": {
      // A list that has one element for each item.
      const made = plain((tree["arguments"] as readonly Tree[])[0]);
      const callee = tree["callee"] as Tree;
      if (callee.type !== "MemberExpression" || memberName(callee) !== "map" || !isFunction(made)) return [undefined];
      return returnsOf(made).flatMap((each) => (each === undefined ? [undefined] : inner(each)));
    }
    default: {
      const text = textOf(sentTo(tree), constants);
      if (text !== undefined) return [[text]];
      const value = tree.type === "Identifier" ? constants.get(String(tree["name"])) : undefined;
      return value === undefined ? [undefined] : inner(value);
    }
  }
}

/** Values name each other, and conditions nest, at most so deep. */
const DEEPEST = 100;

/** The node of `new Send(node, …)`, and other expressions as they are. */
function sentTo(tree: Tree): Tree | undefined {
  return isNew(tree, "Send") ? (tree["arguments"] as readonly Tree[])[0] : tree;
}

/** The texts of the type of a result: `"a" | typeof END`, also in a `Promise`. */
function typedChoices(annotation: unknown, constants: Declared): readonly (readonly string[])[] {
  const found: string[] = [];
  const open = [annotation];
  while (open.length > 0) {
    const type = open.shift();
    if (!isTree(type)) continue;
    if (type.type === "TSTypeAnnotation") open.push(type["typeAnnotation"]);
    else if (type.type === "TSUnionType") open.push(...(type["types"] as readonly Tree[]));
    else if (type.type === "TSLiteralType" || type.type === "TSTypeQuery") {
      const text = textOf((type["literal"] ?? type["exprName"]) as Tree, constants);
      if (text !== undefined) found.push(text);
    } else if (type.type === "TSTypeReference" && (type["typeName"] as Tree)["name"] === "Promise") {
      const parameters = type["typeParameters"] ?? type["typeArguments"];
      if (isTree(parameters)) open.push(...(parameters["params"] as readonly Tree[]));
    }
  }
  return found.map((each) => [each]);
}
