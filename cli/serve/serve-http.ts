/** The HTTP server of `ngc serve`. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import type { WebSocketServer } from "ws";
import type { Store } from "../../runtime/interface/store.ts";
import type { LogEntry, RecordedTest, Service, ServedGraph as Graph } from "../../service/index.ts";
import { checkWebhook, type Webhook } from "../../service/webhook-request.ts";
import type { ServeOptions } from "../commands/serve.ts";
import { printable } from "../../diagnostics/render/index.ts";
import { drawCompiled } from "../drawing/compiled-drawing.ts";
import { printableDrawing } from "../drawing/drawing.ts";
import { renderSvg } from "../drawing/svg.ts";
import type { Output } from "../output/output.ts";
import { printableText } from "../output/printable-text.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { markServer, withInterruption } from "../process/interruption.ts";
import { DRAIN_SECONDS } from "../run/execute-graph.ts";
import { eventLines } from "../run/progress.ts";
import { openRunSession, type RunSession } from "../run/run-session.ts";
import { refuseUnknownLimits } from "../run/served-limits.ts";
import type { ServedGraph } from "../sources/load-served-graphs.ts";
import { readSource, reasonOf } from "../sources/source-files.ts";
import { RUNS_DIRECTORY } from "../plan/run-directory.ts";
import { recordedPlanRuns } from "./recorded-plan-runs.ts";
import { addStudio } from "./studio-pages.ts";
import type { OpenStore } from "../threads/open-store.ts";
import { latestOf } from "../threads/thread-source.ts";

interface Context {
  readonly store: OpenStore;
  readonly options: ServeOptions;
  readonly output: Output;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;
/** Runs end at once after Ctrl-C, but store that they have been interrupted. */
const HURRIED_MS = 1_000;
/** How long the store may take to close. */
const CLOSE_MS = 3_000;

