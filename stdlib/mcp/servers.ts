import type { BuiltinContext } from "../../runtime/interface/context.ts";
import { admitJson, Mismatch } from "../../runtime/value/validate.ts";
import type { Json } from "../../runtime/value/json.ts";
import { fromEnvironment } from "../from-environment.ts";
import { boundedFetch } from "../http/bounded-fetch.ts";
import { readHosts } from "../http/hosts.ts";
import { importPackage, loadPackage, type Load } from "../llm/sdk.ts";
import { NodeFailure } from "../node-failure.ts";
import { watchChild, type ChildProcess } from "../shell/live-processes.ts";
import { hasCredentials, type ServerSettings } from "./server-settings.ts";

/** The parts of `@modelcontextprotocol/sdk`, an optional peer, that are used. */
interface Client {
  connect(transport: object): Promise<void>;
  listTools(params: {
    readonly cursor?: string;
  }): Promise<{ readonly tools: readonly McpTool[]; readonly nextCursor?: string }>;
  callTool(
    params: {
      readonly name: string;
      readonly arguments: { readonly [name: string]: Json };
      readonly _meta: { readonly [KEY_FIELD]: string };
    },
    schema: undefined,
    options: { readonly signal: AbortSignal; readonly timeout: number },
  ): Promise<CallResult>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
}

/** What is used of the SDK's transport over standard streams, beside its interface. */
interface StdioTransport {
  start(): Promise<void>;
  readonly _process?: ChildProcess & { readonly stdout?: { destroy(): void } | null };
}

/** What is used of the SDK's transport over HTTP, beside its interface. */
interface HttpTransport {
  close(): Promise<void>;
  /** Does nothing without a session. */
  terminateSession(): Promise<void>;
}

/**
 * The field of a request's `_meta` with the idempotency key of the call: equal when a process has died before the result was stored, so
 * that a server can recognise a call that it has already made.
 */
const KEY_FIELD = "ngraph/idempotencyKey";

interface CallResult {
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** A tool as its server describes it. */
export interface McpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: object;
  readonly outputSchema?: object;
}

export interface McpOptions {
  readonly servers: Readonly<Record<string, ServerSettings>>;
  /** Returns the value of a secret that settings name with `${NAME}`. Default: environment variables. */
  readonly secrets?: (name: string) => string | undefined;
  /** `false` refuses to start the processes of servers with a `command`. */
  readonly allowsCommands?: boolean;
  /** Imports the package of the protocol. Default: `import()`. */
  readonly load?: Load;
}

/** The result of a tool: its structured content, or its text. */
export interface ToolResult {
  readonly text: string;
  /** Absent for a result that is only text. */
  readonly value?: Json;
}

/** Node's timers hold 31 bits. The policy `timeout` of the node limits the time of a call. */
const LONGEST_CALL = 2 ** 31 - 1;

const CONNECTION_CLOSED = -32000;

/** Milliseconds that a server has to end a session. */
const SESSION_END = 2000;

/** The most bytes of a message: results are stored in checkpoints. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

/** A server whose list of tools does not end is refused. */
const MAX_TOOLS = 10_000;

/** Connections to MCP servers. A server is started when it is first needed, and all are ended by `close`. */
export class McpServers {
  readonly #options: McpOptions;
  readonly #clients = new Map<string, Promise<Client>>();
  /** Also those whose server has not answered yet. */
  readonly #open = new Set<Client>();
  /** How often the servers were closed. A connection whose package was loaded meanwhile is not made. */
  #closings = 0;
  /** The last problem of a connection. */
  readonly #problems = new WeakMap<Client, string>();

  constructor(options: McpOptions) {
    this.#options = options;
  }

  /** The settings of a server. @throws NodeFailure for an unknown server */
  settingsOf(name: string): ServerSettings {
    const { servers } = this.#options;
    const settings = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (settings !== undefined) return settings;
    const known = Object.keys(servers).join(", ") || "none";
    throw new NodeFailure(`there is no MCP server ${JSON.stringify(name)} (known servers: ${known})`, {
      retryable: false,
    });
  }

