import type { Json } from "../../runtime/value/json.ts";
import { Mismatch } from "../../runtime/value/mismatch.ts";
import { compileAdmit } from "../../runtime/value/validate.ts";
import type { ExpectedType } from "../../runtime/interface/context.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import { NodeFailure } from "../node-failure.ts";
import type { SdkMessage } from "./sdk.ts";

/** A call of a tool in a message of the model. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

/** A message of a conversation, as channels hold it. The type of a channel may leave out all but `role` and `content`. */
export interface Message {
  readonly id?: string;
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  /** Of an `assistant` message. */
  readonly toolCalls?: readonly ToolCall[];
  /** Of a `tool` message: the call that it answers. */
  readonly toolCallId?: string;
  readonly toolName?: string;
  /** Of a `tool` message: the call has failed. */
  readonly failed?: true;
}

const ROLES = ["system", "user", "assistant", "tool"];

/**
 * Reads the argument `messages`.
 *
 * @throws NodeFailure for a value that is no message
 */
export function readMessages(value: Json | undefined): readonly Message[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new NodeFailure("`messages` of `llm` is a list of messages", { retryable: false });
  return value.map((item: Json, index) => {
    const message = item as unknown as Partial<Message> | null;
    const isMessage =
      typeof message === "object" && ROLES.includes(String(message?.role)) && typeof message?.content === "string";
    if (isMessage && (message.role !== "tool" || typeof message.toolCallId === "string")) return message as Message;
    throw new NodeFailure(
      `message ${index} of \`llm\` needs a \`role\` (${ROLES.join(", ")}) and a \`content\` that is a string; a \`tool\` message also needs \`toolCallId\``,
      { retryable: false },
    );
  });
}

export function toSdkMessage(message: Message): SdkMessage {
  const { role, content, toolCalls = [], toolCallId = "", toolName = "" } = message;
  switch (role) {
    case "system":
    case "user":
      return { role, content };
    case "assistant":
      return {
        role,
        content: [
          ...(content === "" && toolCalls.length > 0 ? [] : [{ type: "text" as const, text: content }]),
          ...toolCalls.map(({ id, name, arguments: input }) => ({
            type: "tool-call" as const,
            toolCallId: id,
            toolName: name,
            input,
          })),
        ],
      };
    case "tool": {
      const type = message.failed === true ? "error-text" : "text";
      return { role, content: [{ type: "tool-result", toolCallId, toolName, output: { type, value: content } }] };
    }
  }
}

/** The type of the messages of a list; `undefined` for a type that is not a list of messages. */
export function messageTypeOf(type: ValueType, types: ExpectedType["types"]): ValueType | undefined {
  const list = resolve(type, types);
  if (list?.kind !== "list") return undefined;
  const item = resolve(list.item, types);
  // A channel that merges by id also accepts removals.
  const candidates = item?.kind === "union" ? item.members.map((member) => resolve(member, types)) : [item];
  return candidates.find((each) => {
    if (each?.kind !== "record") return false;
    const content = each.fields.find(({ name }) => name === "content");
    const hasRole = each.fields.some(({ name }) => name === "role");
    return hasRole && content !== undefined && resolve(content.type, types)?.kind === "string";
  });
}

export function resolve(type: ValueType, types: ExpectedType["types"]): ValueType | undefined {
  let found: ValueType | undefined = type;
  for (let depth = 0; found?.kind === "ref" && depth <= types.length; depth++) {
    const { name }: { readonly name: string } = found;
    found = types.find((candidate) => candidate.name === name)?.type;
  }
  return found;
}

/** The messages with the fields that the type of the channel has. Messages that the type cannot hold are left out. */
export function fitMessages(messages: readonly Message[], item: ValueType, types: ExpectedType["types"]): Json[] {
  if (item.kind !== "record") return [];
  const names = new Set(item.fields.map(({ name }) => name));
  const admit = compileAdmit(item, types);
  return messages.flatMap((message) => {
    const fields = Object.entries(message).filter(([name]) => names.has(name));
    const admitted = admit(Object.fromEntries(fields));
    return admitted instanceof Mismatch ? [] : [admitted];
  });
}
