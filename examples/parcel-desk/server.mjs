/** An MCP server with the orders of a shop, over standard input and output. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const orders = new Map([
  ["B-1", { state: "sent", carrier: "north" }],
  ["B-2", { state: "lost", carrier: "south" }],
]);

const inputSchema = { type: "object", properties: { order: { type: "string" } }, required: ["order"] };
const tools = [
  {
    name: "find_order",
    description: "Finds the parcel of an order.",
    inputSchema,
    outputSchema: {
      type: "object",
      properties: { state: { enum: ["packed", "sent", "lost", "unknown"] }, carrier: { type: "string" } },
      required: ["state"],
    },
  },
  { name: "send_again", description: "Sends the goods of a lost parcel again.", inputSchema },
];

const server = new Server({ name: "shop", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const order = String(params.arguments?.order);
  const found = orders.get(order) ?? { state: "unknown" };
  if (params.name === "find_order") {
    return { content: [{ type: "text", text: JSON.stringify(found) }], structuredContent: found };
  }
  if (found.state !== "lost") return { isError: true, content: [{ type: "text", text: `${order} is not lost` }] };
  return { content: [{ type: "text", text: `${order} is sent again` }] };
});
await server.connect(new StdioServerTransport());
