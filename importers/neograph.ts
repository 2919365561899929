/** Topologies of NeoGraph as JSON, of the schema versions 0 (lenient) and 1 (strict). */
import {
  Changes,
  duration,
  ImportError,
  isObject,
  literal,
  shortJson,
  type Imported,
  type JsonValue,
  type Source,
  recordKey,
} from "./imported.ts";
import {
  END,
  START,
  writeStateGraph,
  type StateChannel,
  type StateEdge,
  type StateGraph,
  type StateNode,
} from "./state-graph.ts";

/** Effects of NeoGraph's own node types. */
const EFFECTS: ReadonlyMap<string, { readonly reads: readonly string[]; readonly writes: readonly string[] }> = new Map(
  [
    ["llm_call", { reads: ["messages"], writes: ["messages"] }],
    ["tool_dispatch", { reads: ["messages"], writes: ["messages"] }],
    ["intent_classifier", { reads: ["messages"], writes: ["__route__"] }],
  ],
);

/** Called graphs nest at most so deep. */
const DEEPEST = 20;

export function isNeoGraph(value: JsonValue | undefined): boolean {
  return isObject(value) && isObject(value["nodes"]) && !("StartAt" in value) && !("scripts" in value);
}

/** @throws ImportError */
export function importNeoGraph(source: Source, name: string, module: string): Imported {
  const changes = new Changes();
  const graph = readGraph(source, source.field("name").optionalText() ?? name, changes, 0);
  const { text, stubs } = writeStateGraph(graph, module, []);
  return { text, stubs, changes: changes.list };
}

function readGraph(source: Source, name: string, changes: Changes, depth: number): StateGraph {
  if (depth > DEEPEST) throw new ImportError(source.at, `graphs nest more than ${DEEPEST} levels deep`);
  const version = source.field("schema_version").value ?? 0;
  if (version !== 0 && version !== 1) {
    throw new ImportError(
      source.field("schema_version").at,
      `schema version ${shortJson(version)} is not known`,
      "versions 0 and 1 are",
    );
  }
  if (!isObject(source.field("nodes").value)) throw source.field("nodes").wrong("an object of nodes");
  const isStrict = version === 1;
  const notes = annotations(source);
  for (const [key, value] of source.entries()) {
    if (KEYS.has(key) || isAnnotation(key)) continue;
    if (isStrict) throw new ImportError(value.at, `\`${key}\` is not a key of a topology`);
    notes.push(changes.add(value.at, `\`${key}\` is ignored, as NeoGraph does`));
  }
  const channels = source
    .field("channels")
    .entries()
    .filter(([key, value]) => !isAnnotation(key) || isObject(value.value))
    .map(([key, value]) => readChannel(key, value, changes));
  const known = new Map(channels.map((channel) => [channel.name, channel]));
  const declare = (channel: string, at: string): void => {
    if (known.has(channel)) return;
    const made: StateChannel = {
      name: channel,
      type: "json",
      stubType: "unknown",
      initial: "null",
      reducer: "last",
      notes: [changes.add(at, `the channel \`${channel}\` is not declared in the source`)],
    };
    known.set(channel, made);
    channels.push(made);
  };

  const graphs: StateGraph[] = [];
  const nodes: StateNode[] = [];
  const barriers = new Map<string, readonly string[]>();
  const before = new Set(source.field("interrupt_before").texts());
  const after = new Set(source.field("interrupt_after").texts());
  const retry = retryOf(source.field("retry_policy"), changes);
  for (const [key, value] of source.field("nodes").entries()) {
    if (isAnnotation(key) && !isObject(value.value)) continue;
    const type = value.field("type").text();
    const policies = [
      ...(retry === undefined ? [] : [retry]),
      ...(before.has(key) ? ["pause before"] : []),
      ...(after.has(key) ? ["pause after"] : []),
    ];
    const barrier = value.field("barrier");
    if (barrier.isPresent) {
      const members = barrier.field("wait_for").texts();
      if (members.length > 0) barriers.set(key, [...new Set(members)]);
      else if (isStrict) throw new ImportError(barrier.at, "a barrier names the nodes that it waits for in `wait_for`");
      else changes.add(barrier.at, "the barrier names no node, and is dropped, as NeoGraph does");
    }
    if (type === "subgraph") {
      const inner = value.field("definition");
      if (typeof inner.value === "string") {
        throw new ImportError(
          inner.at,
          `the definition is the file ${shortJson(inner.value)}`,
          "put its content in its place, or import it by itself and call it",
        );
      }
      const innerName = inner.field("name").optionalText() ?? key;
      const called = readGraph(
        inner,
        graphs.some((each) => each.name === innerName) ? `${innerName} ${key}` : innerName,
        changes,
        depth + 1,
      );
      graphs.push(called);
      nodes.push({
        name: key,
        call: called.name,
        graph: mapsOf(value, called, known),
        policies,
        notes: annotations(value),
      });
      continue;
    }
    const config = value.entries().filter(([field]) => field !== "type" && field !== "barrier" && !isAnnotation(field));
    const output = value.field("output_channel").value;
    const named = typeof output === "string" && known.has(output) ? [output] : undefined;
    const own = EFFECTS.get(type);
    const effects =
      own === undefined
        ? named && { writes: named }
        : { ...own, writes: [...new Set([...own.writes, ...(named ?? [])])] };
    for (const channel of [...(own?.reads ?? []), ...(effects?.writes ?? [])]) declare(channel, value.at);
    nodes.push({
      name: key,
      call: type,
      ...(config.length === 0
        ? {}
        : {
            config: `{ ${config.map(([field, each]) => `${recordKey(field)}: ${literal(each)}`).join(", ")} }`,
          }),
      ...effects,
      policies,
      notes: annotations(value),
    });
  }
  const declared = new Set(nodes.map((node) => node.name));
  for (const pause of [...before, ...after]) {
    if (!declared.has(pause))
      notes.push(changes.add(`${source.at}.interrupt_before`, `\`${pause}\` is not a node: the pause is dropped`));
  }
  for (const [node, members] of barriers) {
    for (const member of members) {
      if (!declared.has(member))
        throw new ImportError(source.field("nodes").field(node).field("barrier").at, `\`${member}\` is not a node`);
    }
  }
  const edges = readEdges(source, { declared, barriers, isStrict, changes, declare });
  const doc = source.field("description");
  return {
    name,
    notes,
    ...(typeof doc.value === "string" ? { doc: doc.value } : {}),
    channels,
    nodes,
    edges,
    graphs,
  };
}

