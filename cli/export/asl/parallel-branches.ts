/** Branches that begin at one node and meet in one barrier, or at the end. */
import type { Span } from "../../../diagnostics/source.ts";
import { END_NAME, type BoundEdge, type BoundGraph, type BoundReference } from "../../../compiler/bind/bound-graph.ts";
import { targetsOf } from "../../../compiler/bind/edge-parts.ts";

export interface Branches {
  readonly branches: readonly {
    readonly first: string;
    /** Channels that its nodes write. */
    readonly writes: readonly string[];
  }[];
  /** The barrier behind the branches; absent: they end. */
  readonly join?: BoundEdge;
  /** Channels that several branches write, with their reducer. */
  readonly shared: ReadonlyMap<string, "append" | "sum">;
}

export interface NoBranches {
  readonly span: Span;
  readonly message: string;
  readonly help: string;
}

/** The branches of targets that one node signals, or the reason why these are not separate. */
export function branchesOf(
  graph: BoundGraph,
  targets: readonly BoundReference[],
  known: ReadonlyMap<string, string>,
): Branches | NoBranches {
  const regions = targets.map(({ name }) => regionOf(graph, name));
  for (const [index, region] of regions.entries()) {
    const other = regions.findIndex((each, at) => at < index && [...region].some((name) => each.has(name)));
    const common = other < 0 ? undefined : [...region].find((name) => regions[other]!.has(name));
    if (common !== undefined)
      return {
        span: targets[index]!.span,
        message: `the branches \`${targets[other]!.name}\` and \`${targets[index]!.name}\` both lead to \`${common}\`, and branches of a Parallel are separate`,
        help: "let them meet in a barrier: `all(a, b) -> c`",
      };
  }
  const joins = graph.edges.filter(
    ({ source }) =>
      source.kind !== "nodes" &&
      regions.some((region) => source.members.some((group) => group.some(({ name }) => region.has(name)))) &&
      !regions.some((region) => source.members.every((group) => group.every(({ name }) => region.has(name)))),
  );
  const [join, second] = joins;
  if (join !== undefined) {
    const { source } = join;
    const help = "let each branch have one member of one barrier";
    if (second !== undefined)
      return { span: second.span, message: "the branches meet in several barriers, and a Parallel has one end", help };
    if (source.kind === "settled")
      return { span: join.span, message: "`settled` has no form in a state machine", help: "use `all`" };
    const fits =
      source.kind === "all" &&
      source.members.length === regions.length &&
      regions.every(
        (region) => source.members.filter((group) => group.every(({ name }) => region.has(name))).length === 1,
      );
    if (!fits) return { span: join.span, message: "the members of this barrier are not one of each branch", help };
  }
  const names = [...known.keys()];
  const parts = regions.map((region) => graph.nodes.filter(({ name }) => region.has(name)));
  const writes = parts.map((nodes) => names.filter((name) => nodes.some((node) => node.writes.includes(name))));
  const shared = new Map<string, "append" | "sum">();
  for (const name of names) {
    const writers = writes.filter((each) => each.includes(name)).length;
    if (writers === 0) continue;
    const kind = graph.channels.find((channel) => channel.name === name)?.reducer?.kind;
    const reader = graph.nodes.find((node) => {
      const at = parts.findIndex((nodes) => nodes.includes(node));
      if (at < 0 || !readsOf(graph, node.name).has(name)) return false;
      if (writers > 1) return true;
      // The first nodes of all branches run in one step, and see the value before it.
      return !writes[at]!.includes(name) && node.name !== targets[at]!.name;
    });
    if (writers > 1 && kind !== "append" && kind !== "sum")
      return {
        span: targets[1]!.span,
        message: `several branches write \`${name}\`, and variables of a Parallel are those of one branch`,
        help: "give each branch a channel of its own, and combine them behind the barrier",
      };
    if (reader !== undefined)
      return {
        span: reader.declaration.name.span,
        message: `\`${reader.name}\` reads \`${name}\`, which another branch writes: branches of a Parallel do not see each other`,
        help: "read it behind the barrier",
      };
    if (writers > 1) shared.set(name, kind as "append" | "sum");
  }
  return {
    branches: targets.map(({ name }, index) => ({ first: name, writes: writes[index]! })),
    ...(join === undefined ? {} : { join }),
    shared,
  };
}

/** Channels that a node reads, or an edge behind it. */
function readsOf(graph: BoundGraph, name: string): ReadonlySet<string> {
  const reads = new Set(graph.nodes.find((node) => node.name === name)?.reads);
  for (const { source, to } of graph.edges) {
    if (source.kind !== "nodes" || !source.nodes.some((each) => each.name === name)) continue;
    const conditions =
      to.kind === "when"
        ? [to.condition]
        : to.kind === "match"
          ? [to.subject]
          : to.kind === "cases"
            ? to.arms.map(({ condition }) => condition)
            : [];
    for (const condition of conditions) for (const channel of condition.reads) reads.add(channel);
  }
  return reads;
}

/** The nodes that a node leads to, through barriers of these nodes only. */
function regionOf(graph: BoundGraph, first: string): ReadonlySet<string> {
  const region = new Set([first]);
  for (let size = 0; size !== region.size;) {
    size = region.size;
    for (const edge of graph.edges) {
      const { source } = edge;
      const isInside =
        source.kind === "nodes"
          ? source.nodes.some(({ name }) => region.has(name))
          : source.members.every((group) => group.every(({ name }) => region.has(name)));
      if (!isInside) continue;
      for (const { name } of targetsOf(edge)) if (name !== END_NAME && name !== "rollback") region.add(name);
    }
  }
  return region;
}