/** Serves graphs until a signal arrives. After SIGTERM, runs end at their next step. */
export async function serveHttp(graphs: readonly ServedGraph[], context: Context): Promise<ExitCode> {
  const { store, options, output } = context;
  const tokens = readTokens(options.tokens);
  const webhooks = readWebhooks(options);
  refuseUnknownLimits(
    options,
    graphs.map(({ table }) => table),
  );
  const isLocal = LOOPBACK.test(options.host);
  if (!isLocal && tokens === undefined) {
    throw new CommandError(
      `without tokens the service listens on loopback addresses only, not on ${printable(options.host)}`,
      {
        help: "name a file of tokens with --tokens, or set NGRAPH_TOKEN",
      },
    );
  }
  const [{ createService }, { serve, upgradeWebSocket }, { WebSocketServer }] = await Promise.all([
    import("../../service/index.ts"),
    import("@hono/node-server"),
    import("ws"),
  ]);
  // Clients send nothing but control frames. The token is among the offered subprotocols, so that the other one is chosen.
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 1024,
    handleProtocols: (offered) => (offered.has("ngraph") ? "ngraph" : false),
  });
  const sessions: RunSession[] = [];
  const served: Graph[] = [];
  for (const graph of graphs) {
    const session = await openRunSession(
      { ...graph, store, options, flags: "", isBesideOthers: graphs.length > 1 },
      eventLines(),
      output,
    );
    sessions.push(session);
    const { metadata, ...limits } = session.runOptions;
    const { store: _, ...engineOptions } = session.engineOptions;
    served.push({ table: graph.table, ...engineOptions, ...limits, metadata });
  }
  const redact = (text: string): string => sessions.reduce((shown, session) => session.redact(shown), text);
  const service = createService({
    graphs: served,
    store: store.store,
    picture: async (table) => {
      const graph = graphs.find((each) => each.table.name === table.name);
      return graph === undefined ? undefined : pictureOf(graph);
    },
    recordTest: async (thread, table) => {
      const graph = graphs.find((each) => each.table.name === table.name);
      return graph === undefined ? { reason: "its graph has no file" } : testOf(thread, graph, store.store);
    },
    ...(options.studio === true ? { plans: recordedPlanRuns(resolve(RUNS_DIRECTORY)) } : {}),
    ...(tokens === undefined ? {} : { tokens }),
    webhooks,
    upgradeWebSocket,
    ...(isLocal && tokens === undefined ? { hosts: ["localhost", "127.0.0.1", "::1", options.host] } : {}),
    ...(options.origin === undefined ? {} : { origins: options.origin }),
    limits: {
      ...(options.rate === undefined ? {} : { requestsPerMinute: options.rate }),
      ...(options.maxRuns === undefined ? {} : { runs: options.maxRuns }),
    },
    onLog: (entry) => writeLog(entry, output, redact),
  });
  if (options.studio === true) addStudio(service);
  const server = await listen(service, sockets, serve as Serve, options);
  const address = server.address() as AddressInfo;
  const url = `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`;
  let isDrained = false;
  markServer();
  const isAborted = await withInterruption(
    async (signal) => {
      // Only now: a signal that arrives once the address is printed ends the service in order.
      output.document({ version: 1, url, graphs: graphs.map(({ table }) => table.name) });
      output.result(`listening on ${url}`);
      const names = graphs.length === 0 ? "no graphs" : `graphs: ${graphs.map(({ table }) => table.name).join(", ")}`;
      output.note(`${names}; the API is described at ${url}/openapi.json`);
      if (options.studio === true) output.note(`studio: ${url}/studio`);
      service.start();
      await new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
        server.once("draining", resolve);
      });
      server.close();
      const seconds = options.drain ?? DRAIN_SECONDS;
      // Ctrl-C while the service drains hurries it.
      const hurried = new Promise<void>((resolve) => {
        const hurry = (): void => void service.drain({ deadline: HURRIED_MS }).then(resolve);
        if (signal.aborted) hurry();
        else signal.addEventListener("abort", hurry, { once: true });
      });
      await Promise.race([hurried, ...(signal.aborted ? [] : [service.drain({ deadline: seconds * 1000 })])]);
      server.closeAllConnections();
      for (const socket of sockets.clients) socket.terminate();
      return signal.aborted;
    },
    () => {
      isDrained = true;
      // Nothing may read standard error otherwise, and the write would wait.
      if (process.stderr.isTTY) output.note("ending: runs stop at their next step; press Ctrl-C to end now");
      server.emit("draining");
    },
  );
  // A server of the store that does not answer is not waited for: what is stored is stored.
  await Promise.race([closeAll(sessions), new Promise((resolve) => setTimeout(resolve, CLOSE_MS))]);
  return isAborted && !isDrained ? EXIT.interrupted : EXIT.ok;
}

/** The picture of a graph; `undefined` for a graph that is too large for one. */
async function pictureOf({ table, compiled }: ServedGraph): Promise<string | undefined> {
  try {
    return await renderSvg(printableDrawing(drawCompiled(compiled, table, { findings: true }).drawing));
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

/** The last run of a thread as a test, or why it makes none. */
async function testOf(thread: string, { file, table }: ServedGraph, store: Store): Promise<RecordedTest> {
  const { testOfThread } = await import("../testing/record-thread.ts");
  try {
    return { test: await testOfThread(store, await latestOf(store, thread), file, table) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { reason: error.help === undefined ? error.message : `${error.message}; ${error.help}` };
  }
}

async function closeAll(sessions: readonly RunSession[]): Promise<void> {
  for (const session of sessions) await session.close();
}

type Serve = (
  settings: { fetch: Service["fetch"]; port: number; hostname: string; websocket: { server: WebSocketServer } },
  ready: () => void,
) => Server;

async function listen(
  service: Service,
  sockets: WebSocketServer,
  serve: Serve,
  { port, host }: ServeOptions,
): Promise<Server> {
  if (port > 65_535) throw new CommandError(`--port takes a number from 0 to 65535, not ${port}`);
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: service.fetch, port, hostname: host, websocket: { server: sockets } }, () =>
      resolve(server),
    );
    server.once("error", (error: NodeJS.ErrnoException) => {
      const inUse = error.code === "EADDRINUSE";
      reject(
        new CommandError(
          `cannot listen on ${printable(host)}:${port}: ${inUse ? "the port is in use" : reasonOf(error)}`,
          {
            help: inUse ? "choose another one with --port; 0 chooses a free one" : undefined,
            cause: error,
          },
        ),
      );
    });
  });
}

