import type { ExpectedType } from "../../runtime/interface/context.ts";
import type { Usage } from "../../runtime/interface/usage.ts";
import { admitJson, Mismatch } from "../../runtime/value/validate.ts";
import { isStrict } from "../type-schema.ts";
import { answerSchema } from "./answer.ts";
import { toSdkMessage, type Message, type ToolCall } from "./messages.ts";
import { ModelError, modelError } from "./model-error.ts";
import type { ModelSettings } from "./model-settings.ts";
import type { Sdk, SdkModel, SdkPart, SdkRequest, SdkUsage } from "./sdk.ts";

/** A tool as the model sees it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly schema: object;
}

/** One request to a model. */
export interface ModelRequest {
  readonly sdk: Sdk;
  readonly model: SdkModel;
  readonly settings: ModelSettings;
  readonly system: string | undefined;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDescription[];
  /** The type of the answer; `undefined` for text. */
  readonly expects: ExpectedType | undefined;
  readonly temperature: number | undefined;
  readonly maxTokens: number | undefined;
  readonly signal: AbortSignal;
  readonly redact: (text: string) => string;
  readonly onText: (text: string) => void;
  readonly onUsage: (usage: Usage) => void;
}

export interface ModelAnswer {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
}

/**
 * Sends one request. Usage is reported for answers that cannot be used, too: they have been paid for.
 *
 * @throws ModelError, and the reason of the signal if it aborts
 */
export async function callModel(request: ModelRequest): Promise<ModelAnswer> {
  const { sdk, settings, signal, redact } = request;
  const collected = new Collected();
  const what = `the model \`${settings.model}\``;
  try {
    await (settings.stream === false ? generate(request, collected) : stream(request, collected));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    request.onUsage(usageOf(collected.usage, settings));
    throw modelError(error, sdk, { what, provider: settings.provider, redact, hasBegun: collected.hasBegun });
  }
  request.onUsage(usageOf(collected.usage, settings));
  if (signal.aborted) throw signal.reason;
  const { text, finishReason, rawFinishReason } = collected;
  switch (finishReason) {
    case "content-filter":
      throw new ModelError("ModelRefusal", `${what} refused: ${text.trim() === "" ? "no reason given" : redact(text)}`);
    case "length":
      throw new ModelError(
        "ModelAnswerTooLong",
        `the answer of ${what} was cut off: raise \`maxTokens\` or ask for less`,
      );
    case "error":
    case "other":
    case "unknown":
      // Servers with reasons of their own send one.
      if (rawFinishReason === undefined)
        throw new ModelError("ModelStreamCut", `the answer of ${what} broke off before its end`);
  }
  const toolCalls = collected.calls.map((call) => readCall(call, what));
  if (text === "" && toolCalls.length === 0) throw new ModelError("ModelBadAnswer", `${what} gave an empty answer`);
  return { text, toolCalls };
}

class Collected {
  text = "";
  hasBegun = false;
  finishReason: string | undefined = "unknown";
  rawFinishReason: string | undefined;
  usage: SdkUsage | undefined;
  readonly calls: SdkPart[] = [];
}

function toSdkRequest({ sdk, model, settings, ...request }: ModelRequest): SdkRequest {
  const { tools, expects, messages } = request;
  const temperature = request.temperature ?? settings.temperature;
  const maxOutputTokens = request.maxTokens ?? settings.maxTokens;
  return {
    model,
    ...(request.system === undefined ? {} : { system: request.system }),
    messages: messages.map(toSdkMessage),
    allowSystemInMessages: true,
    maxRetries: 0,
    abortSignal: request.signal,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(tools.length === 0
      ? {}
      : {
          tools: Object.fromEntries(
            tools.map(({ name, description, schema }) => [
              name,
              sdk.tool({ description, inputSchema: sdk.jsonSchema(schema) }),
            ]),
          ),
        }),
    ...(expects === undefined ? {} : structured(sdk, expects)),
  };
}

function structured(sdk: Sdk, expects: ExpectedType): Pick<SdkRequest, "output" | "providerOptions"> {
  const strict = isStrict(expects);
  return {
    output: sdk.Output.object({ schema: sdk.jsonSchema(answerSchema(expects)), name: "answer" }),
    providerOptions: { server: { strictJsonSchema: strict }, openai: { strictJsonSchema: strict } },
  };
}

async function generate(request: ModelRequest, collected: Collected): Promise<void> {
  try {
    const result = await request.sdk.generateText(toSdkRequest(request));
    Object.assign(collected, {
      text: result.text,
      finishReason: result.finishReason,
      rawFinishReason: result.rawFinishReason,
      usage: result.usage,
    });
    collected.calls.push(...result.toolCalls);
  } catch (error) {
    // The answer is not JSON: `llm` repairs it.
    if (!request.sdk.NoObjectGeneratedError.isInstance(error)) throw error;
    const { text = "", usage, finishReason } = error;
    Object.assign(collected, { text, usage, finishReason, rawFinishReason: finishReason });
  }
  if (request.expects === undefined && collected.text !== "") request.onText(collected.text);
}

async function stream(request: ModelRequest, collected: Collected): Promise<void> {
  // Errors are parts of the stream.
  const { fullStream } = request.sdk.streamText({ ...toSdkRequest(request), onError: () => undefined });
  for await (const part of fullStream) {
    switch (part.type) {
      case "text-delta":
        collected.hasBegun = true;
        collected.text += part.text ?? "";
        if (request.expects === undefined) request.onText(part.text ?? "");
        break;
      case "tool-input-start":
        collected.hasBegun = true;
        break;
      case "tool-call":
        collected.calls.push(part);
        break;
      case "finish-step":
        collected.finishReason = part.finishReason;
        collected.rawFinishReason = part.rawFinishReason;
        collected.usage = part.usage;
        break;
      case "error":
        throw part.error;
    }
  }
}

function usageOf(usage: SdkUsage | undefined, { price }: ModelSettings): Usage {
  const amount = (value: unknown): number =>
    typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
  const inputTokens = amount(usage?.inputTokens);
  const outputTokens = amount(usage?.outputTokens);
  const cost =
    price === undefined
      ? amount(usage?.raw?.["cost"])
      : (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
  return { inputTokens, outputTokens, cost };
}

function readCall({ toolCallId = "", toolName = "", input }: SdkPart, what: string): ToolCall {
  const value = admitJson(input ?? {});
  if (toolCallId === "" || toolName === "" || value instanceof Mismatch)
    throw new ModelError("ModelBadAnswer", `${what} called a tool without an id, a name or JSON arguments`);
  return { id: toolCallId, name: toolName, arguments: value };
}