  /** All tools of a server. */
  async tools(name: string, context?: Pick<BuiltinContext, "allowedHosts">): Promise<readonly McpTool[]> {
    return this.#inSession(name, context, async (client) => {
      const all: McpTool[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.listTools(cursor === undefined ? {} : { cursor });
        all.push(...page.tools);
        cursor = page.nextCursor;
        if (all.length > MAX_TOOLS) {
          throw new NodeFailure(`the MCP server \`${name}\` has more than ${MAX_TOOLS} tools`, { retryable: false });
        }
        if (page.tools.length === 0) break;
      } while (cursor !== undefined);
      return all;
    });
  }

  /**
   * Calls a tool.
   *
   * @param key of the call within the task, if the task makes several
   * @throws NodeFailure if the server cannot be reached, or if the tool reports an error
   */
  async call(
    server: string,
    name: string,
    args: { readonly [name: string]: Json },
    context: Pick<BuiltinContext, "signal" | "redact" | "allowedHosts" | "idempotencyKey">,
    key?: string,
  ): Promise<ToolResult> {
    const what = `the tool \`${name}\` of the MCP server \`${server}\``;
    const options = { signal: context.signal, timeout: LONGEST_CALL };
    let client: Client | undefined;
    let result: CallResult;
    try {
      const own = key === undefined ? context.idempotencyKey : `${context.idempotencyKey}/${key}`;
      const request = { name, arguments: args, _meta: { [KEY_FIELD]: own } } as const;
      result = await this.#inSession(server, context, (connected) => {
        client = connected;
        return connected.callTool(request, undefined, options);
      });
    } catch (error) {
      if (client === undefined || error instanceof NodeFailure) throw error;
      if (context.signal.aborted) throw context.signal.reason;
      // The codes of invalid requests in JSON-RPC: the same call fails again.
      const code = (error as { readonly code?: unknown }).code;
      const retryable = !(code === -32600 || code === -32601 || code === -32602);
      const problem = code === CONNECTION_CLOSED ? this.#problems.get(client) : undefined;
      const reason = problem === undefined ? messageOf(error) : `${messageOf(error)}: ${problem}`;
      throw new NodeFailure(`${what} failed: ${context.redact(reason)}`, { retryable, cause: error });
    }
    const text = (result.content ?? []).flatMap((part) => (part.type === "text" ? [part.text ?? ""] : [])).join("\n");
    if (result.isError === true) {
      const error = new NodeFailure(`${what} reports an error: ${context.redact(text)}`);
      error.name = "ToolError";
      throw error;
    }
    const rest = (result.content ?? []).some(({ type }) => type !== "text") ? result.content : undefined;
    const value = admitJson(result.structuredContent ?? rest ?? null);
    if (value instanceof Mismatch) throw new NodeFailure(`${what} returned no JSON: ${value.describe()}`);
    return result.structuredContent === undefined && rest === undefined ? { text } : { text, value };
  }

  /** Ends all servers and connections. */
  async close(): Promise<void> {
    const pending = [...this.#clients.values()];
    this.#clients.clear();
    this.#closings++;
    await Promise.allSettled([...this.#open].map((client) => client.close()));
    await Promise.allSettled(pending);
  }

  /**
   * Uses the connection to a server. A session that the server no longer has, as after its restart, is replaced by a new one. The server has refused
   * the request, so that it is sent again.
   */
  async #inSession<T>(
    name: string,
    context: Pick<BuiltinContext, "allowedHosts"> | undefined,
    use: (client: Client) => Promise<T>,
  ): Promise<T> {
    const connected = this.#clientOf(name, context);
    const client = await connected;
    try {
      return await use(client);
    } catch (error) {
      if (!isLostSession(error)) throw error;
      if (this.#clients.get(name) === connected) this.#clients.delete(name);
      void client.close().catch(() => undefined);
      return await use(await this.#clientOf(name, context));
    }
  }

  #clientOf(name: string, context: Pick<BuiltinContext, "allowedHosts"> | undefined): Promise<Client> {
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    const settings = this.settingsOf(name);
    this.#refuse(name, settings, context);
    // The next call starts a server that has ended.
    const forget = (): void => {
      if (this.#clients.get(name) === connected) this.#clients.delete(name);
    };
    const connected = this.#connect(name, settings, forget);
    this.#clients.set(name, connected);
    connected.catch(forget);
    return connected;
  }

  #refuse(name: string, settings: ServerSettings, context: Pick<BuiltinContext, "allowedHosts"> | undefined): void {
    const refuse = (effect: string): NodeFailure =>
      new NodeFailure(`the MCP server \`${name}\` is not allowed: \`allow\` does not name \`${effect}\``, {
        retryable: false,
      });
    if ("command" in settings) {
      if (this.#options.allowsCommands === false) throw refuse("shell");
    } else if (context?.allowedHosts !== undefined) {
      const url = new URL(settings.url);
      if (!readHosts(context.allowedHosts)(url)) throw refuse(`net:${url.host}`);
    }
  }

  async #connect(name: string, settings: ServerSettings, onEnd: () => void): Promise<Client> {
    const load = this.#options.load ?? importPackage;
    const closings = this.#closings;
    const get = async (path: string, name: string): Promise<new (...args: readonly unknown[]) => object> => {
      const exports = await loadPackage(load, `@modelcontextprotocol/sdk/client/${path}.js`, "an MCP server");
      return (exports as Readonly<Record<string, new (...args: readonly unknown[]) => object>>)[name]!;
    };
    const Client = await get("index", "Client");
    const client = new Client({ name: "ngraph", version: "1" }) as Client;
    let transport: object;
    if ("command" in settings) {
      const [command, ...args] = settings.command;
      const Transport = await get("stdio", "StdioClientTransport");
      const { getDefaultEnvironment } = (await loadPackage(
        load,
        "@modelcontextprotocol/sdk/client/stdio.js",
        "an MCP server",
      )) as { getDefaultEnvironment(): Record<string, string> };
      const env = { ...getDefaultEnvironment(), ...this.#withSecrets(name, settings.env) };
      const cwd = settings.cwd === undefined ? {} : { cwd: settings.cwd };
      // What a server prints on its standard error is not part of a result.
      const parameters = { command, args, env, stderr: "ignore", maxBufferSize: MAX_MESSAGE_BYTES, ...cwd };
      transport = endedWithThisProcess(new Transport(parameters) as StdioTransport);
    } else {
      if (hasCredentials(settings.url)) {
        const message = `the address of the MCP server \`${name}\` has a user or a password: send them in \`headers\``;
        throw new NodeFailure(message, { retryable: false });
      }
      const Transport = await get("streamableHttp", "StreamableHTTPClientTransport");
      const headers = this.#withSecrets(name, settings.headers);
      const tooLarge = (): Error => new Error(`the response is larger than ${MAX_MESSAGE_BYTES / 1024 / 1024} MiB`);
      const bounded = boundedFetch(MAX_MESSAGE_BYTES, tooLarge);
      const parameters = {
        requestInit: { headers },
        // The stream of a GET request has all messages of the session.
        fetch: (url: string | URL, init?: RequestInit) => (init?.method === "POST" ? bounded : fetch)(url, init),
      };
      transport = endedAtServer(new Transport(new URL(settings.url), parameters) as HttpTransport);
    }
    // Why the connection has ended: the call that it ends has only "Connection closed" as its error.
    const onerror = (error: Error): void => {
      // The message of a syntax error has a part of what the server has printed.
      const problem = error instanceof SyntaxError ? "the server prints text that is no message" : messageOf(error);
      this.#problems.set(client, problem);
      // The transport waits for the end of the process, and reads on. A process below it may print without end.
      if (error.message.startsWith("ReadBuffer exceeded")) (transport as StdioTransport)._process?.stdout?.destroy();
    };
    Object.assign(client, { onerror });
    if (closings !== this.#closings) throw new NodeFailure(`the connection to the MCP server \`${name}\` was closed`);
    this.#open.add(client);
    try {
      await client.connect(transport);
    } catch (error) {
      this.#open.delete(client);
      await client.close().catch(() => undefined);
      const problem = this.#problems.get(client);
      const message = messageOf(error);
      const reason = problem === undefined || problem === message ? message : `${message}: ${problem}`;
      throw new NodeFailure(`the MCP server \`${name}\` cannot be reached: ${reason}`, { cause: error });
    }
    const onclose = (): void => {
      this.#open.delete(client);
      onEnd();
    };
    return Object.assign(client, { onclose });
  }

  #withSecrets(server: string, texts: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { secrets = fromEnvironment } = this.#options;
    return Object.fromEntries(
      Object.entries(texts).map(([name, text]) => [
        name,
        text.replace(/\$\{(\w+)\}/g, (_, secret: string) => {
          const value = secrets(secret);
          if (value !== undefined && value !== "") return value;
          const message = `the MCP server \`${server}\` needs the secret ${secret}: set the environment variable ${secret}`;
          throw new NodeFailure(message, { retryable: false });
        }),
      ]),
    );
  }
}

/** A server that ignores the end of its input would outlive a process that ends at once, as on a second Ctrl-C. */
function endedWithThisProcess(transport: StdioTransport): StdioTransport {
  const start = transport.start.bind(transport);
  return Object.assign(transport, {
    start: () => {
      const started = start();
      if (transport._process !== undefined) watchChild(transport._process);
      return started;
    },
  });
}

/** A server keeps a session until its client ends it. A server that does not answer delays the end for a short time only. */
function endedAtServer(transport: HttpTransport): HttpTransport {
  const close = transport.close.bind(transport);
  return Object.assign(transport, {
    close: async () => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<void>((resolve) => void (timer = setTimeout(resolve, SESSION_END)));
      await Promise.race([transport.terminateSession().catch(() => undefined), late]);
      clearTimeout(timer);
      await close();
    },
  });
}

/** The protocol has status 404 for a session that the server does not have. Many servers answer 400, and say so. */
function isLostSession(error: unknown): boolean {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  // An error that the server has answered with has any code.
  if (name === "McpError") return false;
  return code === 404 || (code === 400 && /session|not initialized/i.test(messageOf(error)));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
