/** The language server: connects the protocol with the functions of this folder. */
import type {
  ClientCapabilities,
  CodeAction,
  Diagnostic as ProtocolDiagnostic,
  InitializeResult,
  MessageReader,
  MessageWriter,
  Registration,
  RequestMessage,
  TextEdit,
} from "vscode-languageserver-protocol";
import type { CompilerHost } from "../compiler/load/host.ts";
import { CODE_ACTION_KINDS, findCodeActions } from "./find-code-actions.ts";
import { formatActions } from "./format-actions.ts";
import { findDiagnostics, type Links } from "./find-diagnostics.ts";
import {
  answerLanguageRequests,
  LANGUAGE_CAPABILITIES,
  refuserOf,
  type LanguageEnvironment,
} from "./language-requests.ts";
import type { OpenDocument } from "./document.ts";
import { findFoldingRanges, findOutline } from "./outline.ts";
import { replaceText } from "./replace-text.ts";
import { SourceFile } from "../diagnostics/source.ts";
import { Workspace } from "./workspace.ts";

/** The services that a server uses. */
export interface ServerEnvironment extends LanguageEnvironment {
  readonly version: string;
  /** Reads the disk as of now. */
  createHost(): CompilerHost;
  /** The formatted text; `undefined` for a text with syntax errors. */
  format(document: OpenDocument): Promise<string | undefined>;
}

/** How a server ended. */
export type ServerEnd =
  /** After `exit`, or when the editor closed the connection. */
  | { readonly kind: "exit"; readonly isShutDown: boolean }
  /** The input is not the protocol. */
  | { readonly kind: "garbage"; readonly reason: string };

type Protocol = typeof import("vscode-languageserver-protocol");

/** Turns of the event loop in which messages are taken after the editor has closed the connection. */
const QUEUED_TURNS = 1000;

/** Milliseconds without a change after which a document is checked. */
const QUIET = 30;

/** Milliseconds after which a check lets messages arrive. A step of a check may take longer. */
const MOMENT = 10;

/**
 * Serves one editor until it exits.
 *
 * @param protocol the package `vscode-languageserver-protocol`, which only this command loads
 */
