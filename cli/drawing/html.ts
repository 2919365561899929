import { createHash } from "node:crypto";
import { findingText, labelLines } from "./dot.ts";
import type { Drawing, DrawnNode } from "./drawing.ts";
import { escape } from "./escape-xml.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { PAGE_STYLE } from "./page-style.ts";
import { renderSvg } from "./svg.ts";

const LEGEND =
  "Hexagon: barrier. Double frame or ‖: waits for a person. Box with depth and ∀: one task for each item. Diamond at the start of an arrow: condition. " +
  "Double head or ↻: leads back. Red dashed arrow: on error. Dotted arrow: jump. ◷ timer or deadline. ↶ undo. ⚡ effects. ⊞ a called graph. ⚒ tools of a model. ✗ ⚠ findings.";

const RUN_LEGEND =
  " Thick frame: the run was here. Dashed frame: it waits here, or this runs next. Thick arrow: its two ends ran one after the other.";

const COVERAGE_LEGEND = " Thick: tests take it, a node as often as it says. Red, dashed and ✗: no test takes it.";

function runLegend(run: Drawing["run"]): string {
  if (run === undefined) return "";
  return run.kind === "coverage" ? COVERAGE_LEGEND : RUN_LEGEND;
}

export interface PageParts {
  /** Pictures with calls unfolded. `unfolds`: the one node whose call is unfolded; absent: all. */
  readonly unfolded?: readonly { readonly unfolds?: string; readonly drawing: Drawing }[];
  /** Texts of source files by path, for the places of nodes. */
  readonly sources?: ReadonlyMap<string, string>;
}

/** A page that needs nothing else: the picture to zoom, pan and search, its nodes with what the source states, and a table of them. */
export async function renderHtml(
  drawing: Drawing,
  { unfolded = [], sources = new Map() }: PageParts = {},
): Promise<string> {
  const all = [{ drawing }, ...unfolded];
  const pictures: string[] = [];
  for (const [index, each] of all.entries()) {
    const svg = await renderSvg(withoutCaption(each.drawing));
    pictures.push(svg.replace("<svg ", `<svg data-picture="${index}"${index === 0 ? "" : " hidden"} `));
  }
  const data = {
    pictures: all.map((each) => ("unfolds" in each ? { unfolds: each.unfolds } : {})),
    nodes: Object.fromEntries(all.flatMap((each) => each.drawing.nodes.map((node) => [node.id, nodeData(node)]))),
    sources: Object.fromEntries(sources),
  };
  const { run } = drawing;
  const texts = [run?.title ?? "", run?.end ?? "", ...(drawing.findings ?? []).map(findingText)];
  return `<!doctype html>
<html lang="en" data-theme="auto">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src '${hashOf(PAGE_SCRIPT)}'" />
    <title>${escape(drawing.name)}</title>
    <style>${PAGE_STYLE}</style>
  </head>
  <body>
    <header>
      <h1>${escape(drawing.name)}</h1>
${texts.flatMap((text) => (text === "" ? [] : [`      <p>${escape(text)}</p>\n`])).join("")}      <div class="tools">
        <label>Search <input id="search" type="search" autocomplete="off" /></label>
        <span id="count" role="status"></span>
        <button id="out" type="button" aria-label="Smaller">−</button>
        <span id="zoom">100 %</span>
        <button id="in" type="button" aria-label="Larger">+</button>
        <button id="fit" type="button">Whole picture</button>
        <label${all.length === 1 ? " hidden" : ""}>Called graphs <select id="pictures">${all.map((each, index) => `<option value="${index}">${escape(titleOf(each, index))}</option>`).join("")}</select></label>
        <label>Theme <select id="theme"><option value="auto">as the system</option><option value="light">light</option><option value="dark">dark</option></select></label>
      </div>
    </header>
    <main>
      <div id="view">
${pictures.join("\n")}
      </div>
      <aside id="details" aria-live="polite" aria-label="The selected node"><p>Point at a node, or select it. Keys: arrows move the picture, + and − zoom, 0 shows all, / searches.</p></aside>
    </main>
    <section id="source" hidden></section>
    <p class="legend">${LEGEND}${runLegend(run)}</p>
    <details>
      <summary>All nodes</summary>
${tableOf(drawing)}
    </details>
    <script type="application/json" id="data">${jsonInHtml(data)}</script>
    <script>${PAGE_SCRIPT}</script>
  </body>
</html>`;
}

function tableOf({ nodes, run }: Drawing): string {
  const heads = [
    "node",
    "call",
    "policies and findings",
    "reads",
    "writes",
    ...(run === undefined ? [] : [run.kind === "coverage" ? "tests" : "run"]),
  ];
  const rows = nodes
    .filter((node) => node.kind === "node")
    .map((node) => {
      const { label, detail, marks = [], facts, findings = [] } = node;
      const notes = [...marks, ...findings.map(findingText)].join("; ");
      const cells = [label, detail, notes, (facts?.reads ?? []).join(", "), (facts?.writes ?? []).join(", ")];
      if (run !== undefined) cells.push(node.run?.text ?? "");
      return `        <tr>${cells.map((cell) => `<td>${escape(cell)}</td>`).join("")}</tr>`;
    });
  return `      <table>
        <tr>${heads.map((head) => `<th scope="col">${head}</th>`).join("")}</tr>
${rows.join("\n")}
      </table>`;
}

function nodeData(node: DrawnNode): object {
  const { label, detail, marks = [], facts, findings = [], run, calls, kind } = node;
  return {
    label: kind === "barrier" ? labelLines(node).join(" ") : label,
    detail,
    marks,
    reads: facts?.reads ?? [],
    writes: facts?.writes ?? [],
    effects: facts?.effects ?? [],
    findings: findings.map(findingText),
    ...(facts?.doc === undefined ? {} : { doc: facts.doc }),
    ...(facts?.place === undefined ? {} : { place: facts.place, text: facts.text }),
    ...(run === undefined ? {} : { run: run.text }),
    ...(calls === undefined ? {} : { calls }),
  };
}

function titleOf(each: { readonly unfolds?: string }, index: number): string {
  if (index === 0) return "folded";
  return each.unfolds === undefined ? "all unfolded" : `${each.unfolds} unfolded`;
}

/** Screen readers do not read texts inside of the picture, so the page has its own. */
function withoutCaption(drawing: Drawing): Drawing {
  const { run } = drawing;
  return { ...drawing, findings: [], ...(run === undefined ? {} : { run: { ...run, title: "", end: "" } }) };
}

/** JSON that cannot end its element. */
function jsonInHtml(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function hashOf(script: string): string {
  return `sha256-${createHash("sha256").update(script).digest("base64")}`;
}
