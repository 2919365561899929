import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { McpServers } from "../mcp/servers.ts";
import { NodeFailure } from "../node-failure.ts";

/**
 * Makes the `tool` node: `tool(server, name, arguments?)` calls a tool of an MCP server. The result is the structured
 * content of the tool. A result that is only text is the text for a channel of type string, and otherwise the JSON value of
 * the text. An error of the tool fails the node (`ToolError`).
 * @example const servers = new McpServers({ servers: { docs: { url: "https://example.com/mcp" } } });
 * const engine = createEngine(table, { builtins: { ...builtinNodes, tool: createTool(servers) } });
 */
export function createTool(servers: McpServers): BuiltinNode {
  return async ({ server, name, arguments: args = {} }, context) => {
    if (typeof args !== "object" || args === null || Array.isArray(args)) {
      throw new NodeFailure("`arguments` of `tool` is a record", { retryable: false });
    }
    const given = args as { readonly [name: string]: Json };
    const { text, value } = await servers.call(String(server), String(name), given, context);
    const type = context.expects?.type;
    if (type === undefined || type.kind === "string") return text === "" && value !== undefined ? value : text;
    if (value !== undefined) return value;
    try {
      return JSON.parse(text) as Json;
    } catch {
      // The engine reports a text that the channel does not accept.
      return text;
    }
  };
}
