/** Pictures of graphs beside their text. */
import * as vscode from "vscode";
import { findSymbol } from "./find-symbol.ts";
import { previewPage, readPageMessage, type PreviewMessage } from "./preview-page.ts";
import type { Preview, Question, WatchedRun } from "../../../editor/previews.ts";
import { RunOnPicture } from "./shown-run.ts";

/** Milliseconds without a change after which a picture is drawn again. */
const QUIET = 300;

/** Milliseconds between two looks at the newest run of a picture that is visible. */
const LOOK = 500;

/** What pictures need of the extension. */
export interface PreviewServices {
  picture(uri: vscode.Uri, graph: string | undefined): Promise<Preview>;
  /** The newest run of a graph or plan in the store of the workspace. */
  run(uri: vscode.Uri, graph: string): Promise<WatchedRun | null>;
  /** Asks for the answer to a question, and continues the run. */
  answer(uri: vscode.Uri, thread: string, questions: readonly Question[]): Promise<void>;
}

interface Open {
  readonly panel: vscode.WebviewPanel;
  readonly uri: vscode.Uri;
  readonly graph: string;
  readonly runs: RunOnPicture;
  /** Whether a look has not been answered yet. */
  looks: boolean;
}

export class Previews implements vscode.Disposable {
  readonly #open = new Map<string, Open>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #subscriptions: vscode.Disposable[] = [];
  readonly #extension: vscode.Uri;
  readonly #services: PreviewServices;
  #watch: NodeJS.Timeout | undefined;

  constructor(extension: vscode.Uri, services: PreviewServices) {
    this.#extension = extension;
    this.#services = services;
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
    const graph = name ?? (await this.#services.picture(uri, undefined)).name;
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
    const open: Open = { panel, uri, graph, runs: new RunOnPicture(), looks: false };
    this.#open.set(key, open);
    this.#watch ??= setInterval(() => {
      for (const each of this.#open.values()) void this.#look(each);
    }, LOOK);
    panel.onDidDispose(() => {
      this.#open.delete(key);
      if (this.#open.size > 0) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    });
    const { webview } = panel;
    webview.onDidReceiveMessage((value: unknown) => {
      const message = readPageMessage(value);
      if (message?.kind === "ready") void this.#draw(open);
      else if (message?.kind === "jump") void jump(uri, graph, message.node);
      else if (message?.kind === "answer") void this.#answer(open);
    });
    const fileOf = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
    webview.html = previewPage(graph, webview.cspSource, fileOf("preview.js"), fileOf("preview.css"));
  }

  /** Marks the nodes that a run of a test has run. */
  mark(uri: vscode.Uri, graph: string, nodes: readonly string[]): void {
    const open = this.#open.get(keyOf(uri, graph));
    if (open === undefined) return;
    open.runs.test(nodes);
    sendRun(open);
  }

  dispose(): void {
    clearInterval(this.#watch);
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
          open.runs.change();
          void this.#draw(open);
        }
      }, QUIET),
    );
  }

  /** Shows what the newest run does. The server may stop or start again between two looks. */
  async #look(open: Open): Promise<void> {
    if (open.looks || !open.panel.visible) return;
    open.looks = true;
    try {
      if (open.runs.update(await this.#services.run(open.uri, open.graph))) sendRun(open);
    } catch {
      // A text with errors may lack the graph. Its picture says so.
    } finally {
      open.looks = false;
    }
  }

  async #answer({ uri, runs }: Open): Promise<void> {
    const { thread = null, questions = [] } = runs.run ?? {};
    if (thread !== null && questions.length > 0) await this.#services.answer(uri, thread, questions);
  }

  async #draw(open: Open): Promise<void> {
    try {
      const { svg, message } = await this.#services.picture(open.uri, open.graph);
      if (svg === undefined) send(open, { kind: "message", message: message ?? "the graph has no picture" });
      else {
        send(open, { kind: "picture", svg });
        sendRun(open);
      }
    } catch (error) {
      send(open, { kind: "message", message: error instanceof Error ? error.message : String(error) });
    }
  }
}

function keyOf(uri: vscode.Uri, graph: string): string {
  return JSON.stringify([uri.toString(), graph]);
}

function sendRun(open: Open): void {
  send(open, { kind: "run", ...open.runs.shown });
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
