import { NgraphError } from "../../runtime/interface/errors.ts";
import type { BuiltinContext, Tool } from "../../runtime/interface/context.ts";
import { PauseSignal } from "../../runtime/step/pause-signal.ts";
import { admitJson, compileAdmit, Mismatch } from "../../runtime/value/validate.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { McpServers } from "../mcp/servers.ts";
import { NodeFailure } from "../node-failure.ts";
import { cut } from "../nodes/http.ts";
import { schemaOf } from "../type-schema.ts";
import type { ToolDescription } from "./call-model.ts";
import type { Message, ToolCall } from "./messages.ts";

/** A tool that a model may call: an imported function, a graph, or a tool of an MCP server. */
export interface ModelTool extends ToolDescription {
  readonly needsApproval: boolean;
  /** The arguments for `call`, or why they do not fit. */
  readArguments(given: Json): readonly (Json | undefined)[] | Mismatch;
  /** @param key of the call within the task */
  call(args: readonly (Json | undefined)[], key: string): unknown;
}

/** An imported function or a graph as a tool. */
export function functionTool(tool: Tool): ModelTool {
  const { name, description = "", parameters, types, needsApproval } = tool;
  const type = { kind: "record", fields: parameters } as const;
  const names = parameters.map((parameter) => parameter.name);
  const expected = names.length === 0 ? "no arguments" : `no arguments but ${listNames(names)}`;
  return {
    name,
    description,
    schema: schemaOf({ type, types }),
    needsApproval,
    readArguments: (given) => {
      const admitted = compileAdmit(type, types)(given);
      if (admitted instanceof Mismatch) return admitted;
      const fields = admitted as { readonly [name: string]: Json };
      const unknown = Object.keys(fields).filter((field) => !names.includes(field));
      // A model that misspells an optional argument would get a result for other arguments.
      if (unknown.length > 0) return new Mismatch(expected, `also ${listNames(unknown)}`);
      return parameters.map((parameter) =>
        Object.hasOwn(fields, parameter.name) ? fields[parameter.name] : undefined,
      );
    },
    call: (args, key) => tool.call(args, key),
  };
}

function listNames(names: readonly string[]): string {
  return names.map((name) => `\`${cut(name, 80)}\``).join(", ");
}

/**
 * Tools of MCP servers. Their names begin with the name of the server. The servers validate the arguments.
 *
 * @param names `server`, or `server/tool` for one of its tools
 */
export async function mcpTools(
  names: readonly string[],
  servers: McpServers,
  context: BuiltinContext,
): Promise<readonly ModelTool[]> {
  const lists = await Promise.all(
    names.map(async (each) => {
      const [server = "", only] = each.split("/", 2);
      const { approve = [] } = servers.settingsOf(server);
      const tools = (await servers.tools(server, context)).filter(({ name }) => only === undefined || name === only);
      if (only !== undefined && tools.length === 0) {
        throw new NodeFailure(`the MCP server \`${server}\` has no tool \`${only}\``, { retryable: false });
      }
      return tools.map((tool): ModelTool => ({
        name: `${server}_${tool.name}`.replace(/[^\w-]/g, "_").slice(0, 64),
        description: tool.description ?? "",
        schema: tool.inputSchema,
        needsApproval: approve === true || approve.includes(tool.name),
        readArguments: (given) => {
          const admitted = compileAdmit({ kind: "map", value: { kind: "json" } })(given);
          return admitted instanceof Mismatch ? admitted : [admitted];
        },
        call: async ([args], key) => {
          const { text, value } = await servers.call(
            server,
            tool.name,
            args as { readonly [name: string]: Json },
            context,
            key,
          );
          return value ?? text;
        },
      }));
    }),
  );
  return lists.flat();
}

/**
 * Makes a tool call of the model. The message with its result is stored before the promise resolves, so a run that
 * continues after a crash does not repeat the call. A failure of the tool is an answer for the model, too.
 *
 * @param key of the call within the task
 * @throws PauseSignal while the call waits for the approval of a person
 */
export async function callTool(
  call: ToolCall,
  key: string,
  tools: readonly ModelTool[],
  context: BuiltinContext,
): Promise<Message> {
  const answer = (content: string, failed = false): Message => ({
    role: "tool",
    content,
    toolCallId: call.id,
    toolName: call.name,
    ...(failed ? { failed: true } : {}),
  });
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) {
    return answer(
      `There is no tool ${JSON.stringify(call.name)}. Tools: ${tools.map(({ name }) => name).join(", ")}.`,
      true,
    );
  }
  const args = tool.readArguments(call.arguments);
  if (args instanceof Mismatch) return answer(`The arguments do not fit: ${args.describe()}`, true);
  if (tool.needsApproval && !isApproved(call, context)) return answer("A person has denied this call.", true);
  const work = async (): Promise<Json> => {
    context.emit({ id: call.id, name: call.name, arguments: call.arguments }, { kind: "tool" });
    try {
      const result = admitJson((await tool.call(args, key)) ?? null);
      if (result instanceof Mismatch) return { failed: true, content: `The result is not JSON: ${result.describe()}` };
      return { failed: false, content: typeof result === "string" ? result : JSON.stringify(result) };
    } catch (error) {
      if (error instanceof PauseSignal || error instanceof NgraphError || context.signal.aborted) throw error;
      return { failed: true, content: context.redact(error instanceof Error ? error.message : String(error)) };
    }
  };
  const done = (await (context.once === undefined ? work() : context.once(key, work))) as {
    readonly failed: boolean;
    readonly content: string;
  };
  return answer(done.content, done.failed);
}

function isApproved({ name, arguments: given }: ToolCall, context: BuiltinContext): boolean {
  const payload = {
    question: `Allow the call of \`${name}\`?`,
    choices: ["approve", "deny"],
    tool: name,
    arguments: given,
  };
  const members = ["approve", "deny"].map((value) => ({ kind: "literal", value }) as const);
  return context.interrupt<string>(payload, { expects: { type: { kind: "union", members }, types: [] } }) === "approve";
}
