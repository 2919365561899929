/** The language server in this process, with files in memory, as an editor uses it. */
import { PassThrough } from "node:stream";
import * as protocol from "vscode-languageserver-protocol/node";
import { memoryHost } from "../../compiler/load/host.ts";
import { serve } from "../../editor/serve.ts";
import { applyTextEdits } from "./apply-text-edits.ts";

export interface EditorSession {
  /** The files as they are now, by path. */
  readonly files: Map<string, string>;
  ask<Answer>(method: string, params: object): Promise<Answer>;
  notify(method: string, params: object): Promise<void>;
  open(path: string): Promise<void>;
  /** Renames the name at an offset, and writes the changed files. Rejects where the server refuses. */
  rename(path: string, offset: number, newName: string): Promise<readonly string[]>;
  /** Ends the server; returns how it ended. */
  end(): Promise<unknown>;
}

export const uriOf = (path: string): string => `file://${path}`;
export const pathOf = (uri: string): string => uri.slice("file://".length);

/** @param root the directory of the workspace */
export async function startSession(given: ReadonlyMap<string, string>, root: string): Promise<EditorSession> {
  const files = new Map(given);
  const [input, output] = [new PassThrough(), new PassThrough()];
  const pathsLike = (name: RegExp) => (): readonly string[] => [...files.keys()].filter((path) => name.test(path));
  const ended = serve(protocol, new protocol.StreamMessageReader(input), new protocol.StreamMessageWriter(output), {
    version: "1",
    links: { uriOf, pageOf: () => undefined },
    createHost: () => memoryHost(Object.fromEntries(files)),
    pathOf,
    findGraphFiles: pathsLike(/\.ngraph(?:\.ya?ml)?$/),
    findModules: pathsLike(/\.[cm]?[jt]s$/),
    draw: () => Promise.resolve(""),
    findRun: () => Promise.resolve(null),
    format: () => Promise.resolve(undefined),
  });
  const client = protocol.createProtocolConnection(
    new protocol.StreamMessageReader(output),
    new protocol.StreamMessageWriter(input),
  );
  client.listen();
  await client.sendRequest("initialize", { processId: null, rootUri: uriOf(root), capabilities: {} });
  await client.sendNotification("initialized", {});
  const versions = new Map<string, number>();
  const notify = (method: string, params: object): Promise<void> => client.sendNotification(method, params);
  const languageOf = (path: string): string =>
    /\.ya?ml$/.test(path) ? "ngraph-yaml" : path.endsWith(".ngraph") ? "ngraph" : "typescript";
  return {
    files,
    ask: (method, params) => client.sendRequest(method, params),
    notify,
    open: async (path) => {
      versions.set(path, 1);
      const text = files.get(path) ?? "";
      await notify("textDocument/didOpen", {
        textDocument: { uri: uriOf(path), languageId: languageOf(path), version: 1, text },
      });
    },
    rename: async (path, offset, newName) => {
      const document = protocol.TextDocumentIdentifier.create(uriOf(path));
      const before = (files.get(path) ?? "").slice(0, offset).split("\n");
      const position = { line: before.length - 1, character: before[before.length - 1]?.length ?? 0 };
      const params = { textDocument: document, position, newName };
      const edit = await client.sendRequest<protocol.WorkspaceEdit>("textDocument/rename", params);
      const changed: string[] = [];
      for (const [uri, edits] of Object.entries(edit.changes ?? {})) {
        const each = pathOf(uri);
        changed.push(each);
        const text = applyTextEdits(files.get(each) ?? "", edits);
        files.set(each, text);
        const version = versions.get(each);
        if (version === undefined) continue;
        versions.set(each, version + 1);
        await notify("textDocument/didChange", {
          textDocument: { uri, version: version + 1 },
          contentChanges: [{ text }],
        });
      }
      const changes = changed.map((each) => ({ uri: uriOf(each), type: protocol.FileChangeType.Changed }));
      await notify("workspace/didChangeWatchedFiles", { changes });
      return changed;
    },
    end: async () => {
      await client.sendRequest("shutdown");
      await client.sendNotification("exit");
      return ended;
    },
  };
}
