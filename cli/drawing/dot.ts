import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";

/** Graphviz. */
export function renderDot(drawing: Drawing): string {
  const lines = [`digraph ${quote(drawing.name)} {`, "  rankdir=TB;", '  node [shape=box, fontname="sans-serif"];'];
  for (const node of drawing.nodes) lines.push(`  ${quote(node.id)} [${nodeAttributes(node)}];`);
  for (const edge of drawing.edges) {
    lines.push(`  ${quote(edge.from)} -> ${quote(edge.to)}${edgeAttributes(edge)};`);
  }
  lines.push("}");
  return lines.join("\n");
}

function nodeAttributes(node: DrawnNode): string {
  const label = `label=${quote(node.detail === "" ? node.label : `${node.label}\n${node.detail}`)}`;
  switch (node.kind) {
    case "start":
    case "end":
      return `${label}, shape=oval`;
    case "barrier":
      return `${label}, shape=hexagon`;
    case "node":
      return node.pauses ? `${label}, shape=parallelogram` : label;
  }
}

function edgeAttributes(edge: DrawnEdge): string {
  const attributes = [
    ...(edge.label === "" ? [] : [`label=${quote(edge.label)}`]),
    ...(edge.kind === "error" || edge.kind === "jump" ? ["style=dashed"] : []),
  ];
  return attributes.length === 0 ? "" : ` [${attributes.join(", ")}]`;
}

function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}
