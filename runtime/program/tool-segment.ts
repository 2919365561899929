/**
 * Segments of namespaces and ids for graphs that a model calls as tools. A called graph runs under the id of the calling task:
 * `review`, `each[3]`. The calls of tools in one task have a name and a number, too: `agent.lookup.0`.
 */
import type { Program } from "./program.ts";

/** A call of a graph as a tool. */
export interface ToolCallPlace {
  readonly name: string;
  /** Counts the calls of graphs in the task, from 0. */
  readonly number: number;
  /** Of the call within the task. */
  readonly key: string;
}

/** The end of the name of a part (`once`) that records such a call. */
export const CALL_PART = " call";

const TOOL = /\.([A-Za-z_]\w*)\.\d+/;

/** The id of the task that a segment of a namespace belongs to. */
export function taskOfSegment(segment: string): string {
  const tool = TOOL.exec(segment);
  return tool === null ? segment : segment.slice(0, tool.index);
}

/** The node of a segment, with the name of the tool: `each`, `agent.lookup`. */
export function nodeOfSegment(segment: string): string {
  const node = /^\w+/.exec(segment)?.[0] ?? segment;
  const tool = TOOL.exec(segment)?.[1];
  return tool === undefined ? node : `${node}.${tool}`;
}

/** The graph that runs under a segment of a namespace, of a run id or of a pause id; or under a node as `nodeOfSegment` names it. */
export function programUnder(program: Program, segment: string): Program | undefined {
  const [node = "", named] = nodeOfSegment(segment).split(".");
  const tool = named ?? /^\w+\.(\w+)$/.exec(segment)?.[1];
  const call = program.nodes[program.nodeIndex.get(node) ?? -1]?.call;
  if (call?.kind === "graph") return call.graph;
  return call?.kind === "builtin" && tool !== undefined ? call.graphs?.get(tool) : undefined;
}
