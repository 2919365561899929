/**
 * Versions of a graph with different names for the same parts, declared with `was`. Each process of a simulation may
 * run another version. The records of the simulation use the names of the model.
 */
import type { Table } from "../../runtime/table/table.ts";

/** Follows each name that the second version changes. */
const MARK = "_v";

/** The name of a part in a version. */
export function nameIn(version: Version, name: string): string {
  return version === "marked" ? `${name}${MARK}` : name;
}

export type Version = "plain" | "marked";

/** Values of the store or the engine, converted to the names of the model. */
export function inPlainNames<T>(said: T): T {
  if (said === undefined || said === null) return said;
  const text = JSON.stringify(said);
  return text.includes(MARK) ? (JSON.parse(text.replaceAll(/_v\b/g, "")) as T) : said;
}

/**
 * A table whose nodes and channels have the names of a version. Nodes that call graphs keep theirs: an unfinished call is stored
 * under the name of its node.
 */
export function inVersion(table: Table, version: Version): Table {
  const named = (name: string) => ({
    name: nameIn(version, name),
    was: [nameIn(version === "plain" ? "marked" : "plain", name)],
  });
  return {
    ...table,
    channels: table.channels.map((channel) =>
      channel.role === "input" ? channel : { ...channel, ...named(channel.name) },
    ),
    nodes: table.nodes.map((node) => {
      if (node.call.kind !== "graph") return { ...node, ...named(node.name) };
      if (node.output?.kind !== "fields") return node;
      // The outputs of the called graph have other names too.
      const fields = node.output.fields.map((each) => ({ ...each, field: nameIn(version, each.field) }));
      return { ...node, output: { kind: "fields", fields } };
    }),
    barriers: table.barriers.map((barrier) => {
      const target = table.nodes[barrier.target]!;
      if (target.call.kind === "graph") return barrier;
      return { ...barrier, id: `${nameIn(version, target.name)}${barrier.id.slice(target.name.length)}` };
    }),
    graphs: table.graphs.map((called) => inVersion(called, version)),
    digest: `sha256:${version === "plain" ? "a" : "b"}${table.digest.slice(8)}`,
  };
}
