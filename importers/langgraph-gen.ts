/** Specifications of langgraph-gen: `nodes` with names, `edges` with `from` and `to` or `condition` and `paths`. */
import { Changes, ImportError, isObject, type Imported, type JsonValue, type Source } from "./imported.ts";
import { END, START, writeStateGraph, type StateEdge, type StateNode } from "./state-graph.ts";

export function isLangGraphGen(value: JsonValue | undefined): boolean {
  return isObject(value) && Array.isArray(value["nodes"]) && Array.isArray(value["edges"]);
}

const EDGE_FIELDS: ReadonlySet<string> = new Set(["from", "to", "condition", "paths"]);
const NODE_FIELDS: ReadonlySet<string> = new Set(["name"]);
const FILE_FIELDS: ReadonlySet<string> = new Set(["name", "entrypoint", "nodes", "edges"]);

/** Formats that resemble this one decide by further fields which edge a run takes: to leave them out would change the runs. */
function refuseUnknownEdgeFields(edge: Source): void {
  for (const [field, value] of edge.entries()) {
    if (EDGE_FIELDS.has(field)) continue;
    throw new ImportError(
      value.at,
      `edges of langgraph-gen have no field \`${field}\``,
      "edges have `from` and `to`, or `from`, `condition` and `paths`",
    );
  }
}

/** @throws ImportError */
export function importLangGraphGen(source: Source, name: string, module: string): Imported {
  const changes = new Changes();
  if (!source.field("nodes").isPresent) throw source.field("nodes").wrong("a list of nodes");
  const noteUnknown = (part: Source, known: ReadonlySet<string>): readonly string[] =>
    isObject(part.value)
      ? part
          .entries()
          .filter(([field]) => !known.has(field))
          .map(([field, value]) => changes.add(value.at, `\`${field}\` is no field of langgraph-gen, and is left out`))
      : [];
  const nodes: StateNode[] = source
    .field("nodes")
    .items()
    .map((node) => {
      const own = typeof node.value === "string" ? node : node.field("name");
      const nodeName = own.text();
      const notes = noteUnknown(node, NODE_FIELDS);
      return { name: nodeName, call: nodeName, reads: ["data"], writes: ["data"], notes };
    });
  const declared = new Set<string>();
  for (const node of nodes) {
    if (declared.has(node.name)) throw new ImportError("$.nodes", `the node \`${node.name}\` is declared twice`);
    declared.add(node.name);
  }
  const end = (value: Source): string => {
    const text = value.text();
    if (text === "__start__" || text === "__end__") return text === "__start__" ? START : END;
    if (declared.has(text)) return text;
    throw new ImportError(value.at, `\`${text}\` is not a node`);
  };
  const edges: StateEdge[] = [];
  const entry = source.field("entrypoint");
  if (entry.isPresent && entry.value !== null) edges.push({ kind: "plain", from: [START], to: [end(entry)] });
  for (const edge of source.field("edges").items()) {
    refuseUnknownEdgeFields(edge);
    const from = end(edge.field("from"));
    const to = edge.field("to");
    if (!edge.field("condition").isPresent) {
      edges.push({ kind: "plain", from: [from], to: [end(to)] });
      continue;
    }
    const paths = edge.field("paths");
    const named = isObject(paths.value)
      ? paths.entries().map(([key, value]) => [key, value] as const)
      : paths.items().map((value) => [value.text(), value] as const);
    if (named.length === 0) throw new ImportError(paths.at, "a conditional edge has at least one path");
    edges.push({
      kind: "routes",
      from,
      condition: edge.field("condition").text(),
      routes: named.map(([key, value]) => ({ key, targets: [end(value)] })),
    });
  }
  const note = changes.add(
    "$",
    "the specification does not describe the state: it is one record, `data`, whose fields the nodes write",
  );
  const { text, stubs } = writeStateGraph(
    {
      name: source.field("name").optionalText() ?? name,
      notes: noteUnknown(source, FILE_FIELDS),
      channels: [
        { name: "data", type: "map<json>", stubType: "Record<string, unknown>", reducer: "merge", notes: [note] },
      ],
      nodes,
      edges,
      graphs: [],
    },
    module,
    [],
  );
  return { text, stubs, changes: changes.list };
}
