/** The workers of the page, as functions. */
import {
  LSPClient,
  hoverTooltips,
  jumpToDefinitionKeymap,
  findReferencesKeymap,
  formatKeymap,
  renameKeymap,
  serverCompletion,
  serverDiagnostics,
  signatureHelp,
} from "@codemirror/lsp-client";
import { keymap } from "@codemirror/view";
import type { Analysis, Answer, Request, Response, RunSettings, RunState } from "./messages.ts";
import type { MainName, ProjectFiles } from "./project.ts";
import { ngraphLanguage } from "./highlight.ts";
import { sanitizeHtml } from "./sanitize.ts";

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** A worker that answers requests in their order. */
class Requests {
  readonly #worker: Worker;
  readonly #open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #last = 0;

  constructor() {
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.#worker.addEventListener("message", ({ data }: MessageEvent<Response>) => {
      const open = this.#open.get(data.id);
      this.#open.delete(data.id);
      if (data.kind === "done") open?.resolve(data.value);
      else open?.reject(new Error(data.message));
    });
    this.#worker.addEventListener("error", (event) => {
      this.#end(new Error(event.message === "" ? "the worker of the page did not load" : event.message));
    });
  }

  send(request: Without<Request, "id">): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve, reject });
      this.#worker.postMessage({ ...request, id });
    });
  }

  connect(files: ProjectFiles): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#worker.postMessage({ kind: "connect", files }, [port2]);
    return port1;
  }

  terminate(): void {
    this.#worker.terminate();
    this.#end(new Error("stopped"));
  }

  #end(error: Error): void {
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}

/** The language services of the page: one worker, and a language server in it. */
export class Language {
  readonly #requests = new Requests();
  readonly client: LSPClient;

  constructor() {
    const port = this.#requests.connect({});
    this.client = new LSPClient({
      rootUri: "file:///playground",
      timeout: 10_000,
      sanitizeHTML: sanitizeHtml,
      highlightLanguage: (name) => (name === "ngraph" ? ngraphLanguage : null),
      extensions: [
        serverCompletion(),
        hoverTooltips(),
        signatureHelp(),
        serverDiagnostics(),
        keymap.of([...formatKeymap, ...renameKeymap, ...jumpToDefinitionKeymap, ...findReferencesKeymap]),
      ],
    });
    const handlers = new Set<(message: string) => void>();
    port.addEventListener("message", ({ data }) => {
      for (const handler of handlers) handler(JSON.stringify(data));
    });
    port.start();
    this.client.connect({
      send: (message) => port.postMessage(JSON.parse(message)),
      subscribe: (handler) => void handlers.add(handler),
      unsubscribe: (handler) => void handlers.delete(handler),
    });
  }

  analyse(files: ProjectFiles, main: MainName): Promise<Analysis> {
    return this.#requests.send({ kind: "analyse", files, main }) as Promise<Analysis>;
  }

  /** Modules have changed: what is known about the graph may have, too. */
  modulesChanged(): void {
    this.client.notification("workspace/didChangeWatchedFiles", { changes: [] });
  }
}

/** Runs of graphs, in a worker of their own that can be ended. */
export class Runner {
  #requests: Requests | undefined;

  start(files: ProjectFiles, main: MainName, run: RunSettings): Promise<RunState> {
    this.stop();
    this.#requests = new Requests();
    return this.#requests.send({ kind: "run", files, main, run }) as Promise<RunState>;
  }

  answer(answer: Answer): Promise<RunState> {
    if (this.#requests === undefined) return Promise.reject(new Error("no run waits"));
    return this.#requests.send({ kind: "answer", answer }) as Promise<RunState>;
  }

  stop(): void {
    this.#requests?.terminate();
    this.#requests = undefined;
  }
}
