/** Conditional edges of a program: which nodes a router leads to. */
import { ImportError, type Changes } from "../imported.ts";
import { isTree, line, walk, type Tree } from "../program-tree.ts";
import { END, type StateEdge, type StateRoute } from "../state-graph.ts";
import {
  elements,
  isFunction,
  isNew,
  keyOf,
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
): StateEdge {
  const { declared, changes } = reading;
  const body = resolve(withoutBind(router), declared);
  const notes: string[] = [];
  const say = (message: string, at = router): void => void notes.push(changes.add(line(at), message));
  const routes = mapped(map, reading, say) ?? routesOf(body, condition, reading, say);
  const keys = new Set<string>();
  const unique = routes.filter(({ key }) => !keys.has(key) && keys.add(key));
  if (unique.length === 0) {
    throw new ImportError(
      line(router),
      `the targets of \`${condition}\` are not in this file`,
      "give `addConditionalEdges` its map of targets",
    );
  }
  if (isFunction(body) && [...walk(body)].some((tree) => isNew(tree, "Send")))
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

/** The routes of a router without a map: the texts that it returns are names of nodes. */
function routesOf(
  body: Tree | undefined,
  condition: string,
  { constants }: RouteReading,
  say: (message: string) => void,
): readonly StateRoute[] {
  if (!isFunction(body)) return [];
  const returned = returnsOf(body).flatMap((tree) => (tree === undefined ? [undefined] : choices(tree, constants)));
  const known = returned.filter((each) => each !== undefined);
  // A function that calls another one may still have the type of its result.
  const typed = known.length === 0 || known.length < returned.length ? typedChoices(body["returnType"]) : [];
  const lists = typed.length > 0 ? typed : known;
  const sends = [...walk(body)].some((tree) => isNew(tree, "Send"));
  if (returned.length > known.length && known.length > 0 && typed.length === 0 && !sends)
    say(`\`${condition}\` also returns values that are no constant texts: these routes are not read`);
  const node = (name: string): string => (name === "__end__" ? END : name);
  return lists.map((names) => {
    const key = names.join(",");
    if (names.length > 1) say(`\`${condition}\` returns a list of nodes: here it returns the key "${key}" for it`);
    return { key, targets: names.map(node) };
  });
}

/** The nodes that an expression names, a list for each of its values; `undefined` for a value that is no constant. */
function choices(own: Tree, constants: Declared): readonly (readonly string[] | undefined)[] {
  const tree = plain(own)!;
  switch (tree.type) {
    case "ConditionalExpression":
      return [...choices(tree["consequent"] as Tree, constants), ...choices(tree["alternate"] as Tree, constants)];
    case "LogicalExpression":
      return [...choices(tree["left"] as Tree, constants), ...choices(tree["right"] as Tree, constants)];
    case "ArrayExpression": {
      const names = elements(tree).map((each) => textOf(each, constants));
      return [names.length === 0 || names.includes(undefined) ? undefined : (names as string[])];
    }
    default: {
      const text = textOf(tree, constants);
      return [text === undefined ? undefined : [text]];
    }
  }
}

/** The texts of the type of a result: `"a" | typeof END`, also in a `Promise`. */
function typedChoices(annotation: unknown): readonly (readonly string[])[] {
  const found: string[] = [];
  const open = [annotation];
  while (open.length > 0) {
    const type = open.shift();
    if (!isTree(type)) continue;
    if (type.type === "TSTypeAnnotation") open.push(type["typeAnnotation"]);
    else if (type.type === "TSUnionType") open.push(...(type["types"] as readonly Tree[]));
    else if (type.type === "TSLiteralType" || type.type === "TSTypeQuery") {
      const text = textOf((type["literal"] ?? type["exprName"]) as Tree);
      if (text !== undefined) found.push(text);
    } else if (type.type === "TSTypeReference" && (type["typeName"] as Tree)["name"] === "Promise") {
      const parameters = type["typeParameters"] ?? type["typeArguments"];
      if (isTree(parameters)) open.push(...(parameters["params"] as readonly Tree[]));
    }
  }
  return found.map((each) => [each]);
}
