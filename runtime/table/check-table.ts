import { isLibraryName } from "../expression/library.ts";
import { checkPlanTable } from "./check-plan-table.ts";
import { END, TABLE_FORMAT, TABLE_VERSION, type Table } from "./table.ts";
import { bad, list, record, waits } from "./table-shape.ts";

/**
 * Checks by hand that a value has a table's format, version and shape, and that every index in it points somewhere (1.2),
 * so that nothing behind this check has to ask again. Values inside types and constants are not looked at, nor is
 * the digest: `loadTable` of the compiler does both.
 *
 * @throws TableError NG_BAD_TABLE, naming the place
 */
export function checkTable(value: unknown): asserts value is Table {
  checkGraph(value, "table", 0);
}

const MAX_GRAPH_DEPTH = 64;
const MAX_NESTING = 1000;

function checkGraph(value: unknown, at: string, depth: number): void {
  if (depth > MAX_GRAPH_DEPTH) bad(at, `graphs call each other more than ${MAX_GRAPH_DEPTH} deep`);
  const table = record(value, at);
  if (table["format"] !== TABLE_FORMAT) bad(`${at}.format`, `expected ${JSON.stringify(TABLE_FORMAT)}`);
  if (table["version"] !== TABLE_VERSION) {
    bad(`${at}.version`, `expected ${TABLE_VERSION}: compile the graph again with this version of ngraph`);
  }
  if (table["kind"] !== "graph") bad(`${at}.kind`, 'expected "graph"');
  text(table["name"], `${at}.name`);
  if (!/^sha256:[0-9a-f]{64}$/.test(text(table["digest"], `${at}.digest`)))
    bad(`${at}.digest`, "expected a SHA-256 digest");

  const sizes: Sizes = {
    channels: list(table["channels"], `${at}.channels`).length,
    nodes: list(table["nodes"], `${at}.nodes`).length,
    barriers: list(table["barriers"], `${at}.barriers`),
    expressions: list(table["expressions"], `${at}.expressions`).length,
    functions: list(table["functions"], `${at}.functions`).length,
    graphs: list(table["graphs"], `${at}.graphs`).length,
    plans: list(table["plans"] ?? [], `${at}.plans`).length,
  };
  each(table["types"], `${at}.types`, (item, place) => {
    const named = record(item, place);
    text(named["name"], `${place}.name`);
    checkType(named["type"], `${place}.type`, 0);
  });
  each(table["functions"], `${at}.functions`, (item, place) => {
    const fields = record(item, place);
    for (const name of ["name", "module", "export"]) text(fields[name], `${place}.${name}`);
  });
  each(table["expressions"], `${at}.expressions`, (item, place) => checkExpression(item, place, sizes));
  unique(table["channels"], `${at}.channels`, "name", (item, place) => checkChannel(item, place, sizes));
  unique(table["barriers"], `${at}.barriers`, "id", (item, place) => checkBarrier(item, place, sizes));
  unique(table["nodes"], `${at}.nodes`, "name", (item, place, node) => checkNode(item, place, node, sizes));
  each(table["start"], `${at}.start`, (item, place) => checkRoute(item, place, -1, sizes));
  each(table["graphs"], `${at}.graphs`, (item, place) => checkGraph(item, place, depth + 1));
  each(table["plans"] ?? [], `${at}.plans`, (item, place) => checkPlanTable(item, place, depth + 1));
  each(table["secrets"], `${at}.secrets`, text);
  each(table["effects"], `${at}.effects`, text);
  const limits = record(table["limits"], `${at}.limits`);
  for (const name of ["steps", "parallel"]) {
    if (limits[name] !== null) whole(limits[name], `${at}.limits.${name}`, name === "steps" ? 0 : 1);
  }
}

interface Sizes {
  readonly channels: number;
  readonly nodes: number;
  readonly barriers: readonly unknown[];
  readonly expressions: number;
  readonly functions: number;
  readonly graphs: number;
  readonly plans: number;
}

function checkChannel(item: unknown, at: string, sizes: Sizes): void {
  const channel = record(item, at);
  oneOf(channel["role"], ["input", "output", "state", "memory"], `${at}.role`);
  checkType(channel["type"], `${at}.type`, 0);
  if (channel["initial"] === undefined && channel["role"] !== "input") {
    bad(`${at}.initial`, "only an input may be without a start value");
  }
  if (channel["reducer"] === undefined) return;
  const reducer = record(channel["reducer"], `${at}.reducer`);
  if (reducer["kind"] === "function") index(reducer["function"], sizes.functions, `${at}.reducer.function`, "function");
  else oneOf(reducer["kind"], ["last", "append", "sum", "min", "max", "merge", "union"], `${at}.reducer.kind`);
}

function checkBarrier(item: unknown, at: string, sizes: Sizes): void {
  const barrier = record(item, at);
  oneOf(barrier["kind"], ["all", "waits"], `${at}.kind`);
  if (barrier["target"] !== END || barrier["kind"] === "waits")
    index(barrier["target"], sizes.nodes, `${at}.target`, "node");
  each(barrier["members"], `${at}.members`, (member, place) =>
    each(member, place, (node, inner) => index(node, sizes.nodes, inner, "node")),
  );
}

