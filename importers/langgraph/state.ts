/** The channels of a program's state: of `Annotation.Root`, `StateSchema`, zod objects and plain objects. */
import type { Changes } from "../imported.ts";
import { isTree, line, type Tree } from "../program-tree.ts";
import type { StateChannel } from "../state-graph.ts";
import type { FunctionNames } from "./function-names.ts";
import { initialOf, tsType, typeOf, zodDefault, zodType } from "./types.ts";
import { isNew, keyOf, memberName, plain, properties, property, resolve, returned, type Declared } from "./trees.ts";

/** The channels of the state: of `Annotation.Root`, an object of channels, a zod object, or an interface of the type argument. */
export function readState(creation: Tree, reading: StateReading): StateChannel[] {
  const { declared, changes, notes } = reading;
  const [argument] = creation["arguments"] as readonly Tree[];
  const callee = creation["callee"] as Tree;
  if ((memberName(callee) ?? callee["name"]) === "MessageGraph") return [messages()];
  let state = resolve(argument, declared);
  const described = state === undefined ? undefined : DESCRIPTIONS.map((key) => property(state!, key)).find(isTree);
  if (state !== undefined && described !== undefined) {
    for (const each of properties(state))
      if (OTHER_SCHEMAS.has(keyOf(each) ?? ""))
        notes.push(
          changes.add(line(each), `\`${keyOf(each)}\` is left out: the input and the output are the whole state here`),
        );
    state = resolve(described, declared);
  }
  const search = { ...reading, left: MAX_DESCRIPTIONS };
  const fields = fieldsOf(state, search);
  const known = fields?.some(({ type }) => type !== "SpreadElement") ?? false;
  if (fields === undefined || (fields.length > 0 && !known)) {
    notes.push(
      changes.add(
        line(creation),
        "the description of the state was not found: it is one record, `data`, whose fields the nodes write",
      ),
    );
    return [{ name: "data", type: "map<json>", stubType: "Record<string, unknown>", reducer: "merge" }];
  }
  // The later description of a field counts.
  const channels = new Map<string, StateChannel>();
  for (const each of fields) {
    if (each.type === "Identifier") {
      channels.set("messages", messages());
      continue;
    }
    if (each.type === "SpreadElement") {
      const base = rootName(each["argument"] as Tree);
      notes.push(
        changes.add(
          line(each),
          base === undefined
            ? "the channels that are spread here are not read"
            : `the channels of \`${base}\` were not found: add them to the graph`,
        ),
      );
      continue;
    }
    const channel = keyOf(each, declared);
    if (channel === undefined) notes.push(changes.add(line(each), "a channel whose name is computed is not read"));
    else if (each.type === "ObjectMethod")
      channels.set(channel, { name: channel, type: "json", stubType: "unknown", initial: "null" });
    else channels.set(channel, readChannel(channel, each["value"] as Tree, search));
  }
  // The functions of the program use the names that it has.
  return [...channels.values()].map((channel) => ({ ...channel, field: channel.name }));
}

/** The name in front of the points of `Base.spec` and `Base.spec.field`. */
function rootName(tree: Tree): string | undefined {
  let root = plain(tree);
  while (root?.type === "MemberExpression") root = plain(root["object"] as Tree);
  return root?.type === "Identifier" ? String(root["name"]) : undefined;
}

/** The keys of a description with several schemas: that of the state, and others. */
const DESCRIPTIONS = ["channels", "stateSchema", "state"];
const OTHER_SCHEMAS: ReadonlySet<string> = new Set(["input", "output", "inputSchema", "outputSchema"]);

/** A program that describes its state by more parts is not written by hand: states that spread each other double at each level. */
const MAX_DESCRIPTIONS = 2_000;

export interface StateReading {
  readonly declared: Declared;
  readonly names: FunctionNames;
  readonly changes: Changes;
  readonly notes: string[];
}

interface Reading extends StateReading {
  /** Descriptions that may still be read. */
  left: number;
}

/**
 * The fields of a description of the state, with those that it spreads or extends: the object of `Annotation.Root({ … })`,
 * `new StateSchema({ … })` and `z.object({ … })`, their `.spec` and `.shape`, and a plain object. The name of a state of the library with `messages` is an
 * element of its own. `undefined` if it is something else.
 */
