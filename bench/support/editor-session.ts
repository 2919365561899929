/** The language server as a process (the built `dist/`), with the protocol's own client. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
} from "vscode-languageserver-protocol/node";

/** On SIGUSR2 the server collects garbage and reports its CPU time before, in microseconds, and the bytes that are left. */
const REPORTER =
  'data:text/javascript,process.on("SIGUSR2",()=>{const{user,system}=process.cpuUsage();gc();' +
  'process.stderr.write(user+system+" "+process.memoryUsage().heapUsed+"\\n")})';

export interface EditorSession {
  readonly client: ProtocolConnection;
  /** CPU time in milliseconds, and the bytes in use after a collection of garbage. */
  usage(): Promise<{ readonly cpu: number; readonly heap: number }>;
  /** The findings of a version of a document, when they arrive. */
  findings(uri: string, version: number): Promise<PublishDiagnosticsParams>;
  end(): void;
}

export async function openEditor(directory: string): Promise<EditorSession> {
  const program = resolve("dist/cli/ngc.js");
  const server = spawn(process.execPath, ["--expose-gc", "--import", REPORTER, program, "lsp", "--stdio"], {
    cwd: directory,
  });
  const client = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  const arrived = new Map<string, PublishDiagnosticsParams>();
  const waiting = new Map<string, (params: PublishDiagnosticsParams) => void>();
  client.onNotification("textDocument/publishDiagnostics", (params: PublishDiagnosticsParams) => {
    const key = `${params.uri} ${params.version ?? ""}`;
    const wake = waiting.get(key);
    waiting.delete(key);
    if (wake === undefined) arrived.set(key, params);
    else wake(params);
  });
  client.listen();
  const { href } = pathToFileURL(directory);
  await client.sendRequest("initialize", { processId: null, rootUri: href, capabilities: {} });
  await client.sendNotification("initialized", {});
  return {
    client,
    usage: () =>
      new Promise((resolve) => {
        server.stderr.once("data", (data) => {
          const [cpu = 0, heap = 0] = String(data).split(" ").map(Number);
          resolve({ cpu: cpu / 1000, heap });
        });
        server.kill("SIGUSR2");
      }),
    findings: (uri, version) => {
      const key = `${uri} ${version}`;
      const params = arrived.get(key);
      arrived.delete(key);
      return params === undefined ? new Promise((resolve) => waiting.set(key, resolve)) : Promise.resolve(params);
    },
    end: () => {
      client.dispose();
      server.kill("SIGKILL");
    },
  };
}