function checkNode(item: unknown, at: string, node: number, sizes: Sizes): void {
  const spec = record(item, at);
  checkCall(spec["call"], `${at}.call`, sizes);
  if (spec["each"] !== undefined) {
    const loop = record(spec["each"], `${at}.each`);
    text(loop["item"], `${at}.each.item`);
    index(loop["list"], sizes.expressions, `${at}.each.list`, "expression");
    if (loop["parallel"] !== undefined) whole(loop["parallel"], `${at}.each.parallel`, 1);
  }
  if (spec["output"] !== undefined) checkOutput(spec["output"], `${at}.output`, sizes);
  if (spec["tries"] !== undefined) {
    const tries = record(spec["tries"], `${at}.tries`);
    whole(tries["attempts"], `${at}.tries.attempts`, 1);
    if (tries["backoff"] !== undefined) waits(tries["backoff"], `${at}.tries.backoff`);
  }
  if (spec["timeout"] !== undefined) number(spec["timeout"], `${at}.timeout`);
  if (spec["cache"] !== undefined && record(spec["cache"], `${at}.cache`)["for"] !== null) {
    number(record(spec["cache"], `${at}.cache`)["for"], `${at}.cache.for`);
  }
  if (spec["goes"] !== undefined) {
    each(spec["goes"], `${at}.goes`, (target, place) => target === END || index(target, sizes.nodes, place, "node"));
  }
  if (spec["waits"] !== undefined) index(spec["waits"], sizes.barriers.length, `${at}.waits`, "barrier");
  each(spec["routes"], `${at}.routes`, (route, place) => checkRoute(route, place, node, sizes));
  each(spec["onError"], `${at}.onError`, (route, place) => {
    const fields = record(route, place);
    const condition = fields["condition"];
    if (condition !== undefined && condition !== "otherwise") {
      index(condition, sizes.expressions, `${place}.condition`, "expression");
    }
    checkTargets(fields["targets"], `${place}.targets`, node, sizes);
  });
}

function checkCall(item: unknown, at: string, sizes: Sizes): void {
  const call = record(item, at);
  const expression = (value: unknown, place: string): void => index(value, sizes.expressions, place, "expression");
  switch (call["kind"]) {
    case "function":
      index(call["function"], sizes.functions, `${at}.function`, "function");
      each(call["args"], `${at}.args`, expression);
      return;
    case "expression":
      expression(call["expression"], `${at}.expression`);
      return;
    case "builtin":
    case "graph":
    case "plan":
      if (call["kind"] === "plan") index(call["plan"], sizes.plans, `${at}.plan`, "plan");
      else if (call["kind"] === "builtin") text(call["name"], `${at}.name`);
      else index(call["graph"], sizes.graphs, `${at}.graph`, "graph");
      each(call["args"], `${at}.args`, (argument, place) => {
        text(record(argument, place)["name"], `${place}.name`);
        expression(record(argument, place)["expression"], `${place}.expression`);
      });
      return;
    default:
      bad(`${at}.kind`, 'expected "function", "builtin", "graph", "plan" or "expression"');
  }
}

function checkOutput(item: unknown, at: string, sizes: Sizes): void {
  const output = record(item, at);
  if (output["kind"] === "channel") {
    index(output["channel"], sizes.channels, `${at}.channel`, "channel");
    return;
  }
  oneOf(output["kind"], ["channel", "fields"], `${at}.kind`);
  each(output["fields"], `${at}.fields`, (field, place) => {
    text(record(field, place)["field"], `${place}.field`);
    index(record(field, place)["channel"], sizes.channels, `${place}.channel`, "channel");
  });
}

function checkRoute(item: unknown, at: string, node: number, sizes: Sizes): void {
  const route = record(item, at);
  switch (route["kind"]) {
    case "when":
      index(route["condition"], sizes.expressions, `${at}.condition`, "expression");
      checkTargets(route["targets"], `${at}.targets`, node, sizes);
      return;
    case "plain":
    case "otherwise":
      checkTargets(route["targets"], `${at}.targets`, node, sizes);
      return;
    case "match":
    case "cases":
      if (route["kind"] === "match") index(route["subject"], sizes.expressions, `${at}.subject`, "expression");
      each(route["arms"], `${at}.arms`, (item, place) => {
        const arm = record(item, place);
        if (route["kind"] === "match") list(arm["values"], `${place}.values`);
        else index(arm["condition"], sizes.expressions, `${place}.condition`, "expression");
        checkTargets(arm["targets"], `${place}.targets`, node, sizes);
      });
      if (route["otherwise"] !== undefined) checkTargets(route["otherwise"], `${at}.otherwise`, node, sizes);
      return;
    default:
      bad(`${at}.kind`, 'expected "plain", "when", "otherwise", "match" or "cases"');
  }
}

