import type { Drawing } from "./drawing.ts";
import { escape } from "./escape-xml.ts";
import { renderSvg } from "./svg.ts";

const LEGEND =
  "Hexagon: barrier. Double frame: waits for a person. Diamond at the start of an arrow: condition. Red dashed arrow: on error. Dotted arrow: jump.";

const RUN_LEGEND =
  "Thick frame: the run was here. Dashed frame: it waits here, or this runs next. Thick arrow: its two ends ran one after the other.";

/** A self-contained page: the picture, and a table of its nodes for screen readers. */
export async function renderHtml(drawing: Drawing): Promise<string> {
  const rows = drawing.nodes
    .filter((node) => node.kind === "node")
    .map(({ label, detail, run }) => {
      const cells = [label, detail, ...(drawing.run === undefined ? [] : [run?.text ?? ""])];
      return `      <tr>${cells.map((cell) => `<td>${escape(cell)}</td>`).join("")}</tr>`;
    });
  const texts = drawing.run === undefined ? [] : [drawing.run.title, drawing.run.end].filter((text) => text !== "");
  // Screen readers do not read texts inside of the picture, so the page has its own.
  const withoutCaption =
    drawing.run === undefined ? drawing : { ...drawing, run: { ...drawing.run, title: "", end: "" } };
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
      /* The colours of the picture are made for a light ground, which it keeps. */
      @media (prefers-color-scheme: dark) {
        :root { color-scheme: dark; }
        body { color: #e6edf3; background: #0d1117; }
        figcaption { color: #9198a1; }
        td { border-color: #3d444d; }
        svg { background: #ffffff; border-radius: 6px; }
      }
    </style>
  </head>
  <body>
    <h1>${escape(drawing.name)}</h1>
${texts.map((text) => `    <p>${escape(text)}</p>\n`).join("")}    <figure>
${await renderSvg(withoutCaption)}
      <figcaption>${LEGEND}${drawing.run === undefined ? "" : ` ${RUN_LEGEND}`}</figcaption>
    </figure>
    <table>
${rows.join("\n")}
    </table>
  </body>
</html>`;
}
