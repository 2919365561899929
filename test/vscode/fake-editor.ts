/** A small stand-in for the interface `vscode`: what the pictures, the test explorer and the tasks of the extension use. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { compileFunction } from "node:vm";
import { build } from "esbuild";

type Listener = (event: never) => void;

interface Emitter {
  readonly on: (listener: Listener) => { dispose(): void };
  readonly fire: (event: unknown) => void;
}

function emitter(): Emitter {
  const listeners = new Set<Listener>();
  return {
    on: (listener) => {
      listeners.add(listener);
      return { dispose: () => void listeners.delete(listener) };
    },
    fire: (event) => {
      for (const listener of listeners) listener(event as never);
    },
  };
}

export interface Uri {
  readonly fsPath: string;
  readonly scheme: string;
  toString(): string;
}

export interface Panel {
  readonly title: string;
  readonly posted: unknown[];
  readonly webview: { html: string };
  revealed: number;
  visible: boolean;
  receive(message: unknown): void;
  close(): void;
}

export interface Item {
  readonly id: string;
  readonly label: string;
  readonly uri: Uri;
  readonly children: Items;
  parent?: Item;
}

/** The children of an item of the test explorer. */
class Items {
  readonly #items = new Map<string, Item>();
  readonly #owner: Item | undefined;

  constructor(owner?: Item) {
    this.#owner = owner;
  }

  get size(): number {
    return this.#items.size;
  }
  get(id: string): Item | undefined {
    return this.#items.get(id);
  }
  add(item: Item): void {
    if (this.#owner !== undefined) item.parent = this.#owner;
    this.#items.set(item.id, item);
  }
  delete(id: string): void {
    this.#items.delete(id);
  }
  replace(items: readonly Item[]): void {
    this.#items.clear();
    for (const item of items) this.add(item);
  }
  forEach(visit: (item: Item) => void): void {
    for (const item of this.#items.values()) visit(item);
  }
}

/** An editor with one folder, and what the extension has done with it. */
export function createEditor(folder: string, files: readonly string[] = []) {
  const uriOf = (path: string): Uri => ({ fsPath: path, scheme: "file", toString: () => `file://${path}` });
  const [opened, changed, deleted] = [emitter(), emitter(), emitter()];
  const panels: Panel[] = [];
  const shown: unknown[] = [];
  const reports: [kind: string, label: string, messages?: readonly { readonly message: string }[]][] = [];
  const items = new Items();
  const controller = {
    items,
    resolveHandler: undefined as ((item?: Item) => Promise<void>) | undefined,
    createTestItem: (id: string, label: string, uri: Uri): Item => {
      const item = { id, label, uri } as { -readonly [Key in keyof Item]: Item[Key] };
      item.children = new Items(item);
      return item;
    },
    run: undefined as ((request: object, token: object) => Promise<void>) | undefined,
    createRunProfile: (_label: string, _kind: number, run: (request: object, token: object) => Promise<void>) => {
      controller.run = run;
    },
    createTestRun: () => ({
      started: (item: Item) => reports.push(["started", item.label]),
      passed: (item: Item) => reports.push(["passed", item.label]),
      skipped: (item: Item) => reports.push(["skipped", item.label]),
      failed: (item: Item, messages: readonly { readonly message: string }[]) =>
        reports.push(["failed", item.label, messages]),
      errored: (item: Item, message: { readonly message: string }) => reports.push(["errored", item.label, [message]]),
      end: () => reports.push(["end", ""]),
    }),
    dispose: () => {},
  };
  const symbols: unknown[] = [];
  const workspaceFolder = { uri: uriOf(folder), name: "p", index: 0 };
  class Holder {
    readonly args: readonly unknown[];
    constructor(...args: readonly unknown[]) {
      this.args = args;
    }
  }
  class TestMessage {
    readonly message: string;
    constructor(message: string) {
      this.message = message;
    }
  }
  const vscode = {
    Uri: { joinPath: ({ fsPath }: Uri, name: string) => uriOf(join(fsPath, name)) },
    ViewColumn: { Beside: -2, One: 1 },
    TestRunProfileKind: { Run: 1 },
    TaskScope: { Workspace: 2 },
    TaskGroup: { Test: "test", Build: "build" },
    TestRunRequest: class {
      readonly include: readonly Item[];
      constructor(include: readonly Item[]) {
        this.include = include;
      }
    },
    CancellationTokenSource: class {
      readonly token = { isCancellationRequested: false, onCancellationRequested: emitter().on };
      dispose(): void {}
    },
    TestMessage,
    Range: Holder,
    Location: Holder,
    Position: Holder,
    ProcessExecution: Holder,
    Task: Holder,
    tests: { createTestController: () => controller },
    workspace: {
      workspaceFolders: [workspaceFolder],
      getWorkspaceFolder: () => workspaceFolder,
      textDocuments: [],
      asRelativePath: ({ fsPath }: Uri) => fsPath.slice(folder.length + 1),
      findFiles: () => Promise.resolve(files.map((name) => uriOf(join(folder, name)))),
      openTextDocument: (uri: Uri) => Promise.resolve({ uri, languageId: "ngraph", save: () => Promise.resolve(true) }),
      onDidOpenTextDocument: opened.on,
      onDidChangeTextDocument: changed.on,
      onDidDeleteFiles: deleted.on,
    },
    window: {
      visibleTextEditors: [],
      showInformationMessage: (message: string) => shown.push(message),
      showTextDocument: (uri: Uri, options: object) => shown.push([uri.toString(), options]),
      createWebviewPanel: (_type: string, title: string) => {
        const [received, closed] = [emitter(), emitter()];
        const posted: unknown[] = [];
        const panel = {
          title,
          posted,
          revealed: 0,
          visible: true,
          reveal: () => panel.revealed++,
          onDidDispose: closed.on,
          dispose: () => closed.fire(undefined),
          receive: received.fire,
          close: () => closed.fire(undefined),
          webview: {
            html: "",
            cspSource: "vscode-resource:",
            asWebviewUri: (uri: Uri) => uri,
            onDidReceiveMessage: received.on,
            postMessage: (message: unknown) => Promise.resolve(posted.push(message) > 0),
          },
        };
        panels.push(panel);
        return panel;
      },
    },
    commands: { executeCommand: () => Promise.resolve(symbols) },
  };
  return { vscode, uriOf, panels, shown, reports, controller, symbols, changed: changed.fire, deleted: deleted.fire };
}

/** Modules of the extension, bundled as they are in the package, with a given editor. */
export async function loadExtension(
  vscode: object,
  modules: readonly string[],
): Promise<Readonly<Record<string, never>>> {
  const folder = join(import.meta.dirname, "../../editors/vscode/source");
  const { outputFiles } = await build({
    stdin: { contents: modules.map((name) => `export * from "./${name}";`).join("\n"), resolveDir: folder },
    bundle: true,
    platform: "node",
    format: "cjs",
    external: ["vscode"],
    write: false,
  });
  const require = createRequire(import.meta.url);
  const module = { exports: {} };
  const run = compileFunction(outputFiles[0]?.text ?? "", ["require", "module", "exports"]);
  run((name: string): unknown => (name === "vscode" ? vscode : require(name)), module, module.exports);
  return module.exports;
}
