import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";
import type { NodeRun } from "./drawn-run.ts";
import { FINDING_SIGNS, type DrawnFinding } from "./findings.ts";

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
 * pauses, boxes with depth run once for each item, a diamond at the start of an arrow is a choice, a double head leads back, red dashed
 * arrows are error routes, dotted arrows are jumps. Policies, effects and findings are lines with a sign.
 */
export function renderDot(drawing: Drawing, { idOf = (id) => id, direction = "TB" }: DotOptions = {}): string {
  const lines = [`digraph ${quote(drawing.name)} {`, `  rankdir=${direction};`, GRAPH];
  lines.push(...groupLines(drawing, undefined, (node) => `${quote(idOf(node.id))} [${nodeAttributes(node)}];`, "  "));
  for (const edge of drawing.edges) {
    lines.push(`  ${quote(idOf(edge.from))} -> ${quote(idOf(edge.to))}${edgeAttributes(edge)};`);
  }
  const findings = (drawing.findings ?? []).map(findingText);
  const caption = [drawing.run?.title ?? "", drawing.run?.end ?? "", ...findings].flatMap((line) => wrap(line, 90));
  if (caption.length > 0) {
    lines.push(`  label=${quoteLabel(caption.join("\n"))};`, `  labelloc=t; labeljust=l; fontsize=${NODE_FONT};`);
  }
  lines.push("}");
  return lines.join("\n");
}

/** The nodes of a group, with the groups inside of it in frames of their own. */
function groupLines(
  { nodes, groups = [] }: Drawing,
  group: string | undefined,
  lineOf: (node: DrawnNode) => string,
  indent: string,
): string[] {
  const byGroup = new Map<string | undefined, string[]>();
  for (const node of nodes) {
    const list = byGroup.get(node.group);
    if (list === undefined) byGroup.set(node.group, [lineOf(node)]);
    else list.push(lineOf(node));
  }
  const linesOf = (id: string | undefined, space: string): string[] => [
    ...(byGroup.get(id) ?? []).map((line) => `${space}${line}`),
    ...groups.flatMap((each, index) => {
      if (each.parent !== id) return [];
      const style = `label=${quoteLabel(each.label)}; style=rounded; color="#8c959f"; fontcolor="#57606a"; fontsize=${EDGE_FONT};`;
      return [
        `${space}subgraph cluster_${index} {`,
        `${space}  ${style}`,
        ...linesOf(each.id, `${space}  `),
        `${space}}`,
      ];
    }),
  ];
  return linesOf(group, indent);
}

/** A finding in one line. */
export function findingText({ code, severity, message, line }: DrawnFinding): string {
  return `${FINDING_SIGNS[severity]} ${code} line ${line}: ${message}`;
}

/** Findings at one node as one short line; a node may have many. */
export function findingMark({ findings = [] }: DrawnNode): string {
  const codes = [...new Set(findings.map(({ code, severity }) => `${FINDING_SIGNS[severity]} ${code}`))];
  return codes.length > 3 ? `${codes.slice(0, 3).join("  ")} …` : codes.join("  ");
}

/** The lines of a node's label. */
export function labelLines(node: DrawnNode): string[] {
  const marks = (node.marks ?? []).flatMap((mark) => wrap(mark));
  const call = node.calls === undefined || node.group === node.id ? [] : ["⊞ folded"];
  return [
    ...(node.fansOut === true ? [`∀ ${node.label}`] : [node.label]),
    ...wrap(node.detail),
    ...marks,
    ...call,
    findingMark(node),
    ...wrap(node.run?.text ?? ""),
  ].filter((line) => line !== "");
}

function nodeAttributes(node: DrawnNode): string {
  const texts = labelLines(node);
  const kind = kindAttributes(node, `label=${quoteLabel(texts.join("\n"))}`);
  return node.run === undefined ? kind : `${kind}, ${RUN_STYLES[node.run.state]}`;
}

/** The lines of boxes that a run has reached are thicker; the text of the box says why. */
const RUN_STYLES: Readonly<Record<NodeRun["state"], string>> = {
  ran: 'penwidth=2.5, color="#0969da"',
  next: 'penwidth=1.5, color="#0969da", style="rounded,filled,dashed"',
  waits: 'penwidth=3, color="#9a6700", style="rounded,filled,dashed"',
  failed: 'penwidth=3.5, color="#cf222e"',
  missed: 'penwidth=2.5, color="#cf222e", style="rounded,filled,dashed"',
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
    case "node": {
      const frame = node.pauses ? ', peripheries=2, fillcolor="#fbefff"' : "";
      // A box with depth: one task for each item.
      const shape = node.fansOut === true ? ", shape=box3d, style=filled" : "";
      const finding = node.findings === undefined ? "" : ', color="#9a6700", penwidth=2';
      return `${label}${frame}${shape}${finding}`;
    }
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
  const taken =
    edge.taken === true
      ? ["penwidth=2.5", ...(edge.kind === "error" ? [] : ['color="#0969da"'])]
      : edge.taken === false
        ? ["style=dashed", 'color="#cf222e"', 'fontcolor="#cf222e"']
        : [];
  // A double head leads back.
  const loop = edge.loop === true ? ["arrowhead=normalnormal"] : [];
  const attributes = [...label, ...EDGE_STYLES[edge.kind], ...loop, ...taken];
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
