/** An MCP server over standard input and output: each graph is a tool, and `resume` and `state` continue and read its runs. */
import { Transform, Writable } from "node:stream";
import type { Engine, RunResult } from "../../runtime/interface/engine-options.ts";
import type { PauseItem } from "../../runtime/interface/checkpoint.ts";
import type { Json } from "../../runtime/value/json.ts";
import { loadPackage } from "../../stdlib/llm/sdk.ts";
import { schemaOf } from "../../stdlib/type-schema.ts";
import { escapeJson } from "../output/json-text.ts";
import type { Output } from "../output/output.ts";
import type { ServedGraph } from "../sources/load-served-graphs.ts";
import { reasonOf } from "../sources/source-files.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { withInterruption } from "../process/interruption.ts";
import type { ExecutionOptions } from "../run/execution-options.ts";
import { importOptional } from "../run/import-optional.ts";
import { parseConfig } from "../run/parse-config.ts";
import { eventLines } from "../run/progress.ts";
import { openRunSession, type RunSession } from "../run/run-session.ts";
import { refuseUnknownLimits } from "../run/served-limits.ts";
import { VERSION } from "../start/version.ts";
import type { OpenStore } from "../threads/open-store.ts";

interface Context {
  readonly store: OpenStore;
  readonly options: ExecutionOptions;
  readonly output: Output;
}

/** The parts of `@modelcontextprotocol/sdk`, an optional peer, that are used. */
interface Server {
  setRequestHandler(
    schema: unknown,
    handler: (request: ToolRequest, extra: { readonly signal: AbortSignal }) => unknown,
  ): void;
  connect(transport: object): Promise<void>;
  close(): Promise<void>;
}
interface ToolRequest {
  readonly params: { readonly name: string; readonly arguments?: Readonly<Record<string, Json>> };
}
type Constructor = new (...args: readonly unknown[]) => object;

interface ToolOfServer {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  call(args: Readonly<Record<string, Json>>, signal: AbortSignal): Promise<ToolAnswer>;
}

interface ToolAnswer {
  readonly document: object;
  readonly isError: boolean;
}

interface Served extends ServedGraph {
  readonly engine: Engine;
  readonly session: RunSession;
}

/** Serves graphs until standard input ends or a signal arrives. Standard output carries the protocol and nothing else. */
export async function serveGraphs(graphs: readonly ServedGraph[], context: Context): Promise<ExitCode> {
  const reserved = graphs.find(({ table }) => table.name === "resume" || table.name === "state");
  if (reserved !== undefined) {
    throw new CommandError(`the graph \`${reserved.table.name}\` has the name of another tool`, {
      help: "rename the graph",
    });
  }
  const protocol = takeStdout();
  const output: Output = { ...context.output, json: true, result: () => undefined, document: () => undefined };
  const load = importOptional(graphs[0]?.file ?? "");
  const get = async (path: string): Promise<Readonly<Record<string, unknown>>> => {
    try {
      const found = await loadPackage(load, `@modelcontextprotocol/sdk/${path}.js`, "`ngc mcp`");
      return found as Readonly<Record<string, unknown>>;
    } catch (cause) {
      throw new CommandError(reasonOf(cause), { exitCode: EXIT.failed, cause });
    }
  };
  const [{ Server }, { StdioServerTransport }, types] = await Promise.all([
    get("server/index"),
    get("server/stdio"),
    get("types"),
  ]);
  const { createEngine } = await import("../../runtime/index.ts");
  refuseUnknownLimits(
    context.options,
    graphs.map(({ table }) => table),
  );
  const served: Served[] = [];
  for (const graph of graphs) {
    const { store, options } = context;
    const session = await openRunSession(
      { ...graph, store, options, flags: "", isBesideOthers: graphs.length > 1 },
      eventLines(),
      output,
    );
    served.push({ ...graph, session, engine: createEngine(graph.table, session.engineOptions) });
  }
  const tools = [
    ...served.map((each) => graphTool(each, context.options)),
    resumeTool(served, context),
    stateTool(served, context),
  ];
  const server = new (Server as Constructor)(
    { name: "ngraph", version: VERSION },
    { capabilities: { tools: {} } },
  ) as Server;
  // Before signals have handlers: nothing may read standard error.
  context.output.note(`serving ${served.map(({ table }) => table.name).join(", ")} on standard input and output`);
  const isAborted = await withInterruption(async (signal) => {
    server.setRequestHandler(types["ListToolsRequestSchema"], () => ({
      tools: tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    }));
    const calls = new Set<Promise<object>>();
    server.setRequestHandler(types["CallToolRequestSchema"], (request, { signal: cancelled }) => {
      const call = callTool(tools, request.params, cancelled, served).finally(() => calls.delete(call));
      calls.add(call);
      return call;
    });
    const requests = boundedLines();
    const ended = new Promise<void>((resolve, reject) => {
      requests.once("error", reject);
      requests.once("end", resolve);
      requests.once("close", resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await server.connect(new (StdioServerTransport as Constructor)(requests, protocol));
    process.stdin.pipe(requests);
    await ended;
    // Aborts the signals of all requests. Each run stores what has ended before it stops.
    await server.close();
    await Promise.all(calls);
    return signal.aborted;
  });
  for (const { session } of served) await session.close();
  return isAborted ? EXIT.interrupted : EXIT.ok;
}

/** The stream of the protocol. Other writes to standard output, as those of user code, go to standard error. */
function takeStdout(): Writable {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = ((...args: Parameters<typeof process.stderr.write>) =>
    process.stderr.write(...args)) as typeof process.stdout.write;
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => void write(escapeJson(chunk), () => done()),
  });
  // Each answer that waits for a full pipe has a listener.
  return stream.setMaxListeners(0);
}

/** Passes lines on. The package of the protocol collects a line without a limit. */
function boundedLines(): Transform {
  let length = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const end = chunk.lastIndexOf(0x0a);
      length = end === -1 ? length + chunk.length : chunk.length - end - 1;
      if (length > MAX_REQUEST_BYTES) {
        done(new CommandError(`a request on standard input has more than ${MAX_REQUEST_BYTES} bytes`));
      } else done(null, chunk);
    },
  });
}

