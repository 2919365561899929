import { printable } from "../../diagnostics/render/index.ts";
import { duration } from "../run/progress.ts";
import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";
import type { DrawnRun, DrawnStep } from "./drawn-run.ts";
import { findingMark, findingText } from "./dot.ts";

/** Deeper subtrees are printed as separate trees: lines stay readable, and the output is linear in the graph. */
const MAX_DEPTH = 24;

/**
 * A graph as an indented tree from `start`, and one from `finally`; `↳` continues a chain. A node is expanded at the edge that reaches it first in breadth-first
 * order. At other places an arrow points up or down to the line where it is expanded.
 */
export function renderText(drawing: Drawing): string {
  const nodes = new Map(drawing.nodes.map((node) => [node.id, node]));
  const edges = outEdges(drawing);
  const entries = drawing.nodes.filter(({ kind }) => kind === "start").map(({ id }) => id);
  const unfoldedBy = firstEdges(edges, entries);
  const seen = new Set(entries);
  const lines = [drawing.name];
  if (drawing.run !== undefined) lines.push(drawing.run.title);

  // An explicit stack: recursion over a chain of ten thousand nodes would overflow the call stack.
  interface Visit {
    readonly edge: DrawnEdge;
    readonly indent: string;
    readonly marker: "├─" | "└─" | "↳";
    readonly depth: number;
  }
  const roots = [...entries];
  for (let root = roots.shift(); root !== undefined; root = roots.shift()) {
    const stack: Visit[] = [];
    const push = (from: string, indent: string, depth: number): void => {
      const list = edges.get(from) ?? [];
      const [only] = list;
      if (list.length === 1 && only !== undefined) {
        stack.push({ edge: only, indent, marker: "↳", depth });
        return;
      }
      for (let index = list.length - 1; index >= 0; index--) {
        const edge = list[index];
        if (edge === undefined) continue;
        stack.push({ edge, indent, marker: index === list.length - 1 ? "└─" : "├─", depth: depth + 1 });
      }
    };
    lines.push(describe(nodes.get(root), true));
    push(root, "", 0);
    for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
      const { edge, indent, marker, depth } = visit;
      const isFirst = unfoldedBy.get(edge.to) === edge && edge.to !== "end";
      const unfolds = isFirst && depth < MAX_DEPTH;
      if (isFirst && !unfolds) roots.push(edge.to);
      const pointer = unfolds || edge.to === "end" ? "" : seen.has(edge.to) ? " ↑" : " ↓";
      lines.push(`${indent}${marker}${arrow(edge)} ${describe(nodes.get(edge.to), unfolds)}${pointer}`);
      if (!unfolds) continue;
      seen.add(edge.to);
      push(edge.to, marker === "↳" ? indent : `${indent}${marker === "└─" ? "   " : "│  "}`, depth);
    }
  }
  const unreached = drawing.nodes.filter((node) => node.kind === "node" && !seen.has(node.id));
  if (unreached.length > 0) lines.push(`not reached from start: ${unreached.map((node) => node.label).join(", ")}`);
  if (drawing.run !== undefined && drawing.run.kind !== "coverage") lines.push("", ...stepLines(drawing.run));
  const findings = [...(drawing.findings ?? []), ...drawing.nodes.flatMap((node) => node.findings ?? [])];
  if (findings.length > 0) lines.push("", ...findings.map((finding) => printable(findingText(finding))));
  return lines.join("\n");
}

/** A run of thousands of steps prints its first and last ones. */
const SHOWN_STEPS = 20;

function stepLines({ steps, end }: DrawnRun): string[] {
  const line = ({ step, ran, chose, milliseconds }: DrawnStep): string => {
    const names = ran.map((name) => printable(chose[name] === undefined ? name : `${name} (${chose[name]})`));
    return `step ${step}: ${names.join(", ")}${milliseconds === undefined ? "" : `  ${duration(milliseconds)}`}`;
  };
  const all =
    steps.length <= 2 * SHOWN_STEPS
      ? steps.map(line)
      : [
          ...steps.slice(0, SHOWN_STEPS).map(line),
          `… ${steps.length - 2 * SHOWN_STEPS} more steps`,
          ...steps.slice(-SHOWN_STEPS).map(line),
        ];
  return end === "" ? all : [...all, end];
}

function outEdges(drawing: Drawing): ReadonlyMap<string, readonly DrawnEdge[]> {
  const edges = new Map<string, DrawnEdge[]>();
  for (const edge of drawing.edges) {
    const there = edges.get(edge.from);
    if (there === undefined) edges.set(edge.from, [edge]);
    else there.push(edge);
  }
  return edges;
}

/** The edge that reaches each node first in breadth-first order, which keeps the tree shallow. */
function firstEdges(
  edges: ReadonlyMap<string, readonly DrawnEdge[]>,
  entries: readonly string[],
): ReadonlyMap<string, DrawnEdge> {
  const first = new Map<string, DrawnEdge>();
  const queue = [...entries];
  for (let at = 0; at < queue.length; at++) {
    for (const edge of edges.get(queue[at] ?? "") ?? []) {
      if (entries.includes(edge.to) || first.has(edge.to)) continue;
      first.set(edge.to, edge);
      queue.push(edge.to);
    }
  }
  return first;
}

function arrow(edge: DrawnEdge): string {
  return edge.label === "" ? "" : ` ${edge.label} →`;
}

function describe(node: DrawnNode | undefined, full: boolean): string {
  if (node === undefined) return "";
  const marks = [...(node.marks ?? []), findingMark(node)].filter((mark) => mark !== "");
  const run = !full
    ? ""
    : `${marks.map((mark) => `  ${printable(mark)}`).join("")}${node.run === undefined ? "" : `  [${node.run.text}]`}`;
  if (node.kind === "barrier") return `${node.label} ${node.id}${run}`;
  if (!full || node.detail === "") return `${node.label}${run}`;
  return `${node.label}  ${node.detail}${node.pauses ? " (waits for a person)" : ""}${run}`;
}
