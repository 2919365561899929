import type { Drawing } from "./drawing.ts";
import { escape, renderSvg } from "./svg.ts";

/** A page that stands alone: the picture, and a table of its nodes for those who cannot see it. */
export function renderHtml(drawing: Drawing): string {
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
      td { padding: 0.2rem 1.5rem 0.2rem 0; border-bottom: 1px solid #d0d7de; }
    </style>
  </head>
  <body>
    <h1>${escape(drawing.name)}</h1>
    <figure>
${renderSvg(drawing)}
    </figure>
    <table>
${rows.join("\n")}
    </table>
  </body>
</html>`;
}
