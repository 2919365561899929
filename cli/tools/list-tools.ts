/** Reads the tools of an MCP server for a lock file. */
import { findSimilar, listNames } from "../../diagnostics/similar.ts";
import type { LockedTool } from "../../compiler/load/tool-lock.ts";
import { hostsOf } from "../../runtime/table/effect-hosts.ts";
import type { Effect } from "../../runtime/table/effects.ts";
import { admitJson, Mismatch } from "../../runtime/value/validate.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { Load } from "../../stdlib/llm/sdk.ts";
import { McpServers, type McpTool } from "../../stdlib/mcp/servers.ts";
import type { ServerSettings } from "../../stdlib/mcp/server-settings.ts";

export interface ListOptions {
  readonly load: Load;
  readonly allow: readonly Effect[] | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds for a server to start and to list its tools. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

export type ServerTools =
  | { readonly tools: Readonly<Record<string, LockedTool>>; readonly problem?: string }
  | { readonly tools?: undefined; readonly problem: string };

/** Shorter values occur in other words. */
const SHORTEST_SECRET = 4;

/** The tools of a server. Secrets that its settings name are replaced in all texts. Never throws for what a server does. */
export async function listTools(name: string, settings: ServerSettings, options: ListOptions): Promise<ServerTools> {
  const { load, allow, environment, timeout, signal } = options;
  const used = new Set<string>();
  const secrets = (secret: string): string | undefined => {
    const value = Object.hasOwn(environment, secret) ? environment[secret] : undefined;
    if (value !== undefined && value.length >= SHORTEST_SECRET) used.add(value);
    return value;
  };
  const hide = (text: string): string => [...used].reduce((all, secret) => all.replaceAll(secret, "***"), text);
  const allowsCommands = allow === undefined || allow.includes("shell");
  const servers = new McpServers({ servers: { [name]: settings }, secrets, allowsCommands, load });
  const late = new Error(`it has not listed its tools within ${timeout / 1000} s`);
  try {
    const context = { allowedHosts: hostsOf(allow) };
    const tools = await within(timeout, late, signal, servers.tools(name, context));
    const locked = lockTools(tools, hide);
    if (typeof locked === "string") return { problem: locked };
    const problem = unknownApproval(settings, Object.keys(locked));
    return problem === undefined ? { tools: locked } : { tools: locked, problem };
  } catch (error) {
    return { problem: hide(describe(error)) };
  } finally {
    await servers.close();
  }
}

/** Rejects when the time is over or the signal aborts, whatever the work does. */
function within<T>(milliseconds: number, late: Error, signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    const timer = setTimeout(() => reject(late), milliseconds);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    });
  });
}

/** A message in one line. The SDK reports an answer of a wrong shape as a list of issues in JSON. */
function describe(error: unknown): string {
  const [issue] =
    (error as { readonly issues?: readonly { readonly path?: unknown[]; readonly message?: string }[] }).issues ?? [];
  if (issue !== undefined) return `it does not list its tools: \`${(issue.path ?? []).join(".")}\`: ${issue.message}`;
  return error instanceof Error ? error.message : String(error);
}

/** The tools by name, or why they cannot be written. */
function lockTools(tools: readonly McpTool[], hide: (text: string) => string): Record<string, LockedTool> | string {
  const locked = new Map<string, LockedTool>();
  for (const { name, description, inputSchema, outputSchema } of tools) {
    const value = admitJson({
      ...(description === undefined ? {} : { description }),
      inputSchema,
      ...(outputSchema === undefined ? {} : { outputSchema }),
    });
    if (value instanceof Mismatch)
      return `the schema of its tool ${JSON.stringify(name)} is not JSON: ${value.describe()}`;
    const key = hide(name);
    if (locked.has(key)) return `it has two tools with the name ${JSON.stringify(key)}`;
    locked.set(key, hideIn(value, hide) as unknown as LockedTool);
  }
  return Object.fromEntries(locked);
}

function hideIn(value: Json, hide: (text: string) => string): Json {
  if (typeof value === "string") return hide(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => hideIn(item, hide));
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [hide(key), hideIn(field, hide)]));
}

/** A name in `approve` that no tool has: calls of the tool that was meant would need no approval. */
function unknownApproval({ approve }: ServerSettings, tools: readonly string[]): string | undefined {
  const unknown = Array.isArray(approve)
    ? (approve as readonly string[]).find((name) => !tools.includes(name))
    : undefined;
  if (unknown === undefined) return undefined;
  const similar = findSimilar(unknown, tools);
  const help = similar === undefined ? `it has ${listNames(tools)}` : `did you mean \`${similar}\`?`;
  return `\`approve\` names the tool \`${unknown}\`, which it does not have: ${help}`;
}