function fieldsOf(description: Tree | undefined, reading: Reading, depth = 0): readonly Tree[] | undefined {
  const tree = resolve(description, reading.declared);
  if (tree === undefined || depth > MAX_NESTED_STATES || reading.left-- <= 0) return undefined;
  const inner = (next: unknown): readonly Tree[] | undefined =>
    isTree(next) ? fieldsOf(next, reading, depth + 1) : undefined;
  if (tree.type === "Identifier") return MESSAGE_STATES.has(String(tree["name"])) ? [tree] : undefined;
  if (tree.type === "ObjectExpression") {
    return (tree["properties"] as readonly Tree[]).flatMap((each) =>
      each.type === "SpreadElement" ? (inner(each["argument"]) ?? [each]) : [each],
    );
  }
  if (isNew(tree, "StateSchema")) return inner((tree["arguments"] as readonly Tree[])[0]);
  const target = (tree.type === "CallExpression" ? tree["callee"] : tree) as Tree;
  if (target.type !== "MemberExpression" || !isTree(target["property"])) return undefined;
  const method = memberName(target) ?? "";
  if (tree.type !== "CallExpression") {
    if (MESSAGE_STATES.has(method)) return [target["property"]];
    return method === "spec" || method === "shape" ? inner(target["object"]) : undefined;
  }
  const own = inner((tree["arguments"] as readonly Tree[])[0]);
  if (method === "Root" || method === "object") return own;
  if (method !== "extend" && method !== "merge") return undefined;
  const base = inner(target["object"]);
  return own === undefined || base === undefined ? (own ?? base) : [...base, ...own];
}

const MAX_NESTED_STATES = 20;

const MESSAGE_STATES: ReadonlySet<string> = new Set(["MessagesAnnotation", "MessagesZodState"]);

function messages(): StateChannel {
  return { name: "messages", type: "json[]", stubType: "unknown[]", reducer: "append" };
}

/** The description of a channel, also behind `Base.spec.field`; the name of a state of the library if it is the `messages` of that. */
function descriptionOf(own: Tree, reading: Reading): Tree {
  let value = resolve(own, reading.declared) ?? own;
  for (let depth = 0; depth < MAX_NESTED_STATES && value.type === "MemberExpression"; depth++) {
    const name = memberName(value);
    const fields = fieldsOf(value["object"] as Tree, reading) ?? [];
    const field = fields.findLast((each) =>
      each.type === "Identifier" ? name === "messages" : name !== undefined && keyOf(each, reading.declared) === name,
    );
    if (field === undefined) break;
    value = field.type === "ObjectProperty" ? (resolve(field["value"] as Tree, reading.declared) ?? field) : field;
  }
  return value;
}

/** Descriptions of a channel that is replaced, of any type. */
const UNTYPED: ReadonlySet<string> = new Set(["Annotation", "undefined"]);

