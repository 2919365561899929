/** Colours of pictures on a dark ground, by their colours on a light one. */
const DARK: readonly (readonly [attribute: "fill" | "stroke", light: string, dark: string])[] = [
  ["fill", "#f6f8fa", "#21262d"],
  ["fill", "#ddf4ff", "#0c2d6b"],
  ["fill", "#fff8c5", "#4a3b00"],
  ["fill", "#fbefff", "#3c1e70"],
  ["fill", "#1b1f24", "#e6edf3"],
  ["fill", "#57606a", "#b1bac4"],
  ["fill", "#cf222e", "#ff8182"],
  ["fill", "#8250df", "#d2a8ff"],
  ["fill", "#0969da", "#79c0ff"],
  ["fill", "#9a6700", "#e3b341"],
  ["stroke", "#57606a", "#9198a1"],
  ["stroke", "#8c959f", "#6e7681"],
  ["stroke", "#cf222e", "#ff8182"],
  ["stroke", "#8250df", "#d2a8ff"],
  ["stroke", "#0969da", "#58a6ff"],
  ["stroke", "#9a6700", "#e3b341"],
];

/** The rules that draw the pictures below a selector on a dark ground. Text without a colour of its own is black. */
export function darkPictures(scope: string): string {
  return [
    ...DARK.map(([attribute, light, dark]) => `${scope} [${attribute}="${light}"] { ${attribute}: ${dark}; }`),
    `${scope} text:not([fill]) { fill: #e6edf3; }`,
  ].join("\n");
}

const VARIABLES = {
  light:
    "--ground:#ffffff;--text:#1b1f24;--quiet:#57606a;--line:#d0d7de;--card:#f6f8fa;--accent:#0757b8;--here:#fff3b0;color-scheme:light",
  dark: "--ground:#0d1117;--text:#e6edf3;--quiet:#9da7b3;--line:#3d444d;--card:#161b22;--accent:#58a6ff;--here:#4a3b00;color-scheme:dark",
};

export const PAGE_STYLE = `
* { box-sizing: border-box; }
:root { ${VARIABLES.light} }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${VARIABLES.dark} }
${darkPictures(':root:not([data-theme="light"]) svg')}
}
:root[data-theme="dark"] { ${VARIABLES.dark} }
${darkPictures(':root[data-theme="dark"] svg')}
body { margin: 0; font: 14px/1.5 ui-sans-serif, system-ui, sans-serif; color: var(--text); background: var(--ground); }
header { padding: 0.6rem 1rem; border-bottom: 1px solid var(--line); background: var(--card); }
h1 { font-size: 1.1rem; margin: 0 0 0.4rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 0.4rem; overflow-wrap: anywhere; }
header p { margin: 0 0 0.4rem; overflow-wrap: anywhere; }
.tools { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
button, input, select { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 6px; padding: 0.25rem 0.6rem; min-height: 2rem; max-width: 100%; }
button { cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(14rem, 22rem); gap: 0; }
#view { position: relative; overflow: hidden; height: 78vh; min-height: 20rem; touch-action: none; cursor: grab; border-bottom: 1px solid var(--line); }
#view:active { cursor: grabbing; }
#view svg { position: absolute; top: 0; left: 0; transform-origin: 0 0; max-width: none; }
#view svg[hidden] { display: none; }
#view g.graph > polygon { fill: none; }
#view g.node { cursor: pointer; }
#view g.node:focus { outline: 2px dashed var(--accent); outline-offset: 3px; }
#view g.node.pinned > :is(path, polygon, ellipse) { stroke: var(--accent); stroke-width: 4; }
#view g.node.found > :is(path, polygon, ellipse) { stroke: var(--accent); stroke-width: 4; stroke-dasharray: 6 3; }
#view.searching g.node:not(.found) { opacity: 0.35; }
aside { border-left: 1px solid var(--line); border-bottom: 1px solid var(--line); padding: 0.8rem 1rem; overflow: auto; max-height: 78vh; }
dl { margin: 0 0 0.6rem; } dt { color: var(--quiet); font-size: 0.85rem; } dd { margin: 0 0 0.3rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.doc { white-space: pre-wrap; } .call, pre, ol { font: 12px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.6rem; overflow: auto; white-space: pre-wrap; margin: 0.6rem 0 0; }
#source { padding: 0.8rem 1rem; } #source ol { max-height: 20rem; overflow: auto; margin: 0; padding-left: 4rem; background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
#source li { white-space: pre-wrap; } #source li::marker { color: var(--quiet); } #source li.here { background: var(--here); font-weight: 700; }
.legend { color: var(--quiet); padding: 0 1rem; } details { padding: 0 1rem 1rem; } summary { cursor: pointer; }
table { border-collapse: collapse; } th { text-align: left; } td, th { padding: 0.2rem 1.5rem 0.2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
@media (max-width: 45rem) { main { grid-template-columns: minmax(0, 1fr); } aside { border-left: 0; max-height: none; } #view { height: 60vh; } }
@media print { .tools, aside, #source { display: none; } main { display: block; } #view { height: auto; overflow: visible; } #view svg { position: static; transform: none !important; max-width: 100%; height: auto; } }
`;