const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

async function callTool(
  tools: readonly ToolOfServer[],
  { name, arguments: args = {} }: ToolRequest["params"],
  signal: AbortSignal,
  served: readonly Served[],
): Promise<object> {
  let answer: ToolAnswer;
  try {
    const tool = tools.find((each) => each.name === name);
    if (tool === undefined) throw new Error(`there is no tool \`${name}\``);
    answer = await tool.call(args, signal);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const shown = served.reduce((text, { session }) => session.redact(text), message);
    return { content: [{ type: "text", text: shown }], isError: true };
  }
  const { document, isError } = answer;
  return {
    content: [{ type: "text", text: JSON.stringify(document) }],
    structuredContent: document,
    ...(isError ? { isError: true } : {}),
  };
}

function graphTool(
  { table, engine, session }: Served,
  { pauseBefore, pauseAfter, config }: ExecutionOptions,
): ToolOfServer {
  const options = {
    ...session.runOptions,
    ...parseConfig(config, table),
    ...(pauseBefore === undefined ? {} : { pauseBefore }),
    ...(pauseAfter === undefined ? {} : { pauseAfter }),
  };
  const inputs = table.channels.filter(({ role }) => role === "input");
  const fields = inputs.map(({ name, type, initial }) =>
    initial === undefined ? { name, type } : { name, type, optional: true as const },
  );
  const { types } = table;
  return {
    name: table.name,
    description: table.debug?.doc ?? `Runs the graph ${table.name}.`,
    inputSchema: schemaOf({ type: { kind: "record", fields }, types }),
    call: async (args, signal) => {
      const thread = crypto.randomUUID();
      return answerOf(await engine.run(args, { ...options, thread, signal }), thread);
    },
  };
}

const THREAD = { type: "string", description: "The thread of the run" };

function resumeTool(served: readonly Served[], context: Context): ToolOfServer {
  return {
    name: "resume",
    description: "Continues a run that is paused, was interrupted or has failed.",
    inputSchema: {
      type: "object",
      properties: {
        thread: THREAD,
        answer: { description: "The answer, if one pause waits" },
        answers: { type: "object", description: "Answers by the ids of the pauses" },
      },
      required: ["thread"],
    },
    call: async ({ thread, answer, answers }, signal) => {
      const id = String(thread);
      const { engine } = await graphOf(id, served, context);
      const given = {
        ...(answer === undefined ? {} : { answer }),
        ...(answers === undefined ? {} : { answers: answers as Readonly<Record<string, Json>> }),
      };
      const result = await engine.resume(id, { signal, ...given });
      return answerOf(result, id);
    },
  };
}

function stateTool(served: readonly Served[], context: Context): ToolOfServer {
  return {
    name: "state",
    description: "The status, the values and the open questions of a run.",
    inputSchema: { type: "object", properties: { thread: THREAD }, required: ["thread"] },
    call: async ({ thread }) => {
      const { head } = await graphOf(String(thread), served, context);
      const { status, values, pauses, failure } = head;
      const error = failure === undefined ? null : { code: failure.code, message: failure.message };
      return { document: { status, thread: head.threadId, values, pauses: pauses.map(shown), error }, isError: false };
    },
  };
}

/** The newest checkpoint of a thread, and its graph. */
async function graphOf(thread: string, served: readonly Served[], { store }: Context) {
  const head = await store.store.loadLatest(thread);
  if (head === undefined) throw new Error(`there is no thread \`${thread}\``);
  const name = head.graph ?? String(head.metadata["graph"]);
  const graph = served.find(({ table }) => table.name === name);
  if (graph === undefined)
    throw new Error(`thread \`${thread}\` belongs to the graph \`${name}\`, which is not served`);
  return { ...graph, head };
}

function answerOf({ status, output, pauses, error }: RunResult, thread: string): ToolAnswer {
  const failure = error === null ? null : { code: error.code, message: error.message };
  const document = { status, thread, output, pauses: pauses.map(shown), error: failure };
  return { document, isError: status === "failed" };
}

function shown({ id, node, kind, payload, due }: PauseItem): object {
  return { id, node, kind, payload, ...(due === undefined ? {} : { due }) };
}