export function serve(
  protocol: Protocol,
  reader: MessageReader,
  writer: MessageWriter,
  environment: ServerEnvironment,
): Promise<ServerEnd> {
  const { ErrorCodes, LSPErrorCodes, ResponseError } = protocol;
  const connection = protocol.createMessageConnection(reader, writer, undefined, {
    // A request that waits for its turn is not computed any more when the editor cancels it.
    connectionStrategy: {
      cancelUndispatched: (request) => ({
        jsonrpc: "2.0",
        id: (request as RequestMessage).id,
        error: { code: LSPErrorCodes.RequestCancelled, message: "the request was cancelled" },
      }),
    },
  });
  const workspace = new Workspace(
    () => environment.createHost(),
    (uri) => environment.pathOf(uri),
  );
  const links: Links = {
    ...environment.links,
    uriOf: (path) => workspace.openUriOf(path) ?? environment.links.uriOf(path),
  };
  const pending = new Set<string>();
  /** Documents that have been checked, and whose text may need more work before completion. */
  const unprepared = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  /** The turn of the event loop that continues the checks. */
  let turn: object | undefined;
  let state: "new" | "ready" | "shutdown" = "new";
  let roots: readonly string[] = [];
  let registrations: Registration[] = [];

  return new Promise((resolve) => {
    let hasEnded = false;
    const end = (result: ServerEnd): void => {
      if (hasEnded) return;
      hasEnded = true;
      stopChecks();
      connection.dispose();
      resolve(result);
    };

    /**
     * Checks waiting documents for a moment, then lets messages arrive: a change of a text ends its check. Publishes what has been found,
     * then prepares completion in texts that cannot be read.
     */
    const checkForMoment = (): void => {
      const start = performance.now();
      for (const uri of pending) {
        while (!workspace.advance(uri)) if (performance.now() - start > MOMENT) return afterMessages();
        pending.delete(uri);
        unprepared.add(uri);
        publish(uri);
        if (performance.now() - start > MOMENT) return afterMessages();
      }
      for (const uri of unprepared) {
        while (!workspace.prepare(uri)) if (performance.now() - start > MOMENT) return afterMessages();
        unprepared.delete(uri);
      }
    };
    /** Messages that have arrived are answered first: a check of a large file takes longer than an answer. One turn reads them, the next takes one. */
    const afterMessages = (): void => {
      const due = (turn = {});
      setImmediate(() =>
        setImmediate(() =>
          setImmediate(() => {
            if (turn === due) checkForMoment();
          }),
        ),
      );
    };
    const stopChecks = (): void => {
      clearTimeout(timer);
      turn = undefined;
    };
    const schedule = (uris: Iterable<string>): void => {
      for (const uri of uris) if (workspace.document(uri) !== undefined) pending.add(uri);
      stopChecks();
      timer = setTimeout(afterMessages, QUIET);
    };
    const scheduleWithImporters = (uri: string): void => {
      const importers = workspace.importersOf(uri);
      workspace.forget(importers);
      schedule([uri, ...importers]);
    };
    /** Checks the documents whose imports, modules or tools have changed on the disk. */
    const scheduleOutdated = (): void => {
      const outdated = workspace.outdated();
      workspace.forget(outdated);
      if (outdated.length > 0) schedule(outdated);
    };
    const publish = (uri: string): void => {
      const checked = workspace.check(uri);
      if (checked === undefined) return;
      const { version } = checked.document;
      send(uri, findDiagnostics(checked, links), version);
    };
    const send = (uri: string, diagnostics: ProtocolDiagnostic[], version?: number): void => {
      const params = { uri, diagnostics, ...(version === undefined ? {} : { version }) };
      void connection.sendNotification(protocol.PublishDiagnosticsNotification.type, params).catch(() => {});
    };

    /** Refuses requests before `initialize` and after `shutdown`, as the protocol requires. */
    const refusal = (): InstanceType<typeof ResponseError<void>> | undefined => {
      if (state === "ready") return undefined;
      return state === "new"
        ? new ResponseError(ErrorCodes.ServerNotInitialized, "the first request must be `initialize`")
        : new ResponseError(ErrorCodes.InvalidRequest, "the server is shut down");
    };

    const refusalOf = refuserOf(protocol, refusal);

    connection.onRequest(protocol.InitializeRequest.type, ({ workspaceFolders, rootUri, capabilities: client }) => {
      if (state !== "new") {
        return new ResponseError(ErrorCodes.InvalidRequest, "the server is initialized", { retry: false });
      }
      state = "ready";
      const folders = workspaceFolders?.map(({ uri }) => uri) ?? (typeof rootUri === "string" ? [rootUri] : []);
      registrations = registrationsFor(client);
      roots = folders.map((uri) => environment.pathOf(uri));
      return capabilities(environment.version);
    });
    connection.onNotification(protocol.InitializedNotification.type, () => {
      if (registrations.length === 0 || state !== "ready") return;
      // Without them, renames begin in graph files.
      void connection.sendRequest(protocol.RegistrationRequest.type, { registrations }).catch(() => {});
    });
    connection.onRequest(protocol.ShutdownRequest.type, () => {
      const refused = refusal();
      if (refused !== undefined) return refused;
      state = "shutdown";
      return undefined;
    });
    connection.onNotification(protocol.ExitNotification.type, () =>
      end({ kind: "exit", isShutDown: state === "shutdown" }),
    );

    connection.onNotification(protocol.DidOpenTextDocumentNotification.type, ({ textDocument }) => {
      if (state !== "ready") return;
      const { uri, languageId, version, text } = textDocument;
      workspace.open(uri, languageId, version, text);
      scheduleWithImporters(uri);
    });
    connection.onNotification(protocol.DidChangeTextDocumentNotification.type, ({ textDocument, contentChanges }) => {
      if (state !== "ready") return;
      workspace.change(textDocument.uri, textDocument.version, contentChanges);
      scheduleWithImporters(textDocument.uri);
    });
    connection.onNotification(protocol.DidCloseTextDocumentNotification.type, ({ textDocument: { uri } }) => {
      if (state !== "ready") return;
      const importers = workspace.importersOf(uri);
      if (workspace.document(uri) !== undefined) send(uri, []);
      workspace.close(uri);
      pending.delete(uri);
      workspace.forget(importers);
      schedule(importers);
    });
    // A saved or changed file may be a module that open graphs import.
    connection.onNotification(protocol.DidSaveTextDocumentNotification.type, () => {
      if (state === "ready") scheduleOutdated();
    });
    connection.onNotification(protocol.DidChangeWatchedFilesNotification.type, () => {
      if (state === "ready") scheduleOutdated();
    });

    connection.onRequest(
      protocol.CodeActionRequest.type,
      async (params, token): Promise<CodeAction[] | InstanceType<typeof ResponseError<void>>> => {
        const refused = refusalOf(params, ["textDocument", "range", "context"]);
        if (refused !== undefined) return refused;
        const { textDocument, range, context } = params;
        const checked = workspace.check(textDocument.uri);
        if (checked === undefined) return [];
        const actions = findCodeActions(checked, range, Array.isArray(context.only) ? context.only : undefined, {
          host: workspace.host(),
          links,
        });
        return formatActions(actions, checked.document, (document) =>
          token.isCancellationRequested ? Promise.resolve(undefined) : environment.format(document),
        );
      },
    );
    connection.onRequest(protocol.DocumentFormattingRequest.type, async (params, token) => {
      const refused = refusalOf(params, ["textDocument"]);
      if (refused !== undefined) return refused;
      const { textDocument } = params;
      const document = workspace.document(textDocument.uri);
      if (document === undefined) return [];
      const formatted = await environment.format(document);
      if (token.isCancellationRequested) {
        return new ResponseError(LSPErrorCodes.RequestCancelled, "the request was cancelled");
      }
      if (workspace.document(textDocument.uri)?.version !== document.version) {
        return new ResponseError(LSPErrorCodes.ContentModified, "the document changed while it was formatted");
      }
      const edits: TextEdit[] =
        formatted === undefined ? [] : replaceText(new SourceFile(document.path, document.text), formatted);
      return edits;
    });
    connection.onRequest(protocol.DocumentSymbolRequest.type, (params) => {
      const refused = refusalOf(params, ["textDocument"]);
      if (refused !== undefined) return refused;
      const names = workspace.names(params.textDocument.uri, workspace.index());
      return names === undefined ? [] : findOutline(names.file);
    });
    connection.onRequest(protocol.FoldingRangeRequest.type, (params) => {
      const refused = refusalOf(params, ["textDocument"]);
      if (refused !== undefined) return refused;
      const names = workspace.names(params.textDocument.uri, workspace.index());
      return names === undefined ? [] : findFoldingRanges(names.file);
    });
    answerLanguageRequests(protocol, connection, workspace, { ...environment, links }, refusal, () => roots);
    connection.onRequest(
      (method) => refusal() ?? new ResponseError(ErrorCodes.MethodNotFound, `the server has no method ${method}`),
    );

    reader.onError((error) => end({ kind: "garbage", reason: error.message.split("\n")[0] ?? "" }));
    // The editor has closed the output.
    writer.onError(() => end({ kind: "exit", isShutDown: state === "shutdown" }));
    // Messages that arrived before the end of the input are still in a queue, which takes one of them in each turn of the event loop.
    const endAfter = (turns: number): void => {
      if (turns > 0 && !hasEnded) setImmediate(() => endAfter(turns - 1));
      else end({ kind: "exit", isShutDown: state === "shutdown" });
    };
    connection.onClose(() => endAfter(QUEUED_TURNS));
    connection.listen();
  });
}

