import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import * as protocol from "vscode-languageserver-protocol/node";
import { emptyHost } from "../../compiler/load/host.ts";
import { serve } from "../../editor/serve.ts";

const message = (content: object): string => {
  const text = JSON.stringify({ jsonrpc: "2.0", ...content });
  return `Content-Length: ${text.length}\r\n\r\n${text}`;
};

test("a request that is cancelled before its turn has no answer, and the next one has", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answers = new Map<unknown, protocol.ResponseMessage>();
  const reader = new protocol.StreamMessageReader(output);
  reader.listen((answer) => {
    if (protocol.Message.isResponse(answer)) answers.set(answer.id, answer);
  });
  const ended = serve(protocol, new protocol.StreamMessageReader(input), new protocol.StreamMessageWriter(output), {
    version: "1",
    links: { uriOf: (path) => path, pageOf: () => undefined },
    createHost: () => emptyHost,
    pathOf: (uri) => uri,
    findGraphFiles: () => [],
    findModules: () => [],
    draw: () => Promise.resolve(""),
    findRun: () => Promise.resolve(null),
    format: () => Promise.resolve(undefined),
  });
  onTestFinished(() => reader.dispose());
  const textDocument = { uri: "file:///a.ngraph", languageId: "ngraph", version: 1, text: "graph g {\n}\n" };
  const ask = (id: number): string =>
    message({ id, method: "textDocument/foldingRange", params: { textDocument: { uri: textDocument.uri } } });
  // In one piece: the server reads the cancellation before it answers.
  input.write(
    [
      message({ id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {} } }),
      message({ method: "textDocument/didOpen", params: { textDocument } }),
      ask(2),
      ask(3),
      message({ method: "$/cancelRequest", params: { id: 2 } }),
    ].join(""),
  );
  await expect.poll(() => answers.size, { timeout: 90_000 }).toBe(3);
  expect(answers.get(2)?.error?.code).toBe(protocol.LSPErrorCodes.RequestCancelled);
  expect(answers.get(3)?.result).toHaveLength(1);
  input.write(message({ id: 4, method: "shutdown" }) + message({ method: "exit" }));
  expect(await ended).toEqual({ kind: "exit", isShutDown: true });
});
