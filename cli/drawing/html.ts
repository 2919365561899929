import type { Drawing } from "./drawing.ts";
import { escape } from "./escape-xml.ts";
import { renderSvg } from "./svg.ts";

const LEGEND =
  "Hexagon: barrier. Double frame: waits for a person. Diamond at the start of an arrow: condition. Red dashed arrow: on error. Dotted arrow: jump.";

/** A self-contained page: the picture, and a table of its nodes for screen readers. */
export async function renderHtml(drawing: Drawing): Promise<string> {
  const rows = drawing.nodes
    .filter((node) => node.kind === "node")
    .map((node) => `      <tr><td>${escape(node.label)}</td><td>${escape(node.detail)}</td></tr>`);
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${escape(drawing.name)}</title>
    <style>
      body { font: 14px/1.5 ui-sans-serif, system-ui, sans-serif; margin: 2rem; color: #1b1f24; }
      figure { margin: 0 0 2rem; overflow: auto; }
      table { border-collapse: collapse; }
      figcaption { color: #57606a; }
      td { padding: 0.2rem 1.5rem 0.2rem 0; border-bottom: 1px solid #d0d7de; }
    </style>
  </head>
  <body>
    <h1>${escape(drawing.name)}</h1>
    <figure>
${await renderSvg(drawing)}
      <figcaption>${LEGEND}</figcaption>
    </figure>
    <table>
${rows.join("\n")}
    </table>
  </body>
</html>`;
}
