import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";
import type { NodeRun } from "./drawn-run.ts";

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
  const caption = [drawing.run?.title ?? "", drawing.run?.end ?? ""].flatMap((line) => wrap(line, 90));
  if (caption.length > 0) {
    lines.push(`  label=${quoteLabel(caption.join("\n"))};`, `  labelloc=t; labeljust=l; fontsize=${NODE_FONT};`);
  }
  lines.push("}");
  return lines.join("\n");
}

function nodeAttributes(node: DrawnNode): string {
  const texts = [node.label, ...wrap(node.detail), ...wrap(node.run?.text ?? "")].filter((line) => line !== "");
  const kind = kindAttributes(node, `label=${quoteLabel(texts.join("\n"))}`);
  return node.run === undefined ? kind : `${kind}, ${RUN_STYLES[node.run.state]}`;
}

/** The lines of boxes that a run has reached are thicker; the text of the box says why. */
const RUN_STYLES: Readonly<Record<NodeRun["state"], string>> = {
  ran: 'penwidth=2.5, color="#0969da"',
  next: 'penwidth=1.5, color="#0969da", style="rounded,filled,dashed"',
  waits: 'penwidth=3, color="#9a6700", style="rounded,filled,dashed"',
  failed: 'penwidth=3.5, color="#cf222e"',
};

function kindAttributes(node: DrawnNode, label: string): string {
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
  const taken = edge.taken === true ? ["penwidth=2.5", ...(edge.kind === "error" ? [] : ['color="#0969da"'])] : [];
  const attributes = [...label, ...EDGE_STYLES[edge.kind], ...taken];
  return attributes.length === 0 ? "" : ` [${attributes.join(", ")}]`;
}

/** Splits a text at spaces into lines of about `length` characters. */
function wrap(text: string, length = LINE_LENGTH): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + word.length >= length) {
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