/** What the server asks an editor for that can be asked. */
function registrationsFor(client: ClientCapabilities | undefined): Registration[] {
  return [
    ...moduleRegistrations(client),
    ...(client?.workspace?.didChangeWatchedFiles?.dynamicRegistration === true ? [WATCHED_FILES] : []),
  ];
}

/** Changes on the disk of all that findings depend on: graphs, modules, and the schemas of tools. */
const WATCHED_FILES: Registration = {
  id: "ngraph watched files",
  method: "workspace/didChangeWatchedFiles",
  registerOptions: {
    watchers: [
      { globPattern: "**/*.{ngraph,yaml,yml}" },
      { globPattern: "**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}" },
      { globPattern: "**/{ngraph.lock.json,ngraph.json}" },
    ],
  },
};

/** Renames and references of exports that begin in a module, and the texts of open modules. */
function moduleRegistrations(client: ClientCapabilities | undefined): Registration[] {
  const { rename, references, synchronization } = client?.textDocument ?? {};
  if (rename?.dynamicRegistration !== true || synchronization?.dynamicRegistration !== true) return [];
  const languages = ["typescript", "typescriptreact", "javascript", "javascriptreact"];
  const documentSelector = languages.map((language) => ({ scheme: "file", language }));
  const register = (method: string, options: object = {}): Registration => ({
    id: `ngraph ${method}`,
    method,
    registerOptions: { documentSelector, ...options },
  });
  return [
    register("textDocument/didOpen"),
    register("textDocument/didChange", { syncKind: 2 }),
    register("textDocument/didClose"),
    register("textDocument/rename", { prepareProvider: true }),
    ...(references?.dynamicRegistration === true ? [register("textDocument/references")] : []),
  ];
}

function capabilities(version: string): InitializeResult {
  return {
    capabilities: {
      positionEncoding: "utf-16",
      // 2: incremental.
      textDocumentSync: { openClose: true, change: 2, save: true },
      codeActionProvider: { codeActionKinds: [...CODE_ACTION_KINDS] },
      documentFormattingProvider: true,
      documentSymbolProvider: true,
      foldingRangeProvider: true,
      ...LANGUAGE_CAPABILITIES,
    },
    serverInfo: { name: "ngraph", version },
  };
}
