/** Drawings in the formats of files. */
import { extname } from "node:path";
import { CommandError } from "../process/command-error.ts";
import { jsonText } from "../output/json-text.ts";
import type { CompiledDrawing } from "./compiled-drawing.ts";
import { renderDot } from "./dot.ts";
import { printableDrawing, type Drawing } from "./drawing.ts";
import { renderHtml, type PageParts } from "./html.ts";
import { renderMermaid } from "./mermaid.ts";
import { renderPng } from "./png.ts";
import { renderSvg } from "./svg.ts";
import { renderText } from "./text.ts";
import { unfold } from "./unfold.ts";

export const PICTURE_FORMATS = ["text", "mermaid", "dot", "svg", "png", "html", "json"] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

/** The formats of files, by the ends of their names. */
const FORMAT_OF: Readonly<Record<string, PictureFormat>> = {
  ".txt": "text",
  ".mmd": "mermaid",
  ".mermaid": "mermaid",
  ".dot": "dot",
  ".gv": "dot",
  ".svg": "svg",
  ".png": "png",
  ".html": "html",
  ".htm": "html",
  ".json": "json",
};

/**
 * The format that the name of a file implies; text without a file, and for a device or a pipe without an extension.
 *
 * @param option the option that names a format, for the message
 * @throws CommandError for an extension of another format
 */
export function pictureFormatOf(output: string | undefined, option?: string): PictureFormat {
  const extension = extname(output ?? "").toLowerCase();
  const format = extension === "" ? "text" : FORMAT_OF[extension];
  if (format !== undefined) return format;
  throw new CommandError(`no format of a picture has the extension \`${extension}\``, {
    help: `${option === undefined ? "" : `name the format with ${option}, or `}end the name in ${Object.keys(FORMAT_OF).join(", ")}`,
  });
}

/** A drawing with the file that it is of. */
export interface DrawingSource extends CompiledDrawing {
  readonly isUnfolded: boolean;
  readonly file: string;
}

/** A picture as the content of a file; PNG alone is binary. */
export async function renderDrawing(
  whole: Drawing,
  format: PictureFormat,
  source: DrawingSource,
): Promise<string | Uint8Array> {
  const drawing = format === "json" ? whole : printableDrawing(whole);
  switch (format) {
    case "text":
      return renderText(drawing);
    case "mermaid":
      return renderMermaid(drawing);
    case "dot":
      return renderDot(drawing);
    case "svg":
      return renderSvg(drawing);
    case "png":
      return renderPng(await renderSvg(drawing), source.file);
    case "html":
      return renderHtml(drawing, pageParts(source));
    case "json":
      return jsonText({ version: 1, ...drawing }, 2);
  }
}

/** Pages with more pictures are too large: there the calls are unfolded all at once. */
const MOST_PICTURES = 12;

/** The pictures of a page beside the first one, and the source texts. */
function pageParts({ drawing, called, sources, isUnfolded }: DrawingSource): PageParts {
  const calls = drawing.nodes.filter((node) => node.calls !== undefined && called(node.label).length > 0);
  const single = calls.length < 2 || calls.length > MOST_PICTURES ? [] : calls;
  const all = unfold(drawing, called);
  const unfolded =
    isUnfolded || all === drawing
      ? []
      : [
          calls.length === 1 ? { unfolds: calls[0]!.id, drawing: all } : { drawing: all },
          ...single.map(({ id, label }) => ({
            unfolds: id,
            drawing: unfold(drawing, called, (name) => name === label),
          })),
        ];
  return {
    unfolded: unfolded.map((each) => ({ ...each, drawing: printableDrawing(each.drawing) })),
    sources,
  };
}