function readChannel(name: string, own: Tree, reading: Reading): StateChannel {
  const { declared, names, changes } = reading;
  const value = descriptionOf(own, reading);
  if (value.type === "Identifier" && (value["name"] === "MessagesValue" || MESSAGE_STATES.has(String(value["name"]))))
    return { ...messages(), name };
  const isName = /^(?:Identifier|MemberExpression)$/.test(value.type);
  if (isName && !UNTYPED.has(memberName(value) ?? String(value["name"]))) {
    const note = changes.add(
      line(own),
      `the description of \`${name}\` was not found: here it is a value of any type, and each write replaces it`,
    );
    return { name, type: "json", stubType: "unknown", initial: "null", reducer: "last", notes: [note] };
  }
  // Values of a `StateSchema`: the schema is their first argument, the options are the second one.
  const isValue = isNew(value, "ReducedValue") || isNew(value, "UntrackedValue");
  const [first, second] = /^(?:Call|New)Expression$/.test(value.type) ? (value["arguments"] as readonly Tree[]) : [];
  const schema = isValue ? first : value;
  const options = resolve(isValue ? second : first, declared) ?? value;
  const typed = value["typeParameters"] ?? value["typeArguments"];
  const parameter = isTree(typed) ? ((typed["params"] as readonly Tree[])[0] ?? undefined) : undefined;
  const zod = schema?.type === "CallExpression" ? zodType(schema) : undefined;
  const type = parameter === undefined ? (zod ?? "json") : typeOf(parameter);
  const reducer = resolve(property(options, "reducer") ?? property(options, "value"), declared);
  const start = property(options, "default") ?? (schema?.type === "CallExpression" ? zodDefault(schema) : undefined);
  const initial = start === undefined ? undefined : initialOf(resolve(start, declared)!, type);
  const notes: string[] = [];
  if (start !== undefined && initial === undefined)
    notes.push(changes.add(line(start), `the start value of \`${name}\` is no constant, and is left out`));
  /** A start value of the form that a reducer needs. Empty lists and records are the start values anyway. */
  const started = (form: RegExp): { readonly initial?: string } => {
    if (initial === undefined || initial === "[]" || initial === "{}" || initial === "null") return {};
    if (form.test(initial)) return { initial };
    notes.push(changes.add(line(start!), `the start value of \`${name}\` does not fit its reducer, and is left out`));
    return {};
  };
  /** Without a start value, and with the start value `null`, the channel may be empty. */
  const nullable =
    (initial === undefined || initial === "null") && type !== "json" && !type.endsWith("null")
      ? `${type} | null`
      : type;
  if (reducer === undefined || reducer.type === "NullLiteral") {
    // A second writer of a step is an error in LangGraph, as here.
    return { name, type: nullable, stubType: tsType(nullable), initial: initial ?? "null", notes };
  }
  const kind = reducerKind(reducer);
  if (kind === "append") {
    const list = type.endsWith("[]") ? type : "json[]";
    return { name, type: list, stubType: tsType(list), ...started(/^\[/), reducer: "append", notes };
  }
  // `+` of texts, or of values that may be null, is left to the program's own function.
  if (kind === "sum" && /^(?:json|int|float)$/.test(type)) {
    const number = type === "json" ? "float" : type;
    const { initial: value } = started(/^-?\d/);
    const from =
      value === undefined ? {} : { initial: number === "float" && /^-?\d+$/.test(value) ? `${value}.0` : value };
    return { name, type: number, stubType: "number", ...from, reducer: "sum", notes };
  }
  if (kind === "merge")
    return {
      name,
      type: "map<json>",
      stubType: "Record<string, unknown>",
      ...started(/^\{/),
      reducer: "merge",
      notes,
    };
  if (kind === "last")
    return { name, type: nullable, stubType: tsType(nullable), initial: initial ?? "null", reducer: "last", notes };
  notes.push(changes.add(line(reducer), `the reducer of \`${name}\` is an imported function`));
  return {
    name,
    type: "json",
    stubType: "unknown",
    initial: initial ?? "null",
    reducer: names.of("reducer", `reduce_${name}`, reducer),
    notes,
  };
}

/** What a reducer `(a, b) => …` does, if it is one of the common ones. */
function reducerKind(reducer: Tree): "append" | "sum" | "last" | "merge" | undefined {
  if (reducer.type === "Identifier")
    return /^(?:messagesStateReducer|addMessages|concat)$/.test(String(reducer["name"])) ? "append" : undefined;
  if (reducer.type !== "ArrowFunctionExpression" && reducer.type !== "FunctionExpression") return undefined;
  const [a, b] = (reducer["params"] as readonly Tree[]).map((parameter) =>
    String((parameter.type === "AssignmentPattern" ? (parameter["left"] as Tree) : parameter)["name"]),
  );
  const block = reducer["body"] as Tree;
  // Statements before the `return` may change what it returns.
  if (block.type === "BlockStatement" && (block["body"] as readonly Tree[]).length !== 1) return undefined;
  const body = returned(reducer);
  const is = (tree: unknown, name: string | undefined): boolean =>
    isTree(tree) && tree.type === "Identifier" && tree["name"] === name;
  // `b`, `b ?? []`, `[b]`, `Array.isArray(b) ? b : [b]`
  const isUpdate = (tree: unknown): boolean => {
    if (!isTree(tree)) return false;
    if (tree.type === "LogicalExpression") return is(tree["left"], b);
    if (tree.type === "ConditionalExpression") return [tree["consequent"], tree["alternate"]].every(isUpdate);
    const items = tree.type === "ArrayExpression" ? (tree["elements"] as readonly Tree[]) : undefined;
    return items === undefined ? is(tree, b) : items.length === 0 || (items.length === 1 && is(items[0], b));
  };
  if (body === undefined) return undefined;
  if (body.type === "CallExpression") {
    const callee = body["callee"] as Tree;
    if (
      callee.type === "MemberExpression" &&
      is(callee["object"], a) &&
      (body["arguments"] as readonly Tree[]).length === 1 &&
      isUpdate((body["arguments"] as readonly Tree[])[0]) &&
      isTree(callee["property"]) &&
      callee["property"]["name"] === "concat"
    )
      return "append";
  }
  if (body.type === "ArrayExpression") {
    const spread = (body["elements"] as readonly Tree[]).map((each) =>
      each?.type === "SpreadElement" ? each["argument"] : undefined,
    );
    if (spread.length === 2 && is(spread[0], a) && is(spread[1], b)) return "append";
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
