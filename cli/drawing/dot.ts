import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";

/** Characters of a description or condition in one line of a label; longer ones are wrapped. */
const LINE_LENGTH = 32;

/** Font sizes in points. */
export const NODE_FONT = 14;
export const EDGE_FONT = 12;

const GRAPH = `  graph [nodesep=0.3, ranksep=0.45, fontname="Helvetica,Arial,sans-serif"];
  node [shape=box, style="rounded,filled", fillcolor="#f6f8fa", color="#57606a", fontcolor="#1b1f24",
        fontname="Helvetica,Arial,sans-serif", fontsize=${NODE_FONT}, height=0.35, margin="0.12,0.06"];
  edge [color="#57606a", fontcolor="#57606a", fontname="Helvetica,Arial,sans-serif", fontsize=${EDGE_FONT}, arrowsize=0.7];`;

export interface DotOptions {
  /** The identifier of a node; default its own id. */
  readonly idOf?: (node: string) => string;
  readonly direction?: "TB" | "LR";
}

/**
 * A drawing in the language of Graphviz. Each kind of node and edge has a form of its own: hexagons are barriers, double frames are
 * pauses, a diamond at the start of an arrow is a choice, red dashed arrows are error routes, dotted arrows are jumps.
 */
export function renderDot(drawing: Drawing, { idOf = (id) => id, direction = "TB" }: DotOptions = {}): string {
  const lines = [`digraph ${quote(drawing.name)} {`, `  rankdir=${direction};`, GRAPH];
  for (const node of drawing.nodes) lines.push(`  ${quote(idOf(node.id))} [${nodeAttributes(node)}];`);
  for (const edge of drawing.edges) {
    lines.push(`  ${quote(idOf(edge.from))} -> ${quote(idOf(edge.to))}${edgeAttributes(edge)};`);
  }
  lines.push("}");
  return lines.join("\n");
}

function nodeAttributes(node: DrawnNode): string {
  const label = `label=${quoteLabel([node.label, ...wrap(node.detail)].filter((line) => line !== "").join("\n"))}`;
  switch (node.kind) {
    case "start":
    case "end":
      return `${label}, shape=oval, fillcolor="#ddf4ff"`;
    case "barrier":
      return `${label}, shape=hexagon, style=filled, fillcolor="#fff8c5"`;
    case "connector":
      return `${label}, shape=plain, style="", fontcolor="#57606a"`;
    case "node":
      return node.pauses ? `${label}, peripheries=2, fillcolor="#fbefff"` : label;
  }
}

const EDGE_STYLES: Readonly<Record<DrawnEdge["kind"], readonly string[]>> = {
  plain: [],
  conditional: ["dir=both", "arrowtail=odiamond"],
  otherwise: ["dir=both", "arrowtail=odiamond"],
  error: ["style=dashed", 'color="#cf222e"', 'fontcolor="#cf222e"'],
  jump: ["style=dotted", 'color="#8250df"', 'fontcolor="#8250df"'],
};

function edgeAttributes(edge: DrawnEdge): string {
  const label = edge.label === "" ? [] : [`label=${quoteLabel(` ${wrap(edge.label).join(" \n ")} `)}`];
  const attributes = [...label, ...EDGE_STYLES[edge.kind]];
  return attributes.length === 0 ? "" : ` [${attributes.join(", ")}]`;
}

/** Splits a text at spaces into lines of about `LINE_LENGTH` characters. */
function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length >= LINE_LENGTH) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return line === "" ? lines : [...lines, line];
}

function quote(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

/** In labels Graphviz also decodes character entities, so `&` is escaped. */
function quoteLabel(text: string): string {
  return quote(text.replaceAll("&", "&amp;"));
}
