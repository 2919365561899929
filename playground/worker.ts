/**
 * The workers of the page. One serves the editor as a language server and analyses the text; another one runs graphs, so that the
 * page can end a run that does not end.
 */
import * as protocol from "vscode-languageserver-protocol/browser";
import { serve } from "../editor/serve.ts";
import { drawPlan } from "../cli/drawing/plan.ts";
import { drawTable, printableDrawing } from "../cli/drawing/drawing.ts";
import { renderSvg } from "../cli/drawing/svg.ts";
import { format } from "../grammar/format/format.ts";
import { analyse, compileProject, hostOf } from "./analyse.ts";
import type { Request, Response } from "./messages.ts";
import type { MainName, ProjectFiles } from "./project.ts";
import { addSetImmediate } from "./polyfill.ts";
import { Session } from "./session.ts";

type Message = Request | { readonly kind: "connect"; readonly files: ProjectFiles };

interface WorkerScope {
  addEventListener(type: "message", listener: (event: MessageEvent<Message>) => void): void;
  postMessage(message: Response): void;
}
const scope = globalThis as unknown as WorkerScope;
addSetImmediate();

let files: ProjectFiles = {};
let session: Session | undefined;

scope.addEventListener("message", ({ data, ports: [port] }) => {
  if (data.kind === "connect") {
    files = data.files;
    if (port !== undefined) serveEditor(port);
    return;
  }
  void respond(data);
});

async function respond(request: Request): Promise<void> {
  const { id } = request;
  try {
    scope.postMessage({ id, kind: "done", value: await valueOf(request) });
  } catch (error) {
    scope.postMessage({ id, kind: "refused", message: error instanceof Error ? error.message : String(error) });
  }
}

async function valueOf(request: Request): Promise<unknown> {
  switch (request.kind) {
    case "analyse":
      files = request.files;
      return analyse(request.files, request.main as MainName);
    case "run": {
      const { graph, table } = compiledGraph(request.files, request.main, request.run.graph);
      if (table === undefined) throw new Error(`\`${graph}\` has errors: mend them first`);
      session = new Session(table, request.run);
      return session.start();
    }
    case "answer":
      if (session === undefined) throw new Error("no run waits");
      return session.answer(request.answer);
  }
}

function compiledGraph(given: ProjectFiles, main: string, graph: string) {
  const found = compileProject(given, main).graphs.find(({ name }) => name === graph);
  return { graph, table: found?.table };
}

/** Modules are not documents of the editor's protocol: the server reads them from the files of the last analysis. */
function serveEditor(port: MessagePort): void {
  const reader = new protocol.BrowserMessageReader(port);
  const writer = new protocol.BrowserMessageWriter(port);
  void serve(protocol, reader, writer, {
    version: "playground",
    links: { uriOf: (path) => `file://${path}`, pageOf: () => undefined },
    createHost: () => hostOf(files),
    pathOf: (uri) => decodeURIComponent(uri.replace(/^file:\/\//, "")),
    findGraphFiles: () => [],
    findModules: () => [],
    draw: (table) => renderSvg(printableDrawing(table.kind === "plan" ? drawPlan(table) : drawTable(table))),
    // Runs in the page are stored nowhere.
    findRun: () => Promise.resolve(null),
    format: async ({ text, path, spelling }) => {
      try {
        return spelling === "yaml" ? await formatYaml(text) : await format(text, { path });
      } catch {
        // A text with syntax errors stays as it is.
        return undefined;
      }
    },
  });
}

async function formatYaml(text: string): Promise<string> {
  const [prettier, yaml] = await Promise.all([import("prettier/standalone"), import("prettier/plugins/yaml")]);
  return prettier.format(text, { parser: "yaml", plugins: [yaml], printWidth: 120 });
}