/** Tokens by the name of their owner, of the file and of NGRAPH_TOKEN. @throws CommandError */
function readTokens(file: string | undefined): Readonly<Record<string, string>> | undefined {
  const one = process.env["NGRAPH_TOKEN"];
  const tokens = new Map<string, string>();
  if (file !== undefined) {
    for (const [name, token] of Object.entries(readTokenFile(file))) tokens.set(name, token);
  }
  if (one !== undefined && one !== "") tokens.set("NGRAPH_TOKEN", one);
  for (const [name, token] of tokens) {
    if (!/^[\x21-\x7e]{16,}$/.test(token)) {
      throw new CommandError(
        `the token of \`${printable(name)}\` is too short, or has spaces or other characters than ASCII`,
        {
          help: "a token has at least 16 printable characters: `openssl rand -hex 32` makes one",
        },
      );
    }
  }
  return tokens.size === 0 ? undefined : Object.fromEntries(tokens);
}

function readTokenFile(file: string): Readonly<Record<string, string>> {
  let value: unknown;
  try {
    value = JSON.parse(readSource(file));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The reason of JSON.parse quotes the text, which has tokens.
    throw new CommandError(`cannot read the tokens of ${printable(file)}: it is not JSON`);
  }
  const isTokens =
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((token) => typeof token === "string");
  if (isTokens && Object.keys(value as object).length > 0) return value as Readonly<Record<string, string>>;
  throw new CommandError(`${printable(file)} is not a file of tokens`, {
    help: 'the form is { "NAME": "TOKEN" }',
  });
}

/** @throws CommandError for webhooks that cannot be used */
function readWebhooks({ webhook: urls = [], webhookPrivate = false }: ServeOptions): readonly Webhook[] {
  if (urls.length === 0) return [];
  const secret = (process.env["NGRAPH_WEBHOOK_SECRET"] ?? "").split(/\s+/).filter((key) => key !== "");
  if (secret.length === 0) {
    throw new CommandError("a webhook needs a key for its signatures in NGRAPH_WEBHOOK_SECRET", {
      help: 'make one with `echo "whsec_$(openssl rand -base64 32)"`; several keys have spaces between them',
    });
  }
  const hooks = urls.map((url) => ({ url, secret, private: webhookPrivate }));
  for (const hook of hooks) {
    try {
      checkWebhook(hook);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new CommandError(`--webhook: ${printable(error.message)}`, {
        help: error.message.includes("private") ? "--webhook-private permits private addresses" : undefined,
      });
    }
  }
  return hooks;
}

function writeLog(entry: LogEntry, output: Output, redact: (text: string) => string): void {
  if (output.json) {
    const shown = entry.type === "failure" ? { ...entry, error: redact(reasonOf(entry.error)) } : entry;
    output.problem(JSON.stringify(shown));
  } else if (entry.type === "request") {
    const { method, path, status, milliseconds, principal } = entry;
    output.note(
      `${method} ${printable(path)} ${status} ${milliseconds} ms${principal === null ? "" : ` · ${printable(principal)}`}`,
    );
  } else {
    const reason = redact(reasonOf(entry.error));
    output.problem(printableText(entry.message === reason ? reason : `${entry.message}: ${reason}`));
  }
}