function checkTargets(value: unknown, at: string, node: number, sizes: Sizes): void {
  each(value, at, (item, place) => {
    const target = record(item, place);
    if (target["barrier"] === undefined) {
      if (target["node"] !== END) index(target["node"], sizes.nodes, `${place}.node`, "node");
      return;
    }
    index(target["barrier"], sizes.barriers.length, `${place}.barrier`, "barrier");
    const members = list(record(sizes.barriers[target["barrier"] as number], place)["members"], place);
    index(target["member"], members.length, `${place}.member`, "member");
    // The scheduler knows a signal's member by the node it comes from.
    if (!list(members[target["member"] as number], place).includes(node)) {
      bad(place, "signals a member of the barrier that its node does not fill");
    }
  });
}

const PARTS: Readonly<Record<string, readonly string[]>> = {
  member: ["of"],
  index: ["of", "at"],
  not: ["of"],
  negate: ["of"],
  binary: ["left", "right"],
  if: ["condition", "then", "else"],
  comprehension: ["list", "value"],
  const: [],
  channel: [],
  local: [],
  error: [],
  secret: [],
  list: [],
  record: [],
  template: [],
  library: [],
  call: [],
};

/** Without recursion: a table may come from anywhere. */
function checkExpression(item: unknown, at: string, sizes: Sizes): void {
  const open: [unknown, number][] = [[item, 0]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next;
    if (depth > MAX_NESTING) bad(at, `nests deeper than ${MAX_NESTING}`);
    const part = record(value, at);
    const op = text(part["op"], `${at}.op`);
    if (!Object.hasOwn(PARTS, op)) bad(at, `unknown operation ${JSON.stringify(op)}`);
    if (op === "channel") index(part["channel"], sizes.channels, at, "channel");
    if (op === "call") index(part["function"], sizes.functions, at, "function");
    if (op === "const" && part["value"] === undefined) bad(at, "a constant without a value");
    if (["local", "secret", "member"].includes(op)) text(part["name"], at);
    if (op === "comprehension") text(part["item"], at);
    if (op === "library" && !isLibraryName(text(part["name"], at))) bad(at, `unknown function ${String(part["name"])}`);
    const children: unknown[] = PARTS[op]!.map((name) => part[name]);
    if (op === "comprehension" && part["condition"] !== undefined) children.push(part["condition"]);
    if (op === "list") children.push(...list(part["items"], at));
    if (op === "record") children.push(...list(part["fields"], at).map((field) => record(field, at)["value"]));
    if (op === "library" || op === "call") children.push(...list(part["args"], at));
    if (op === "template") children.push(...list(part["parts"], at).filter((child) => typeof child !== "string"));
    for (const child of children) open.push([child, depth + 1]);
  }
}

const TYPES: ReadonlySet<unknown> = new Set([
  "string",
  "int",
  "float",
  "bool",
  "null",
  "json",
  "literal",
  "list",
  "map",
  "record",
  "union",
  "ref",
  "opaque",
]);

function checkType(item: unknown, at: string, depth: number): void {
  if (depth > MAX_NESTING) bad(at, `nests deeper than ${MAX_NESTING}`);
  const type = record(item, at);
  if (!TYPES.has(type["kind"])) bad(`${at}.kind`, `unknown type ${JSON.stringify(type["kind"])}`);
  if (type["kind"] === "list") checkType(type["item"], `${at}.item`, depth + 1);
  if (type["kind"] === "map") checkType(type["value"], `${at}.value`, depth + 1);
  if (type["kind"] === "union")
    each(type["members"], `${at}.members`, (member, place) => checkType(member, place, depth + 1));
  if (type["kind"] === "record") {
    each(type["fields"], `${at}.fields`, (field, place) => {
      text(record(field, place)["name"], `${place}.name`);
      checkType(record(field, place)["type"], `${place}.type`, depth + 1);
    });
  }
}

function each(value: unknown, at: string, check: (item: unknown, at: string, index: number) => unknown): void {
  list(value, at).forEach((item, position) => check(item, `${at}[${position}]`, position));
}

/** A list whose items are told apart by a field. */
function unique(
  value: unknown,
  at: string,
  field: string,
  check: (item: unknown, at: string, index: number) => void,
): void {
  const seen = new Set<string>();
  each(value, at, (item, place, position) => {
    const name = text(record(item, place)[field], `${place}.${field}`);
    if (seen.has(name)) bad(`${place}.${field}`, `${JSON.stringify(name)} stands twice`);
    seen.add(name);
    check(item, place, position);
  });
}

function text(value: unknown, at: string): string {
  if (typeof value !== "string") bad(at, "expected a string");
  return value as string;
}

function number(value: unknown, at: string): void {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0) bad(at, "expected a number of at least 0");
}

function whole(value: unknown, at: string, least: number): void {
  if (!Number.isSafeInteger(value) || (value as number) < least)
    bad(at, `expected a whole number of at least ${least}`);
}

function oneOf(value: unknown, allowed: readonly string[], at: string): void {
  if (!allowed.includes(value as string)) bad(at, `expected one of ${allowed.join(", ")}`);
}

function index(value: unknown, size: number, at: string, what: string): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) >= size) {
    bad(at, `${String(value)} is no ${what} (there are ${size})`);
  }
}