const KEYS: ReadonlySet<string> = new Set([
  "schema_version",
  "name",
  "description",
  "channels",
  "nodes",
  "edges",
  "conditional_edges",
  "interrupt_before",
  "interrupt_after",
  "retry_policy",
]);

function isAnnotation(key: string): boolean {
  return key.startsWith("_") || key.startsWith("x-");
}

/** The texts of the annotations of an object. */
function annotations(source: Source): string[] {
  return source.entries().flatMap(([key, value]) => {
    if (!isAnnotation(key)) return [];
    const lines = Array.isArray(value.value) ? value.value : [value.value];
    return lines
      .map((line) => (typeof line === "string" ? line : `${key}: ${shortJson(line ?? null)}`))
      .filter((line) => line !== "");
  });
}

function readChannel(name: string, source: Source, changes: Changes): StateChannel {
  const reducer = source.field("reducer").optionalText() ?? "overwrite";
  const initial = source.field("initial");
  const start = initial.isPresent ? { initial: literal(initial) } : {};
  const notes = annotations(source);
  switch (reducer) {
    case "overwrite":
      // In NeoGraph the last of several writers of a step wins.
      return { name, type: "json", stubType: "unknown", initial: "null", ...start, reducer: "last", notes };
    case "append": {
      if (initial.isPresent && !Array.isArray(initial.value)) {
        throw new ImportError(initial.at, "the start value of a channel that appends is a list");
      }
      return { name, type: "json[]", stubType: "unknown[]", ...start, reducer: "append", notes };
    }
    default:
      notes.push(changes.add(source.field("reducer").at, `the reducer \`${reducer}\` is an imported function`));
      return {
        name,
        type: "json",
        stubType: "unknown",
        initial: "null",
        ...start,
        reducer: `reduce_${reducer}`,
        notes,
      };
  }
}

/** `max_retries` counts the tries after the first one. */
function retryOf(source: Source, changes: Changes): string | undefined {
  if (!source.isPresent) return undefined;
  const amount = (field: string, fallback: number): number => {
    const { value, at } = source.field(field);
    if (value === undefined) return fallback;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    throw new ImportError(at, `expected a number, found ${shortJson(value)}`);
  };
  const retries = Math.max(0, Math.trunc(amount("max_retries", 0)));
  if (retries === 0) return undefined;
  const first = amount("initial_delay_ms", 100);
  const longest = Math.max(first, amount("max_delay_ms", 10_000));
  const factor = amount("backoff_multiplier", 2);
  if (factor !== 2)
    changes.add(source.field("backoff_multiplier").at, `delays double here instead of growing by ${factor}`);
  return `tries ${retries + 1} backoff ${duration(first)}..${duration(longest)}`;
}

/** Without maps, channels with equal names are passed in both directions. */
function mapsOf(
  source: Source,
  inner: StateGraph,
  outer: ReadonlyMap<string, StateChannel>,
): NonNullable<StateNode["graph"]> {
  const shared = inner.channels.filter(({ name }) => outer.has(name)).map(({ name }) => [name, name] as const);
  const pairs = (field: string, isInput: boolean): readonly (readonly [string, string])[] => {
    const map = source.field(field);
    if (!map.isPresent) return shared;
    return map.entries().map(([key, value]) => {
      const [innerName, outerName] = isInput ? [value.text(), key] : [key, value.text()];
      if (!inner.channels.some(({ name }) => name === innerName))
        throw new ImportError(value.at, `the inner graph has no channel \`${innerName}\``);
      if (!outer.has(outerName)) throw new ImportError(value.at, `the graph has no channel \`${outerName}\``);
      return [innerName, outerName] as const;
    });
  };
  return { input: pairs("input_map", true), output: pairs("output_map", false) };
}

