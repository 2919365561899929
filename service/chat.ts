/** Chats: turns of the AI SDK's user interface as runs and answers, and the events of a run as its message stream. */
import type { PauseItem } from "../runtime/interface/checkpoint.ts";
import type { ThreadState } from "../runtime/interface/engine-options.ts";
import type { Table } from "../runtime/table/table.ts";
import type { Json, JsonObject } from "../runtime/value/json.ts";
import { compileValidator } from "../runtime/value/validate.ts";
import { digestOf } from "./access.ts";
import { pauseDocument } from "./documents.ts";
import { parseEvents } from "./parse-events.ts";
import { Problem } from "./problem.ts";

/** What a message of a person does: it answers the question of a paused thread, or it is the input of a run. */
export type ChatTurn = { readonly answers: JsonObject } | { readonly input: JsonObject; readonly abandon: boolean };

/** @throws Problem `bad-field` for messages without a text, and for a graph without an input for it */
export function chatTurn(
  { messages, input: named }: Readonly<Record<string, Json>>,
  table: Table,
  state: Pick<ThreadState, "status" | "pauses"> | undefined,
): ChatTurn {
  const { name, channels } = table;
  const text = textOfLast(messages);
  if (text === undefined) {
    throw new Problem(
      "bad-field",
      "`messages` is a list whose last message has the role `user` and a part of type `text`",
    );
  }
  const question = state?.pauses.find(({ kind }) => kind === "interrupt");
  if (question !== undefined) return { answers: { [question.id]: answerOf(text, question) } };
  const inputs = channels.filter(({ role, type }) => role === "input" && type.kind === "string");
  const required = inputs.filter(({ initial }) => initial === undefined);
  const [only] = required.length === 1 ? required : inputs;
  const found = typeof named === "string" ? inputs.find((each) => each.name === named) : only;
  if (found !== undefined && (typeof named === "string" || required.length === 1 || inputs.length === 1))
    return { input: { [found.name]: text }, abandon: abandonsLast(state?.status, table) };
  const known = inputs.map((each) => each.name).join(", ");
  throw new Problem(
    "bad-field",
    inputs.length === 0
      ? `the graph \`${name}\` has no input of type string for the text of a chat`
      : `\`input\` names the input for the text of the chat: ${known}`,
  );
}

/**
 * A digest of the message that a request sends, by which a second request with it is recognized; `undefined` for a message without an
 * id, and for a person who asks for another answer. A message that was edited keeps its id, and has another text.
 */
export async function messageDigest({
  messages,
  trigger,
}: Readonly<Record<string, Json>>): Promise<string | undefined> {
  const id = Array.isArray(messages) ? recordOf(messages.at(-1))?.["id"] : undefined;
  const text = textOfLast(messages);
  if (typeof id !== "string" || id === "" || text === undefined || trigger === "regenerate-message") return undefined;
  return digestOf(JSON.stringify([id, text]));
}

