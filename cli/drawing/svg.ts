import type { Drawing } from "./drawing.ts";
import { layOut, type Box, type Line } from "./layout.ts";

const STYLE = `
    text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #1b1f24; text-anchor: middle; }
    .detail, .label { font-size: 10.5px; fill: #57606a; }
    .label { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
    .box { fill: #f6f8fa; stroke: #57606a; stroke-width: 1.2; }
    .terminal { fill: #ddf4ff; }
    .barrier { fill: #fff8c5; }
    .pause { fill: #fbefff; }
    .edge { fill: none; stroke: #57606a; stroke-width: 1.2; }
    .error, .jump { stroke-dasharray: 5 4; }
    .error { stroke: #cf222e; }`;

/** A picture that any browser shows: no scripts, no fonts or images from elsewhere. */
export function renderSvg(drawing: Drawing): string {
  const layout = layOut(drawing);
  const { width, height } = layout;
  const boxes = new Map(layout.boxes.map((box) => [box.node.id, box]));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
  <title>${escape(drawing.name)}</title>
  <style>${STYLE}
  </style>
  <defs>
    <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
      <path d="M0 0 L8 4 L0 8 z" fill="#57606a"/>
    </marker>
  </defs>
${[...layout.lines.map((line) => drawLine(line, boxes)), ...layout.boxes.map(drawBox)].join("\n")}
</svg>`;
}

function drawBox({ node, x, y, width, height }: Box): string {
  const kind =
    node.kind === "node" ? (node.pauses ? " pause" : "") : node.kind === "barrier" ? " barrier" : " terminal";
  const radius = node.kind === "node" ? 5 : height / 2;
  const detail = node.detail.length > 40 ? `${node.detail.slice(0, 39)}…` : node.detail;
  const box = `  <rect class="box${kind}" x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="${radius}"/>`;
  if (detail === "") return `${box}\n  <text x="${x}" y="${y + 4}">${escape(node.label)}</text>`;
  return `${box}\n  <text x="${x}" y="${y - 3}">${escape(node.label)}</text>\n  <text class="detail" x="${x}" y="${y + 12}">${escape(detail)}</text>`;
}

function drawLine({ edge, points }: Line, boxes: ReadonlyMap<string, Box>): string {
  const [first, ...rest] = points;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return "";
  const from = boxes.get(edge.from);
  const to = boxes.get(edge.to);
  const half = (box: Box | undefined): number => (box?.height ?? 0) / 2;
  let path: string;
  let label = { x: (first.x + (rest[0]?.x ?? last.x)) / 2, y: (first.y + (rest[0]?.y ?? last.y)) / 2 };
  if (edge.from === edge.to || first.y === last.y) {
    // Beside the boxes: to itself, or to a neighbour of the same layer.
    const side = Math.max(first.x + (from?.width ?? 0) / 2, last.x + (to?.width ?? 0) / 2) + 30;
    path = `M${first.x + (from?.width ?? 0) / 2} ${first.y - 6} C${side} ${first.y - 22}, ${side} ${last.y + 22}, ${last.x + (to?.width ?? 0) / 2} ${last.y + 6}`;
    label = { x: side, y: (first.y + last.y) / 2 };
  } else {
    const down = last.y > first.y;
    const start = { x: first.x, y: first.y + (down ? half(from) : -half(from)) };
    const end = { x: last.x, y: last.y + (down ? -half(to) : half(to)) };
    path = `M${start.x} ${start.y}`;
    let previous = start;
    for (const point of [...rest.slice(0, -1), end]) {
      const middle = (previous.y + point.y) / 2;
      path += ` C${previous.x} ${middle}, ${point.x} ${middle}, ${point.x} ${point.y}`;
      previous = point;
    }
  }
  const line = `  <path class="edge ${edge.kind}" d="${path}" marker-end="url(#arrow)"/>`;
  return edge.label === ""
    ? line
    : `${line}\n  <text class="label" x="${label.x}" y="${label.y}">${escape(edge.label)}</text>`;
}

/** Text in XML and HTML; characters that XML forbids are left out. */
export function escape(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
