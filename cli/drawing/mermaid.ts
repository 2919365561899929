import type { Drawing, DrawnNode } from "./drawing.ts";

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
    const label = edge.label === "" ? "" : `|"${escape(edge.label)}"|`;
    lines.push(`  ${ids.get(edge.from)} ${ARROWS[edge.kind]}${label} ${ids.get(edge.to)}`);
  }
  return lines.join("\n");
}

function shape(node: DrawnNode): string {
  const text = `"${escape(node.label)}${node.detail === "" ? "" : `<br/>${escape(node.detail)}`}"`;
  switch (node.kind) {
    case "start":
    case "end":
      return `([${text}])`;
    case "barrier":
      return `{{${text}}}`;
    case "node":
    case "connector":
      return node.pauses ? `[/${text}/]` : `[${text}]`;
  }
}

/** Mermaid reads entity codes with `#` instead of `&`. */
function escape(text: string): string {
  return text.replace(/[^\w .,:+\-*/=()?]/g, (character) => `#${character.codePointAt(0)};`);
}