interface EdgeContext {
  readonly declared: ReadonlySet<string>;
  readonly barriers: ReadonlyMap<string, readonly string[]>;
  readonly isStrict: boolean;
  readonly changes: Changes;
  readonly declare: (channel: string, at: string) => void;
}

function readEdges(source: Source, context: EdgeContext): StateEdge[] {
  const { declared, barriers, isStrict, changes } = context;
  const end = (value: Source): string => {
    const name = value.text();
    if (name === "__start__") return START;
    if (name === "__end__") return END;
    if (declared.has(name)) return name;
    throw new ImportError(value.at, `\`${name}\` is not a node`);
  };
  const plain: { readonly from: string; readonly to: string; readonly notes: readonly string[] }[] = [];
  const routed: StateEdge[] = [];
  const list = source.field("edges");
  // The lenient reader accepts an object, whose keys have no meaning.
  const inline = isObject(list.value) && !isStrict ? list.entries().map(([, value]) => value) : list.items();
  for (const edge of inline) {
    if (edge.field("condition").isPresent || edge.field("type").value === "conditional")
      routed.push(readRoutes(edge, end, context));
    else plain.push({ from: end(edge.field("from")), to: end(edge.field("to")), notes: annotations(edge) });
  }
  for (const edge of source.field("conditional_edges").items()) routed.push(readRoutes(edge, end, context));
  const edges: StateEdge[] = [];
  const fanOut = new Map<string, { readonly to: string[]; readonly notes: string[] }>();
  const done = new Set<string>();
  for (const { from, to, notes } of plain) {
    const members = barriers.get(to);
    if (members?.includes(from) === true) {
      // The members of the barrier that have an edge.
      if (done.has(to)) continue;
      done.add(to);
      const missing = members.filter((member) => !plain.some((edge) => edge.from === member && edge.to === to));
      const remarks = missing.map((member) =>
        changes.add(
          source.field("nodes").field(to).field("barrier").at,
          `\`${member}\` has no plain edge to \`${to}\`, so that the barrier would never open; it is kept as a member`,
        ),
      );
      edges.push({
        kind: "plain",
        from: members,
        to: [to],
        ...(members.length === 1 ? {} : { join: "all" as const }),
        notes: [...notes, ...remarks],
      });
      continue;
    }
    const known = fanOut.get(from);
    if (known !== undefined) {
      known.to.push(to);
      known.notes.push(...notes);
      continue;
    }
    const made = { to: [to], notes: [...notes] };
    fanOut.set(from, made);
    edges.push({ kind: "plain", from: [from], to: made.to, notes: made.notes });
  }
  return [...edges, ...routed];
}

function readRoutes(
  edge: Source,
  end: (value: Source) => string,
  { isStrict, changes, declare }: EdgeContext,
): StateEdge {
  const from = end(edge.field("from"));
  const condition = edge.field("condition").text();
  const entries = edge
    .field("routes")
    .entries()
    .filter(([key]) => !/^(?:_comment|x-)/.test(key));
  if (entries.length === 0) throw new ImportError(edge.field("routes").at, "a conditional edge has at least one route");
  const notes = annotations(edge);
  const fallback = entries.find(([key]) => key === "default");
  // The lenient engine follows the last route, by the order of the keys, when no key fits.
  const last = [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).at(-1)!;
  const closed = condition === "has_tool_calls" ? ["true", "false"] : undefined;
  const isClosed = closed?.every((key) => entries.some(([each]) => each === key)) === true;
  let otherwise: readonly string[] | undefined;
  if (fallback !== undefined && closed === undefined) otherwise = [end(fallback[1])];
  else if (!isClosed && !isStrict) {
    otherwise = [end(last[1])];
    notes.push(changes.add(edge.at, `other keys follow the route \`${last[0]}\`, as the lenient engine does`));
  }
  const routes = entries
    .filter((entry) => entry !== fallback || otherwise === undefined)
    .map(([key, value]) => ({ key, targets: [end(value)] }));
  if (condition === "route_channel") {
    declare("__route__", edge.at);
    if (otherwise === undefined) {
      otherwise = [END];
      notes.push(
        changes.add(edge.at, "another value of `__route__` is an error in NeoGraph, and ends the branch here"),
      );
    }
    return { kind: "routes", from, condition, channel: "__route__", routes, otherwise, notes };
  }
  return {
    kind: "routes",
    from,
    condition,
    routes,
    ...(closed === undefined ? {} : { returns: closed }),
    ...(otherwise === undefined ? {} : { otherwise }),
    notes,
  };
}
