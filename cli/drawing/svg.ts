import { CommandError } from "../process/command-error.ts";
import { importModule } from "../start/import-module.ts";
import { EDGE_FONT, NODE_FONT, renderDot } from "./dot.ts";
import type { Drawing } from "./drawing.ts";
import { escape } from "./escape-xml.ts";
import { shortenEdges } from "./shorten-edges.ts";

/** The time of Graphviz's layout grows faster than the drawing; this many nodes and edges take a few seconds. */
const MAX_ELEMENTS = 3000;

/** A picture that is this much wider than high, and wider than `WIDE` points, is drawn from left to right instead. */
const WIDE_RATIO = 3;
const WIDE = 1600;

/**
 * An SVG picture of a drawing, laid out by Graphviz (compiled to WebAssembly, loaded on the first call). It has no scripts and loads
 * no fonts or images.
 *
 * @throws CommandError when the drawing is too large
 */
export async function renderSvg(drawing: Drawing): Promise<string> {
  if (drawing.nodes.length + drawing.edges.length > MAX_ELEMENTS) throw tooLarge(drawing);
  const { Graphviz } = (await importModule("@hpcc-js/wasm-graphviz")) as typeof import("@hpcc-js/wasm-graphviz");
  const graphviz = await Graphviz.load();
  const printable = shortenEdges(withoutControls(drawing));
  const ids = new Map(printable.nodes.map((node, index) => [node.id, `n${index}`]));
  const layOut = (direction: "TB" | "LR"): Picture => {
    // Generated ids: no name of the user is a part of Graphviz's comments and titles.
    const source = renderDot({ ...printable, name: "" }, { idOf: (id) => ids.get(id) ?? "", direction });
    return readPicture(graphviz.layout(source, "svg", "dot"));
  };
  let picture = layOut("TB");
  if (picture.width > WIDE && picture.width > WIDE_RATIO * picture.height) picture = layOut("LR");
  return toSvg(picture, printable);
}

/**
 * Text is drawn smaller than it is laid out. Graphviz measures text as Helvetica, and the font that a viewer uses instead may be wider.
 */
const FONT_SCALE = 0.86;

function fontSize(points: number): string {
  return `font-size="${points.toFixed(2)}"`;
}

interface Picture {
  /** In points. */
  readonly width: number;
  readonly height: number;
  /** The elements inside of Graphviz's `svg` element. */
  readonly body: string;
}

function readPicture(svg: string): Picture {
  const found = /<svg width="(\d+)pt" height="(\d+)pt"[^>]*>([\s\S]*)<\/svg>/.exec(svg);
  if (found === null) throw new Error("Graphviz returned no SVG element");
  return { width: Number(found[1]), height: Number(found[2]), body: (found[3] ?? "").trim() };
}

/** Replaces Graphviz's comments and titles, which contain the generated ids, by titles with the names. */
function toSvg({ width, height, body }: Picture, { name, nodes }: Drawing): string {
  const labelOf = (id: string): string => nodes[Number(id)]?.label ?? "";
  const titled = body
    // Several pictures in one page would have equal ids.
    .replace(/<g id="(?:edge|graph|clust|a_)\w*" /g, "<g ")
    .replaceAll(fontSize(NODE_FONT), fontSize(NODE_FONT * FONT_SCALE))
    .replaceAll(fontSize(EDGE_FONT), fontSize(EDGE_FONT * FONT_SCALE))
    .replace(/<!--[\s\S]*?-->\n?/g, "")
    .replace(/<g id="node\d+" class="node">\s*<title>n(\d+)<\/title>/g, (_, id: string) => {
      const named = escape(nodes[Number(id)]?.id ?? "");
      return `<g class="node" data-node="${named}">\n<title>${escape(labelOf(id))}</title>`;
    })
    .replace(/<title>n(\d+)<\/title>/g, (_, id: string) => `<title>${escape(labelOf(id))}</title>`)
    .replace(
      /<title>n(\d+)&#45;&gt;n(\d+)<\/title>/g,
      (_, from: string, to: string) => `<title>${escape(`${labelOf(from)} → ${labelOf(to)}`)}</title>`,
    );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}pt" height="${height}pt" viewBox="0 0 ${width} ${height}" role="img">
<title>${escape(name)}</title>
${titled}
</svg>`;
}

/** Graphviz copies control characters, which XML forbids. */
function withoutControls(drawing: Drawing): Drawing {
  const clean = (text: string): string => text.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\ufffe\uffff]/g, "");
  return {
    ...drawing,
    name: clean(drawing.name),
    nodes: drawing.nodes.map((node) => ({
      ...node,
      label: clean(node.label),
      detail: clean(node.detail),
      ...(node.marks === undefined ? {} : { marks: node.marks.map(clean) }),
    })),
    ...(drawing.groups === undefined
      ? {}
      : { groups: drawing.groups.map((group) => ({ ...group, label: clean(group.label) })) }),
    edges: drawing.edges.map((edge) => ({ ...edge, label: clean(edge.label) })),
  };
}

function tooLarge({ name, nodes, edges }: Drawing): CommandError {
  return new CommandError(
    `\`${name}\` is too large for a picture: ${nodes.length} nodes and ${edges.length} edges, more than ${MAX_ELEMENTS} together`,
    { help: "--format text, mermaid, dot and json have no limit" },
  );
}
