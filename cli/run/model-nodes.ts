import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Effect } from "../../runtime/table/effects.ts";
import type { LlmOptions } from "../../stdlib/nodes/llm.ts";
import { importOptional } from "./import-optional.ts";
import { namedSettings } from "./project-settings.ts";

/** Nodes that a run supplies, and what it closes when it ends. */
export interface ModelNodes {
  readonly nodes: Readonly<Record<string, BuiltinNode>>;
  /** Why a call of `llm` with a model (or without one) cannot succeed; `undefined` if it can. */
  problemOfModel(model: string | undefined): string | undefined;
  /** Ends the MCP servers that the nodes have started. */
  close(): Promise<void>;
}

/**
 * The nodes `llm` and `tool` with the `models` and `servers` of `ngraph.json`, and the model server that the environment names:
 * OPENAI_API_KEY, OPENAI_BASE_URL (any server with the chat completions API; default OpenAI's), NGRAPH_MODEL (for calls without a
 * `model`). A node without any of them is absent; the engine then refuses a graph that calls it before it starts.
 *
 * @param file the graph's file
 * @param allow the allowed effects; `undefined` for all
 * @throws CommandError for an `ngraph.json` that cannot be read
 */
export async function modelNodes(
  environment: Readonly<Record<string, string | undefined>>,
  file: string,
  allow: readonly Effect[] | undefined,
): Promise<ModelNodes> {
  const apiKey = environment["OPENAI_API_KEY"] || undefined;
  const baseUrl = environment["OPENAI_BASE_URL"] || undefined;
  const model = environment["NGRAPH_MODEL"] || undefined;
  const { models, servers: settings } = namedSettings(file);
  const hasServers = Object.keys(settings).length > 0;
  const hasModels = apiKey !== undefined || baseUrl !== undefined || Object.keys(models).length > 0;
  if (!hasServers && !hasModels) {
    // The engine refuses a graph whose nodes are absent.
    return { nodes: {}, problemOfModel: () => undefined, close: () => Promise.resolve() };
  }
  const [{ createLlm, problemOfModel }, { createTool }, { McpServers }] = await Promise.all([
    import("../../stdlib/nodes/llm.ts"),
    import("../../stdlib/nodes/tool.ts"),
    import("../../stdlib/mcp/servers.ts"),
  ]);
  const load = importOptional(file);
  const allowsCommands = allow === undefined || allow.includes("shell");
  const servers = new McpServers({ servers: settings, load, allowsCommands });
  const options: LlmOptions = {
    models,
    load,
    servers,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(model === undefined ? {} : { model }),
  };
  return {
    nodes: { ...(hasModels ? { llm: createLlm(options) } : {}), ...(hasServers ? { tool: createTool(servers) } : {}) },
    problemOfModel: (name) => (hasModels ? problemOfModel(name, options) : undefined),
    close: () => servers.close(),
  };
}
