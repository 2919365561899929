/** A local server that speaks the protocols of OpenAI (chat completions) and Anthropic (messages), with scripted replies. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelReply {
  readonly text?: string;
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  /** OpenAI: text of a refusal. Anthropic: `stop_reason` is `refusal`. */
  readonly refusal?: string;
  readonly isTooLong?: boolean;
  readonly usage?: { readonly input: number; readonly output: number; readonly cost?: number };
  /** An error response instead of an answer. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The stream ends after the first part of the text: with the connection, or as if it were complete. */
  readonly cut?: "connection" | "end";
}

export interface ModelServerRequest {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: { readonly [name: string]: unknown; readonly messages: readonly unknown[] };
}

export interface ModelServer {
  /** Base addresses for the settings of models. */
  readonly openai: string;
  readonly anthropic: string;
  readonly requests: ModelServerRequest[];
  close(): Promise<void>;
}

/** Starts a server that answers each request with what `reply` returns. */
export async function startModelServer(reply: (request: ModelServerRequest) => ModelReply): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  const server = createServer((incoming, response) => {
    let text = "";
    incoming.on("data", (chunk) => (text += chunk));
    incoming.on("end", () => {
      const request: ModelServerRequest = {
        path: incoming.url ?? "",
        headers: incoming.headers,
        body: JSON.parse(text),
      };
      requests.push(request);
      const answer = reply(request);
      if (answer.status !== undefined) {
        response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
        response.end(answer.body ?? "");
      } else if (request.path.endsWith("/chat/completions")) {
        answerOpenAI(answer, request, response);
      } else {
        answerAnthropic(answer, response);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    openai: `${origin}/openai/v1`,
    anthropic: `${origin}/anthropic/v1`,
    requests,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function answerOpenAI(reply: ModelReply, { body }: ModelServerRequest, response: ServerResponse): void {
  const { text = "", toolCalls = [], refusal, usage = { input: 10, output: 5 } } = reply;
  const head = { id: "chatcmpl-1", created: 1, model: body["model"] };
  const tool_calls = toolCalls.map(({ id, name, arguments: value }, index) => ({
    index,
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(value) },
  }));
  const finish_reason = reply.isTooLong === true ? "length" : toolCalls.length > 0 ? "tool_calls" : "stop";
  const used = {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    ...(usage.cost === undefined ? {} : { cost: usage.cost }),
  };
  if (body["stream"] !== true) {
    const message = {
      role: "assistant",
      content: text === "" ? null : text,
      ...(refusal === undefined ? {} : { refusal }),
      ...(tool_calls.length === 0 ? {} : { tool_calls }),
    };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...head, choices: [{ index: 0, message, finish_reason }], usage: used }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (choice: object, more: object = {}): void => {
    const chunk = { ...head, object: "chat.completion.chunk", choices: [{ index: 0, ...choice }], ...more };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const parts = partsOf(text);
  send({ delta: { role: "assistant", content: parts[0] ?? "" } });
  if (cutStream(reply, response)) return;
  for (const content of parts.slice(1)) send({ delta: { content } });
  if (refusal !== undefined) send({ delta: { refusal } });
  if (tool_calls.length > 0) send({ delta: { tool_calls } });
  send({ delta: {}, finish_reason }, { usage: used });
  response.end("data: [DONE]\n\n");
}

function answerAnthropic(reply: ModelReply, response: ServerResponse): void {
  const { text = "", toolCalls = [], usage = { input: 10, output: 5 } } = reply;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (type: string, data: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "claude", content: [], stop_reason: null };
  send("message_start", {
    message: { ...message, stop_sequence: null, usage: { input_tokens: usage.input, output_tokens: 0 } },
  });
  let index = 0;
  if (text !== "") {
    send("content_block_start", { index, content_block: { type: "text", text: "" } });
    const parts = partsOf(text);
    send("content_block_delta", { index, delta: { type: "text_delta", text: parts[0] } });
    if (cutStream(reply, response)) return;
    for (const part of parts.slice(1))
      send("content_block_delta", { index, delta: { type: "text_delta", text: part } });
    send("content_block_stop", { index: index++ });
  }
  for (const { id, name, arguments: value } of toolCalls) {
    send("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } });
    const partial_json = JSON.stringify(value);
    send("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
    send("content_block_stop", { index: index++ });
  }
  const stop_reason =
    reply.refusal !== undefined
      ? "refusal"
      : reply.isTooLong === true
        ? "max_tokens"
        : toolCalls.length > 0
          ? "tool_use"
          : "end_turn";
  send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: usage.output } });
  send("message_stop", {});
  response.end();
}

/** Ends the stream early if the reply says so. */
function cutStream({ cut }: ModelReply, response: ServerResponse): boolean {
  if (cut === undefined) return false;
  // The first part must have left before the connection breaks.
  if (cut === "connection") setTimeout(() => response.destroy(), 20);
  else response.end();
  return true;
}

function partsOf(text: string): string[] {
  return text.match(/[^]{1,8}/g) ?? [];
}
