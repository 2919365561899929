import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { createNodeHost } from "../../api/node-host.ts";
import type { DiagnosticCode } from "../../diagnostics/codes.ts";
import { pageOf } from "../../diagnostics/render/index.ts";
import { serve, type ServerEnd } from "../../editor/serve.ts";
import { isLibraryPath } from "../../stdlib/graphs/library-files.ts";
import { findGraphFiles, findModules } from "./find-graph-files.ts";
import { formatIfReadable } from "../sources/format-text.ts";
import { importModule } from "../start/import-module.ts";
import { packageRoot } from "../start/package-root.ts";
import { VERSION } from "../start/version.ts";

/** Serves the editor at the other end of standard input and output. */
export async function serveEditor(): Promise<ServerEnd> {
  const protocol = (await importModule(
    "vscode-languageserver-protocol/node",
  )) as typeof import("vscode-languageserver-protocol/node");
  const reader = new protocol.StreamMessageReader(process.stdin);
  // Node does not close standard input that is a file.
  process.stdin.once("end", () => process.stdin.destroy());
  const writer = new protocol.StreamMessageWriter(process.stdout);
  let runs: Promise<import("./watch-runs.ts").RunWatch> | undefined;
  return serve(protocol, reader, writer, {
    version: VERSION,
    links: { uriOf, pageOf: pageUriOf },
    createHost: createNodeHost,
    pathOf,
    findGraphFiles,
    findModules,
    draw: async (table) => {
      const { drawPlan } = await import("../drawing/plan.ts");
      const { drawTable, printableDrawing } = await import("../drawing/drawing.ts");
      const { renderSvg } = await import("../drawing/svg.ts");
      return renderSvg(printableDrawing(table.kind === "plan" ? drawPlan(table) : drawTable(table)));
    },
    findRun: async (asked) => {
      runs ??= import("./watch-runs.ts").then(({ RunWatch }) => new RunWatch());
      return (await runs).find(asked);
    },
    format: ({ text, path }) => formatIfReadable(text, path),
  });
}

/** The file of a URI; the URI itself where it names no file of this machine, such as `untitled:1`. */
function pathOf(uri: string): string {
  try {
    return uri.startsWith("file:") ? fileURLToPath(uri) : uri;
  } catch {
    return uri;
  }
}

/** The URI of a file. A file of the library is the one that the package contains. */
function uriOf(path: string): string {
  if (isLibraryPath(path)) {
    return pathToFileURL(join(packageRoot(), "stdlib", "graphs", `${path.slice("ngraph:".length)}.ngraph`)).href;
  }
  return /^[a-z][a-z\d+.-]+:/i.test(path) ? path : pathToFileURL(path).href;
}

function pageUriOf(code: string): string | undefined {
  const page = join(packageRoot(), pageOf(code as DiagnosticCode));
  return existsSync(page) ? pathToFileURL(page).href : undefined;
}
