/** Pictures of graphs beside their text. */
import * as vscode from "vscode";
import { findSymbol } from "./find-symbol.ts";
import { previewPage, readPageMessage, type PreviewMessage } from "./preview-page.ts";

/** The answer to `ngraph/preview`. */
interface Picture {
  readonly name: string;
  readonly svg?: string;
  readonly message?: string;
}

/** Milliseconds without a change after which a picture is drawn again. */
const QUIET = 300;

interface Open {
  readonly panel: vscode.WebviewPanel;
  readonly uri: vscode.Uri;
  readonly graph: string;
  ran: readonly string[];
}

export class Previews implements vscode.Disposable {
  readonly #open = new Map<string, Open>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #subscriptions: vscode.Disposable[] = [];
  readonly #extension: vscode.Uri;
  readonly #request: (uri: vscode.Uri, graph: string | undefined) => Promise<Picture>;

  constructor(extension: vscode.Uri, request: (uri: vscode.Uri, graph: string | undefined) => Promise<Picture>) {
    this.#extension = extension;
    this.#request = request;
    this.#subscriptions.push(
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        this.#changed(document.uri);
      }),
    );
  }

  /** Opens the picture of a graph, or reveals it. Without a name, that of the first graph of the file. */
  async show(uri: vscode.Uri, name?: string): Promise<void> {
    // The server draws documents that are open.
    await vscode.workspace.openTextDocument(uri);
    const graph = name ?? (await this.#request(uri, undefined)).name;
    const key = keyOf(uri, graph);
    const known = this.#open.get(key);
    if (known !== undefined) {
      known.panel.reveal(undefined, true);
      return;
    }
    const media = vscode.Uri.joinPath(this.#extension, "media");
    const panel = vscode.window.createWebviewPanel(
      "ngraph.preview",
      graph,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [media] },
    );
    const open: Open = { panel, uri, graph, ran: [] };
    this.#open.set(key, open);
    panel.onDidDispose(() => {
      this.#open.delete(key);
    });
    const { webview } = panel;
    webview.onDidReceiveMessage((value: unknown) => {
      const message = readPageMessage(value);
      if (message?.kind === "ready") void this.#draw(open);
      else if (message?.kind === "jump") void jump(uri, graph, message.node);
    });
    const fileOf = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
    webview.html = previewPage(graph, webview.cspSource, fileOf("preview.js"), fileOf("preview.css"));
  }

  /** Marks the nodes that a run of a test has run. */
  mark(uri: vscode.Uri, graph: string, nodes: readonly string[]): void {
    const open = this.#open.get(keyOf(uri, graph));
    if (open === undefined) return;
    open.ran = nodes;
    send(open, { kind: "ran", nodes });
  }

  dispose(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const { panel } of [...this.#open.values()]) panel.dispose();
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #changed(uri: vscode.Uri): void {
    const key = uri.toString();
    const affected = [...this.#open.values()].filter((open) => open.uri.toString() === key);
    if (affected.length === 0) return;
    clearTimeout(this.#timers.get(key));
    this.#timers.set(
      key,
      setTimeout(() => {
        this.#timers.delete(key);
        for (const open of affected) {
          open.ran = [];
          void this.#draw(open);
        }
      }, QUIET),
    );
  }

  async #draw(open: Open): Promise<void> {
    try {
      const { svg, message } = await this.#request(open.uri, open.graph);
      if (svg === undefined) send(open, { kind: "message", message: message ?? "the graph has no picture" });
      else {
        send(open, { kind: "picture", svg });
        send(open, { kind: "ran", nodes: open.ran });
      }
    } catch (error) {
      send(open, { kind: "message", message: error instanceof Error ? error.message : String(error) });
    }
  }
}

function keyOf(uri: vscode.Uri, graph: string): string {
  return JSON.stringify([uri.toString(), graph]);
}

function send({ panel }: Open, message: PreviewMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a webview has no origin to name
  void panel.webview.postMessage(message);
}

/** Shows the declaration of a node; the graph, if the node has none (`start`, `end`). */
async function jump(uri: vscode.Uri, graph: string, node: string): Promise<void> {
  const symbols = await outlineOf(uri);
  const found = findSymbol(symbols, graph, node) ?? findSymbol(symbols, graph);
  if (found === undefined) return;
  const visible = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  const column = visible?.viewColumn ?? vscode.ViewColumn.One;
  await vscode.window.showTextDocument(uri, { viewColumn: column, selection: found.selectionRange });
}

/** The outline of a document. */
export async function outlineOf(uri: vscode.Uri): Promise<readonly vscode.DocumentSymbol[]> {
  return (
    (await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>(
      "vscode.executeDocumentSymbolProvider",
      uri,
    )) ?? []
  );
}
