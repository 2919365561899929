/**
 * Programs of LangGraph JS: the calls of a `StateGraph` builder, read from the syntax tree. Nothing of the program runs. The nodes
 * stay functions of TypeScript.
 */
import { Changes, ImportError, type Imported } from "./imported.ts";
import {
  END,
  START,
  writeStateGraph,
  type StateChannel,
  type StateEdge,
  type StateNode,
  type StateRoute,
} from "./state-graph.ts";
import { declarations, type ReadModule } from "./program-modules.ts";
import { isTree, line, parseProgram, walk, type Tree } from "./program-tree.ts";

interface Builder {
  /** `StateGraph`, `MessageGraph`; the argument describes the state. */
  readonly creation: Tree;
  readonly variable: string | undefined;
  readonly calls: Tree[];
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

/**
 * @param readModule reads the files that the program imports, in which the state and the node functions may be
 * @throws ImportError
 */
export function importLangGraphJs(text: string, name: string, module: string, readModule?: ReadModule): Imported {
  const program = parseProgram(text);
  const declared = declarations(program, readModule);
  const builders = findBuilders(program);
  const [builder] = builders;
  if (builder === undefined)
    throw new ImportError(
      "line 1",
      "the program creates no `StateGraph`",
      "import the file that has `new StateGraph(…)`",
    );
  const changes = new Changes();
  const notes: string[] = [];
  if (builders.length > 1) {
    notes.push(
      changes.add(line(builders[1]!.creation), `the file has ${builders.length} graphs; the first one is imported`),
    );
  }
  const channels = readState(builder.creation, declared, changes, notes);
  const nodes: StateNode[] = [];
  const plain: { from: readonly string[]; to: string; notes: readonly string[] }[] = [];
  const routed: StateEdge[] = [];
  const interrupts = { before: new Set<string>(), after: new Set<string>() };
  const known = new Set(channels.map((channel) => channel.name));
  const bodies = new Map<string, Tree>();
  const addNode = (nodeName: string, body: Tree | undefined, options: Tree | undefined): void => {
    if (nodes.some((node) => node.name === nodeName))
      throw new ImportError(body === undefined ? "line 1" : line(body), `the node \`${nodeName}\` is added twice`);
    const own = resolve(body, declared);
    if (own !== undefined) bodies.set(nodeName, own);
    const writes = writesOf(own, known);
    const remarks: string[] = [];
    const ends = options === undefined ? undefined : property(options, "ends");
    const policies: string[] = [];
    const targets = ends === undefined ? [] : elements(ends).flatMap((each) => textOf(each) ?? []);
    if (targets.length > 0) policies.push(`goes ${targets.join(", ")}`);
    const retry = options === undefined ? undefined : property(options, "retryPolicy");
    const attempts = retry === undefined ? undefined : property(retry, "maxAttempts");
    if (retry !== undefined)
      policies.push(`tries ${attempts?.type === "NumericLiteral" ? String(attempts["value"]) : "3"}`);
    if (own?.type === "CallExpression" || own?.type === "NewExpression") {
      remarks.push(changes.add(line(own), `\`${nodeName}\` is an object of a library; the stub calls it`));
    }
    const callName = body?.type === "Identifier" ? String(body["name"]) : nodeName;
    nodes.push({
      name: nodeName,
      call: callName,
      ...(writes === undefined ? {} : { writes }),
      policies,
      notes: remarks,
    });
  };
  const end = (tree: Tree): string => {
    const found = textOf(tree);
    if (found === undefined) throw new ImportError(line(tree), "the name of a node is a text, START or END");
    return found === "__start__" ? START : found === "__end__" ? END : found;
  };
  for (const call of builder.calls) {
    const method = String(
      (call["callee"] as Tree)["property"] && ((call["callee"] as Tree)["property"] as Tree)["name"],
    );
    const args = call["arguments"] as readonly Tree[];
    const [first, second, third] = args;
    switch (method) {
      case "addNode": {
        if (first?.type === "ObjectExpression") {
          for (const each of properties(first)) addNode(keyOf(each) ?? "node", each["value"] as Tree, undefined);
        } else if (first !== undefined) addNode(textOf(first) ?? "node", second, third);
        break;
      }
      case "addSequence": {
        const items =
          first === undefined
            ? []
            : first.type === "ObjectExpression"
              ? properties(first).map((each) => [keyOf(each) ?? "node", each["value"] as Tree] as const)
              : elements(first).map((each) => [textOf(elements(each)[0]) ?? "node", elements(each)[1]] as const);
        for (const [nodeName, body] of items) addNode(nodeName, body, undefined);
        items
          .slice(1)
          .forEach(([nodeName], index) => plain.push({ from: [items[index]![0]], to: nodeName, notes: [] }));
        break;
      }
      case "addEdge": {
        if (first === undefined || second === undefined) break;
        const from = first.type === "ArrayExpression" ? elements(first).map(end) : [end(first)];
        plain.push({ from, to: end(second), notes: [] });
        break;
      }
      case "setEntryPoint":
        if (first !== undefined) plain.push({ from: [START], to: end(first), notes: [] });
        break;
      case "setFinishPoint":
        if (first !== undefined) plain.push({ from: [end(first)], to: END, notes: [] });
        break;
      case "setConditionalEntryPoint":
      case "addConditionalEdges": {
        const isEntry = method === "setConditionalEntryPoint";
        const source = isEntry ? START : first === undefined ? START : end(first);
        const router = isEntry ? first : second;
        const map = isEntry ? second : third;
        if (router === undefined) break;
        routed.push(readRoutes(source, router, map, declared, end, changes));
        break;
      }
      case "compile": {
        for (const [field, set] of [
          ["interruptBefore", interrupts.before],
          ["interruptAfter", interrupts.after],
        ] as const) {
          const list = first === undefined ? undefined : property(first, field);
          for (const each of list === undefined ? [] : elements(list)) {
            const pause = textOf(each);
            if (pause !== undefined) set.add(pause);
          }
        }
        break;
      }
    }
  }
  const names = new Set(nodes.map((node) => node.name));
  const check = (target: string, where: string): void => {
    if (target !== START && target !== END && !names.has(target))
      throw new ImportError(where, `\`${target}\` is not a node of the graph`);
  };
  const edges: StateEdge[] = [];
  const fanOut = new Map<string, string[]>();
  for (const { from, to } of plain) {
    for (const each of [...from, to]) check(each, line(builder.creation));
    if (from.length > 1) {
      edges.push({ kind: "plain", from, to: [to], join: "all" });
      continue;
    }
    const targets = fanOut.get(from[0]!);
    if (targets !== undefined) targets.push(to);
    else {
      const made = [to];
      fanOut.set(from[0]!, made);
      edges.push({ kind: "plain", from, to: made });
    }
  }
  for (const edge of routed) if (edge.kind === "routes") check(edge.from, line(builder.creation));
  for (const edge of routed)
    if (edge.kind === "routes")
      for (const route of edge.routes) for (const target of route.targets) check(target, line(builder.creation));
  const paused = nodes.map((node) => ({
    ...node,
    policies: [
      ...(node.policies ?? []),
      ...(interrupts.before.has(node.name) ? ["pause before"] : []),
      ...(interrupts.after.has(node.name) ? ["pause after"] : []),
    ],
  }));
  const graphName = builder.variable === undefined || GENERIC.has(builder.variable) ? name : builder.variable;
  const { text: written, stubs } = writeStateGraph(
    { name: graphName, notes, channels, nodes: paused, edges: [...edges, ...routed], graphs: [] },
    module,
    [],
  );
  return { text: written, stubs, changes: changes.list };
}

const GENERIC: ReadonlySet<string> = new Set(["graph", "workflow", "builder", "graphBuilder", "app", "stateGraph"]);

/** The builders of the program, each with its calls in the order in which they run. */
function findBuilders(program: Tree): Builder[] {
  const builders: Builder[] = [];
  const byVariable = new Map<string, Builder>();
  const seen = new Set<Tree>();
  for (const tree of walk(program)) {
    if (tree.type === "VariableDeclarator" || tree.type === "AssignmentExpression") {
      const target = (tree["id"] ?? tree["left"]) as Tree;
      const value = (tree["init"] ?? tree["right"]) as Tree | null;
      if (!isTree(value) || target.type !== "Identifier") continue;
      const chain = chainOf(value);
      const name = String(target["name"]);
      if (chain.root.type === "NewExpression" && isBuilder(chain.root)) {
        const builder: Builder = { creation: chain.root, variable: name, calls: [...chain.calls] };
        builders.push(builder);
        byVariable.set(name, builder);
        for (const call of chain.calls) seen.add(call);
      } else if (chain.root.type === "Identifier" && byVariable.has(String(chain.root["name"]))) {
        const builder = byVariable.get(String(chain.root["name"]))!;
        for (const call of chain.calls) if (!seen.has(call)) builder.calls.push(call);
        for (const call of chain.calls) seen.add(call);
        byVariable.set(name, builder);
      }
    } else if (tree.type === "ExpressionStatement" || tree.type === "ReturnStatement") {
      const value = (tree["expression"] ?? tree["argument"]) as Tree | null;
      if (!isTree(value)) continue;
      const chain = chainOf(value);
      if (
        chain.root.type === "NewExpression" &&
        isBuilder(chain.root) &&
        !builders.some((each) => each.creation === chain.root)
      ) {
        builders.push({ creation: chain.root, variable: undefined, calls: [...chain.calls] });
      }
      const builder = chain.root.type === "Identifier" ? byVariable.get(String(chain.root["name"])) : undefined;
      if (builder === undefined) continue;
      for (const call of chain.calls) if (!seen.has(call)) builder.calls.push(call);
      for (const call of chain.calls) seen.add(call);
    }
  }
  return builders;
}

function isBuilder(creation: Tree): boolean {
  const callee = creation["callee"] as Tree;
  return callee.type === "Identifier" && (callee["name"] === "StateGraph" || callee["name"] === "MessageGraph");
}

/** The root of a chain of builder calls, and the calls, first one first. */
function chainOf(value: Tree): { readonly root: Tree; readonly calls: readonly Tree[] } {
  const calls: Tree[] = [];
  let root = value;
  while (root.type === "AwaitExpression" || root.type === "TSAsExpression" || root.type === "TSNonNullExpression")
    root = (root["argument"] ?? root["expression"]) as Tree;
  while (root.type === "CallExpression") {
    const callee = root["callee"] as Tree;
    if (
      callee.type !== "MemberExpression" ||
      !isTree(callee["property"]) ||
      !METHODS.has(String(callee["property"]["name"]))
    )
      break;
    calls.unshift(root);
    root = callee["object"] as Tree;
    while (
      root.type === "TSAsExpression" ||
      root.type === "TSNonNullExpression" ||
      root.type === "ParenthesizedExpression"
    )
      root = root["expression"] as Tree;
  }
  return { root, calls };
}

/** The channels of the state: of `Annotation.Root`, an object of channels, a zod object, or an interface of the type argument. */
function readState(
  creation: Tree,
  declared: ReadonlyMap<string, Tree>,
  changes: Changes,
  notes: string[],
): StateChannel[] {
  const [argument] = creation["arguments"] as readonly Tree[];
  if ((creation["callee"] as Tree)["name"] === "MessageGraph") return [messages()];
  let state = resolve(argument, declared);
  if (
    state?.type === "ObjectExpression" &&
    properties(state).some(
      (each) => keyOf(each) === "channels" || keyOf(each) === "stateSchema" || keyOf(each) === "state",
    )
  ) {
    state = resolve(
      (property(state, "channels") ?? property(state, "stateSchema") ?? property(state, "state"))!,
      declared,
    );
  }
  const fields = fieldsOf(state, declared);
  if (fields === undefined) {
    notes.push(
      changes.add(
        line(creation),
        "the description of the state was not found: it is one record, `data`, whose fields the nodes write",
      ),
    );
    return [{ name: "data", type: "map<json>", stubType: "Record<string, unknown>", reducer: "merge" }];
  }
  const channels: StateChannel[] = [];
  for (const each of fields) {
    if (each.type === "Identifier") {
      if (!channels.some((known) => known.name === "messages")) channels.push(messages());
      continue;
    }
    if (each.type === "SpreadElement") {
      notes.push(changes.add(line(each), "the channels that are spread here are not read"));
      continue;
    }
    const channel = keyOf(each);
    if (channel === undefined || channels.some((known) => known.name === channel)) continue;
    channels.push(
      each.type === "ObjectMethod"
        ? { name: channel, type: "json", stubType: "unknown", initial: "null" }
        : readChannel(channel, each["value"] as Tree, changes),
    );
  }
  return channels;
}

/**
 * The fields of a description of the state, with those that it spreads or extends: the object of `Annotation.Root({ … })`,
 * `new StateSchema({ … })` and `z.object({ … })`, their `.spec` and `.shape`, and a plain object. The name of a state of the library with `messages` is an
 * element of its own. `undefined` if it is something else.
 */
function fieldsOf(
  description: Tree | undefined,
  declared: ReadonlyMap<string, Tree>,
  depth = 0,
): readonly Tree[] | undefined {
  const tree = resolve(description, declared);
  if (tree === undefined || depth > MAX_NESTED_STATES) return undefined;
  const inner = (next: unknown): readonly Tree[] | undefined =>
    isTree(next) ? fieldsOf(next, declared, depth + 1) : undefined;
  if (tree.type === "Identifier") return MESSAGE_STATES.has(String(tree["name"])) ? [tree] : undefined;
  if (tree.type === "ObjectExpression") {
    return (tree["properties"] as readonly Tree[]).flatMap((each) =>
      each.type === "SpreadElement" ? (inner(each["argument"]) ?? [each]) : [each],
    );
  }
  if (isNew(tree, "StateSchema")) return inner((tree["arguments"] as readonly Tree[])[0]);
  const target = (tree.type === "CallExpression" ? tree["callee"] : tree) as Tree;
  if (target.type !== "MemberExpression" || !isTree(target["property"])) return undefined;
  const method = String(target["property"]["name"]);
  if (tree.type !== "CallExpression")
    return method === "spec" || method === "shape" ? inner(target["object"]) : undefined;
  const own = inner((tree["arguments"] as readonly Tree[])[0]);
  if (method === "Root" || method === "object") return own;
  if (method !== "extend" && method !== "merge") return undefined;
  const base = inner(target["object"]);
  if (own === undefined || base === undefined) return own ?? base;
  // The later description of a field counts.
  const names = new Set(own.map(keyOf));
  return [...base.filter((each) => !names.has(keyOf(each) ?? "")), ...own];
}

const MAX_NESTED_STATES = 20;

const MESSAGE_STATES: ReadonlySet<string> = new Set(["MessagesAnnotation", "MessagesZodState"]);

function messages(): StateChannel {
  return { name: "messages", type: "json[]", stubType: "unknown[]", reducer: "append" };
}

function readChannel(name: string, value: Tree, changes: Changes): StateChannel {
  if (value.type === "Identifier" && value["name"] === "MessagesValue") return { ...messages(), name };
  // Values of a `StateSchema`: the schema is their first argument, the options are the second one.
  const isValue = isNew(value, "ReducedValue") || isNew(value, "UntrackedValue");
  const [first, second] = /^(?:Call|New)Expression$/.test(value.type) ? (value["arguments"] as readonly Tree[]) : [];
  const schema = isValue ? first : value;
  const options = (isValue ? second : first) ?? value;
  const typed = value["typeParameters"] ?? value["typeArguments"];
  const parameter = isTree(typed) ? ((typed["params"] as readonly Tree[])[0] ?? undefined) : undefined;
  const zod = schema?.type === "CallExpression" ? zodType(schema) : undefined;
  const type = parameter === undefined ? (zod ?? "json") : typeOf(parameter);
  const reducer =
    options.type === "ObjectExpression" ? (property(options, "reducer") ?? property(options, "value")) : undefined;
  const own = options.type === "ObjectExpression" ? property(options, "default") : undefined;
  const start = own ?? (schema?.type === "CallExpression" ? zodDefault(schema) : undefined);
  const initial = start === undefined ? undefined : initialOf(start, type);
  const notes: string[] = [];
  if (reducer === undefined || reducer.type === "NullLiteral") {
    // A second writer of a step is an error in LangGraph, as here.
    const nullable = initial === undefined && type !== "json" && !type.endsWith("null") ? `${type} | null` : type;
    return { name, type: nullable, stubType: tsType(nullable), initial: initial ?? "null" };
  }
  const kind = reducerKind(reducer);
  if (kind === "append") {
    const list = type.endsWith("[]") ? type : "json[]";
    return {
      name,
      type: list,
      stubType: tsType(list),
      ...(initial === undefined || initial === "[]" ? {} : { initial }),
      reducer: "append",
    };
  }
  // `+` of texts, or of values that may be null, is left to the program's own function.
  if (kind === "sum" && /^(?:json|int|float)$/.test(type)) {
    const number = type === "json" ? "float" : type;
    return {
      name,
      type: number,
      stubType: "number",
      ...(initial === undefined
        ? {}
        : { initial: number === "float" && /^-?\d+$/.test(initial) ? `${initial}.0` : initial }),
      reducer: "sum",
    };
  }
  if (kind === "merge") return { name, type: "map<json>", stubType: "Record<string, unknown>", reducer: "merge" };
  if (kind === "last") {
    const nullable = initial === undefined && type !== "json" ? `${type} | null` : type;
    return { name, type: nullable, stubType: tsType(nullable), initial: initial ?? "null", reducer: "last" };
  }
  notes.push(changes.add(line(reducer), `the reducer of \`${name}\` is an imported function`));
  return { name, type: "json", stubType: "unknown", initial: initial ?? "null", reducer: `reduce_${name}`, notes };
}

/** What a reducer `(a, b) => …` does, if it is one of the common ones. */
function reducerKind(reducer: Tree): "append" | "sum" | "last" | "merge" | undefined {
  if (reducer.type === "Identifier")
    return /^(?:messagesStateReducer|addMessages|concat)/.test(String(reducer["name"])) ? "append" : undefined;
  if (reducer.type !== "ArrowFunctionExpression" && reducer.type !== "FunctionExpression") return undefined;
  const [a, b] = (reducer["params"] as readonly Tree[]).map((parameter) =>
    String((parameter.type === "AssignmentPattern" ? (parameter["left"] as Tree) : parameter)["name"]),
  );
  const body = returned(reducer);
  const is = (tree: unknown, name: string | undefined): boolean =>
    isTree(tree) && tree.type === "Identifier" && tree["name"] === name;
  if (body === undefined) return undefined;
  if (body.type === "CallExpression") {
    const callee = body["callee"] as Tree;
    if (
      callee.type === "MemberExpression" &&
      is(callee["object"], a) &&
      isTree(callee["property"]) &&
      callee["property"]["name"] === "concat"
    )
      return "append";
  }
  if (body.type === "ArrayExpression") {
    const spread = (body["elements"] as readonly Tree[]).map((each) =>
      each?.type === "SpreadElement" ? each["argument"] : undefined,
    );
    if (is(spread[0], a) && is(spread[1], b)) return "append";
  }
  if (body.type === "BinaryExpression" && body["operator"] === "+" && is(body["left"], a) && is(body["right"], b))
    return "sum";
  if (body.type === "ObjectExpression") {
    const spread = (body["properties"] as readonly Tree[]).map((each) =>
      each.type === "SpreadElement" ? each["argument"] : undefined,
    );
    if (spread.length === 2 && is(spread[0], a) && is(spread[1], b)) return "merge";
  }
  if (is(body, b)) return "last";
  // b ?? a
  if (body.type === "LogicalExpression" && body["operator"] === "??" && is(body["left"], b) && is(body["right"], a))
    return "last";
  return undefined;
}

/** The expression that a function returns, if it returns at one place. */
function returned(fn: Tree): Tree | undefined {
  const body = fn["body"] as Tree;
  if (body.type !== "BlockStatement") return body;
  const returns = [...walk(body)].filter((tree) => tree.type === "ReturnStatement");
  const [only] = returns;
  return returns.length === 1 && isTree(only!["argument"]) ? only!["argument"] : undefined;
}

/** The initial value of a channel, in the form of its type. */
function initialOf(start: Tree, type: string): string | undefined {
  const value = defaultOf(start);
  if (value === undefined || !type.startsWith("float")) return value;
  return /^-?\d+$/.test(value) ? `${value}.0` : value;
}

function defaultOf(start: Tree): string | undefined {
  const value =
    start.type === "ArrowFunctionExpression" || start.type === "FunctionExpression" ? returned(start) : start;
  return value === undefined ? undefined : literalOf(value);
}

function literalOf(tree: Tree): string | undefined {
  switch (tree.type) {
    case "StringLiteral":
      return JSON.stringify(tree["value"]);
    case "NumericLiteral":
      return Number.isSafeInteger(tree["value"]) || !/e/.test(String(tree["value"]))
        ? String(tree["value"])
        : undefined;
    case "BooleanLiteral":
      return String(tree["value"]);
    case "NullLiteral":
      return "null";
    case "ArrayExpression":
      return (tree["elements"] as readonly unknown[]).length === 0 ? "[]" : undefined;
    case "ObjectExpression":
      return (tree["properties"] as readonly unknown[]).length === 0 ? "{}" : undefined;
    default:
      return undefined;
  }
}

/** A type of TypeScript, as far as it is plain. */
function typeOf(type: Tree, depth = 0): string {
  if (depth > 10) return "json";
  switch (type.type) {
    case "TSStringKeyword":
      return "string";
    case "TSNumberKeyword":
      return "float";
    case "TSBooleanKeyword":
      return "bool";
    case "TSArrayType": {
      const item = typeOf(type["elementType"] as Tree, depth + 1);
      return /\|/.test(item) ? "json[]" : `${item}[]`;
    }
    case "TSLiteralType": {
      const value = literalOf(type["literal"] as Tree);
      return value !== undefined && value.startsWith('"') ? value : "json";
    }
    case "TSUnionType": {
      const members = (type["types"] as readonly Tree[]).map((member) =>
        member.type === "TSNullKeyword" || member.type === "TSUndefinedKeyword" ? "null" : typeOf(member, depth + 1),
      );
      const unique = [...new Set(members)];
      return unique.includes("json")
        ? "json"
        : [...unique.filter((member) => member !== "null"), ...(unique.includes("null") ? ["null"] : [])].join(" | ");
    }
    default:
      return "json";
  }
}

/** The type of `z.string()` and the like. */
function zodType(call: Tree): string | undefined {
  let current: Tree = call;
  let isList = false;
  for (let depth = 0; depth < 10 && current.type === "CallExpression"; depth++) {
    const callee = current["callee"] as Tree;
    if (callee.type !== "MemberExpression" || !isTree(callee["property"]) || !isTree(callee["object"]))
      return undefined;
    const method = String(callee["property"]["name"]);
    if (callee["object"].type === "Identifier" && callee["object"]["name"] === "z") {
      const type = {
        string: "string",
        number: "float",
        boolean: "bool",
        array: "json[]",
        record: "json",
        any: "json",
        object: "json",
      }[method];
      if (type === undefined) return undefined;
      return isList && !type.endsWith("[]") ? `${type}[]` : type;
    }
    if (method === "array") isList = true;
    current = callee["object"];
  }
  return undefined;
}

/** The argument of `.default(…)` in a chain of calls such as `z.number().default(0)`. */
function zodDefault(call: Tree): Tree | undefined {
  let current: unknown = call;
  for (let depth = 0; depth < 10 && isTree(current) && current.type === "CallExpression"; depth++) {
    const callee: unknown = current["callee"];
    if (!isTree(callee) || callee.type !== "MemberExpression") return undefined;
    if (isTree(callee["property"]) && callee["property"]["name"] === "default")
      return (current["arguments"] as readonly Tree[])[0];
    current = callee["object"];
  }
  return undefined;
}

function isNew(tree: Tree, name: string): boolean {
  return tree.type === "NewExpression" && isTree(tree["callee"]) && tree["callee"]["name"] === name;
}

function tsType(type: string): string {
  return type
    .replace(/\bjson\b/g, "unknown")
    .replace(/\bfloat\b|\bint\b/g, "number")
    .replace(/\bbool\b/g, "boolean");
}

/** The fields of the records that a function returns; `undefined` if they are not all known. */
function writesOf(body: Tree | undefined, known: ReadonlySet<string>): readonly string[] | undefined {
  if (body === undefined || !/Function/.test(body.type)) return undefined;
  const results: Tree[] = [];
  const open: Tree[] = [body["body"] as Tree];
  if (open[0]!.type !== "BlockStatement") results.push(open.pop()!);
  while (open.length > 0) {
    const tree = open.pop()!;
    if (tree.type === "ReturnStatement") {
      if (isTree(tree["argument"])) results.push(tree["argument"]);
      else return undefined;
      continue;
    }
    // Returns of inner functions are theirs.
    if (/Function|ObjectMethod|ClassMethod/.test(tree.type)) continue;
    for (const [field, value] of Object.entries(tree)) {
      if (field === "loc") continue;
      if (isTree(value)) open.push(value);
      else if (Array.isArray(value)) open.push(...value.filter(isTree));
    }
  }
  const lists: string[][] = [];
  for (const result of results) {
    if (result.type !== "ObjectExpression") return undefined;
    const fields = (result["properties"] as readonly Tree[]).map((each) =>
      each.type === "SpreadElement" ? undefined : keyOf(each),
    );
    if (fields.some((field) => field === undefined || !known.has(field))) return undefined;
    lists.push(fields as string[]);
  }
  return [...new Set(lists.flat())];
}

function readRoutes(
  from: string,
  router: Tree,
  map: Tree | undefined,
  declared: ReadonlyMap<string, Tree>,
  end: (tree: Tree) => string,
  changes: Changes,
): StateEdge {
  const body = resolve(router, declared);
  const condition = router.type === "Identifier" ? String(router["name"]) : `route_${from}`;
  const own = map === undefined ? undefined : resolve(map, declared);
  let routes: StateRoute[] = [];
  if (own?.type === "ObjectExpression") {
    routes = properties(own).map((each) => ({ key: keyOf(each) ?? "", targets: [end(each["value"] as Tree)] }));
  } else if (own?.type === "ArrayExpression") {
    routes = elements(own).map((each) => ({ key: textOf(each) ?? "", targets: [end(each)] }));
  } else if (body !== undefined) {
    const texts = [...walk(body)]
      .filter((tree) => tree.type === "ReturnStatement" || tree === body)
      .flatMap((tree) => {
        const value =
          tree === body
            ? /Arrow/.test(body.type) && (body["body"] as Tree).type !== "BlockStatement"
              ? (body["body"] as Tree)
              : undefined
            : (tree["argument"] as Tree | null);
        return isTree(value) ? choices(value) : [];
      });
    if (texts.includes(undefined))
      changes.add(
        line(router),
        `\`${condition}\` also returns values that are not texts, such as \`Send\`: these routes are not read`,
      );
    routes = [...new Set(texts.filter((text) => text !== undefined))].map((key) => ({
      key,
      targets: [key === "__end__" ? END : key],
    }));
  }
  const unique = routes.filter((route, index) => routes.findIndex((each) => each.key === route.key) === index);
  if (unique.length === 0) {
    throw new ImportError(
      line(router),
      `the targets of \`${condition}\` are not in this file`,
      "give `addConditionalEdges` its map of targets",
    );
  }
  return { kind: "routes", from, condition, routes: unique };
}

/** The texts that an expression can have; `undefined` for one that is not a text. */
function choices(tree: Tree): readonly (string | undefined)[] {
  if (tree.type === "ConditionalExpression")
    return [...choices(tree["consequent"] as Tree), ...choices(tree["alternate"] as Tree)];
  if (tree.type === "TSAsExpression") return choices(tree["expression"] as Tree);
  if (tree.type === "ArrayExpression") return elements(tree).flatMap(choices);
  return [textOf(tree)];
}

function resolve(tree: Tree | undefined, declared: ReadonlyMap<string, Tree>): Tree | undefined {
  let current = tree;
  for (let depth = 0; depth < 10 && current?.type === "Identifier"; depth++) {
    const next = declared.get(String(current["name"]));
    if (next === undefined || next === current) return current;
    current = next;
  }
  while (current?.type === "TSAsExpression" || current?.type === "TSSatisfiesExpression")
    current = current["expression"] as Tree;
  return current;
}

function textOf(tree: Tree | undefined): string | undefined {
  if (tree === undefined) return undefined;
  if (tree.type === "StringLiteral") return String(tree["value"]);
  if (tree.type === "Identifier" && tree["name"] === "START") return "__start__";
  if (tree.type === "Identifier" && tree["name"] === "END") return "__end__";
  if (tree.type === "TSAsExpression") return textOf(tree["expression"] as Tree);
  const quasis = tree["quasis"] as readonly Tree[] | undefined;
  if (tree.type === "TemplateLiteral" && quasis?.length === 1)
    return String((quasis[0]!["value"] as { cooked?: string }).cooked ?? "");
  return undefined;
}

function elements(tree: Tree): readonly Tree[] {
  return tree.type === "ArrayExpression" ? (tree["elements"] as readonly unknown[]).filter(isTree) : [];
}

function properties(tree: Tree): readonly Tree[] {
  return tree.type === "ObjectExpression"
    ? (tree["properties"] as readonly Tree[]).filter((each) => each.type === "ObjectProperty")
    : [];
}

function property(tree: Tree, name: string): Tree | undefined {
  return properties(tree).find((each) => keyOf(each) === name)?.["value"] as Tree | undefined;
}

function keyOf(each: Tree): string | undefined {
  const own = each["key"] as Tree | undefined;
  if (own === undefined) return undefined;
  if (own.type === "Identifier") return each["computed"] === true ? textOf(own) : String(own["name"]);
  return textOf(own);
}
