import { NgraphError } from "../../runtime/interface/errors.ts";
import type { BuiltinContext, Tool } from "../../runtime/interface/context.ts";
import { PauseSignal } from "../../runtime/step/pause-signal.ts";
import { admitJson, compileAdmit, Mismatch } from "../../runtime/value/validate.ts";
import type { Json } from "../../runtime/value/json.ts";
import { schemaOf } from "../type-schema.ts";
import type { ToolDescription } from "./call-model.ts";
import type { Message, ToolCall } from "./messages.ts";

/** A tool as its description for the model. */
export function describeTool({ name, description = "", parameters, types }: Tool): ToolDescription {
  const fields = parameters.map(({ name: field, type, optional }) => ({
    name: field,
    type,
    ...(optional === true ? { optional } : {}),
  }));
  return { name, description, schema: schemaOf({ type: { kind: "record", fields }, types }) };
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
  tools: readonly Tool[],
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
  const args = readArguments(call.arguments, tool);
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

/** The arguments by position. */
function readArguments(given: Json, { parameters, types }: Tool): readonly (Json | undefined)[] | Mismatch {
  const admitted = compileAdmit({ kind: "record", fields: parameters }, types)(given);
  if (admitted instanceof Mismatch) return admitted;
  const fields = admitted as { readonly [name: string]: Json };
  return parameters.map(({ name }) => (Object.hasOwn(fields, name) ? fields[name] : undefined));
}