/** The answer to a question in its own type: a text where it fits, and otherwise JSON where the text is. */
function answerOf(text: string, { expects }: PauseItem): Json {
  if (expects === undefined || compileValidator(expects.type, expects.types)(text) === undefined) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/**
 * Whether a message begins a new run although the last one has not finished: the messages of a chat resume no failed run. A
 * graph with undos keeps it, because a new run would drop them.
 */
function abandonsLast(status: ThreadState["status"] | undefined, table: Table): boolean {
  return (status === "failed" || status === "limit" || status === "cancelled") && !hasUndo(table);
}

function hasUndo({ nodes, graphs }: Table): boolean {
  return nodes.some(({ undo }) => undo !== undefined) || graphs.some(hasUndo);
}

function textOfLast(messages: Json | undefined): string | undefined {
  const last = Array.isArray(messages) ? recordOf(messages.at(-1)) : undefined;
  if (last?.["role"] !== "user" || !Array.isArray(last["parts"])) return undefined;
  const texts = last["parts"].flatMap((part: Json) => {
    const { type, text } = recordOf(part) ?? {};
    return type === "text" && typeof text === "string" ? [text] : [];
  });
  return texts.length === 0 ? undefined : texts.join("\n");
}

/** The answer of `run` or `resume` as a stream of events, in the protocol of the AI SDK (version 1 of UI message streams). */
export function chatResponse(events: Response): Response {
  const headers = new Headers(events.headers);
  headers.set("x-vercel-ai-ui-message-stream", "v1");
  const reader = (events.body as ReadableStream<Uint8Array>).getReader();
  const bytes = new ReadableStream<Uint8Array>({
    async pull(stream) {
      const { done, value } = await reader.read();
      if (done) stream.close();
      else stream.enqueue(value);
    },
  });
  const chunks = chunksOf(bytes);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(stream) {
      const next = await chunks.next();
      stream.enqueue(encoder.encode(`data: ${next.done === true ? "[DONE]" : JSON.stringify(next.value)}\n\n`));
      if (next.done === true) stream.close();
    },
    // At once: the generator itself would end with the next event only.
    cancel: () => reader.cancel(),
  });
  return new Response(body, { headers });
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<object, void> {
  yield { type: "start" };
  yield { type: "start-step" };
  let count = 0;
  let hasText = false;
  let isCut = false;
  let open: { readonly id: string; readonly source: string } | undefined;
  const text = function* (of: string): Generator<object> {
    const id = `text-${count++}`;
    yield { type: "text-start", id };
    yield { type: "text-delta", id, delta: of };
    yield { type: "text-end", id };
  };
  for await (const { type, data } of parseEvents(body)) {
    const token = type === "custom" && data["kind"] === "token" ? tokenOf(data["data"]) : undefined;
    if (token !== undefined) {
      const source = JSON.stringify([data["namespace"], data["node"], data["item"]]);
      if (open?.source !== source) {
        if (open !== undefined) yield { type: "text-end", id: open.id };
        open = { id: `text-${count++}`, source };
        yield { type: "text-start", id: open.id };
      }
      hasText = true;
      yield { type: "text-delta", id: open.id, delta: token };
      continue;
    }
    if (type === "dropped") {
      if (open !== undefined) yield { type: "text-end", id: open.id };
      open = undefined;
      isCut = true;
      yield { type: "data-dropped", data: { count: data["count"] ?? null } };
      continue;
    }
    if (type === "custom") {
      const { node, kind, data: value } = data;
      yield { type: "data-event", data: { node, value, ...(kind === undefined ? {} : { kind }) } };
    }
    const name: string = type;
    if (name !== "result" && name !== "problem") continue;
    if (open !== undefined) yield { type: "text-end", id: open.id };
    open = undefined;
    if (name === "problem") yield { type: "error", errorText: String(data["detail"]) };
    else yield* resultChunks(data, hasText && !isCut, text);
  }
  if (open !== undefined) yield { type: "text-end", id: open.id };
  yield { type: "finish-step" };
  yield { type: "finish" };
}

function* resultChunks(data: JsonObject, hasText: boolean, text: (of: string) => Generator<object>): Generator<object> {
  const { status, output, pauses, error, thread } = data;
  for (const pause of (pauses ?? []) as unknown as readonly ReturnType<typeof pauseDocument>[]) {
    const { payload } = pause as { payload?: Json };
    const question = recordOf(payload)?.["question"] ?? payload;
    if (typeof question === "string") yield* text(question);
    yield { type: "data-pause", data: pause };
  }
  // The text of a model is the answer. The outputs are if there is none, or if a part of it was dropped.
  if (status === "completed" && !hasText)
    for (const value of Object.values(recordOf(output) ?? {})) if (typeof value === "string") yield* text(value);
  yield { type: "data-result", data: { thread, status, output } };
  const failure = recordOf(error);
  if (failure !== undefined)
    yield { type: "error", errorText: `${String(failure["code"])}: ${String(failure["message"])}` };
}

/** The text of a token: of `llm`, or of an own node that emits texts. */
function tokenOf(data: Json | undefined): string | undefined {
  const value = recordOf(data)?.["text"] ?? data;
  return typeof value === "string" ? value : undefined;
}

function recordOf(value: Json | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}
