import type { Drawing, DrawnNode } from "./drawing.ts";
import type { NodeRun } from "./drawn-run.ts";
import { findingMark } from "./dot.ts";

const ARROWS = {
  plain: "-->",
  conditional: "-->",
  otherwise: "-->",
  error: "-.->",
  jump: "-.->",
} as const;

/** A Mermaid flowchart. Ids are numbers, because a node's name may be a keyword of Mermaid (`end` is one). */
export function renderMermaid(drawing: Drawing): string {
  const ids = new Map(drawing.nodes.map((node, index) => [node.id, `n${index}`]));
  const lines = ["flowchart TD"];
  for (const node of drawing.nodes) lines.push(`  ${ids.get(node.id)}${shape(node)}`);
  for (const edge of drawing.edges) {
    const text = `${edge.loop === true ? "↻ " : ""}${edge.label}`.trim();
    const label = text === "" ? "" : `|"${escape(text)}"|`;
    lines.push(`  ${ids.get(edge.from)} ${ARROWS[edge.kind]}${label} ${ids.get(edge.to)}`);
  }
  if (drawing.run !== undefined) lines.push(...runLines(drawing));
  return lines.join("\n");
}

/** The run of a drawing: a note, and thicker lines where it was. */
function runLines({ nodes, edges, run }: Drawing): string[] {
  const note = [run?.title ?? "", run?.end ?? ""].filter((text) => text !== "").map(escape);
  const lines = [`  run>"${note.join("<br/>")}"]`];
  for (const [state, style] of Object.entries(RUN_STYLES)) {
    const ids = nodes.flatMap((node, index) => (node.run?.state === state ? [`n${index}`] : []));
    if (ids.length > 0) lines.push(`  classDef ${state} ${style}`, `  class ${ids.join(",")} ${state}`);
  }
  const taken = edges.flatMap(({ taken }, index) => (taken === true ? [index] : []));
  if (taken.length > 0) lines.push(`  linkStyle ${taken.join(",")} stroke-width:4px`);
  const missed = edges.flatMap(({ taken }, index) => (taken === false ? [index] : []));
  if (missed.length > 0) lines.push(`  linkStyle ${missed.join(",")} stroke:#cf222e,stroke-dasharray:4`);
  return lines;
}

const RUN_STYLES: Readonly<Record<NodeRun["state"], string>> = {
  ran: "stroke-width:3px,stroke:#0969da",
  next: "stroke-width:2px,stroke:#0969da,stroke-dasharray:4",
  waits: "stroke-width:4px,stroke:#9a6700,stroke-dasharray:4",
  failed: "stroke-width:4px,stroke:#cf222e",
  missed: "stroke-width:3px,stroke:#cf222e,stroke-dasharray:4",
};

function shape(node: DrawnNode): string {
  const texts = [node.label, node.detail, ...(node.marks ?? []), findingMark(node), node.run?.text ?? ""].filter(
    (text) => text !== "",
  );
  const text = `"${texts.map(escape).join("<br/>")}"`;
  switch (node.kind) {
    case "start":
    case "end":
      return `([${text}])`;
    case "barrier":
      return `{{${text}}}`;
    case "node":
    case "connector":
      return node.pauses ? `[/${text}/]` : node.fansOut === true ? `[[${text}]]` : `[${text}]`;
  }
}

/** Mermaid reads entity codes with `#` instead of `&`. */
function escape(text: string): string {
  return text.replace(/[^\w .,:+\-*/=()?]/g, (character) => `#${character.codePointAt(0)};`);
}
