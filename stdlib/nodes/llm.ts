import type { BuiltinContext, BuiltinNode, ExpectedType } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import { sha256 } from "../../runtime/table/sha256.ts";
import { fromEnvironment } from "../from-environment.ts";
import { answerForm, readAnswer } from "../llm/answer.ts";
import { callModel, type ModelAnswer, type ModelRequest } from "../llm/call-model.ts";
import { callTool, functionTool, mcpTools } from "../llm/call-tool.ts";
import { readMessages, type Message, type ToolCall } from "../llm/messages.ts";
import { ModelError } from "../llm/model-error.ts";
import { createModel, problemOfKey, secretOf, type ModelSettings } from "../llm/model-settings.ts";
import { importPackage, loadSdk, type Load, type SdkModel } from "../llm/sdk.ts";
import type { McpServers } from "../mcp/servers.ts";
import { NodeFailure } from "../node-failure.ts";
import { cut } from "./http.ts";

/** The models that `llm` calls. */
export interface LlmOptions {
  /** Models by the name that calls use. The model `default` is for calls without `model`. */
  readonly models?: Readonly<Record<string, ModelSettings>>;
  /** Returns the value of a secret that settings name. Default: environment variables. */
  readonly secrets?: (name: string) => string | undefined;
  /**
   * A server that speaks OpenAI's chat completions, as most do, for models that `models` does not have. Default
   * `https://api.openai.com/v1` if there is an `apiKey`.
   */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** The name of the model at this server for calls without `model`. */
  readonly model?: string;
  /** MCP servers whose tools the argument `servers` offers to a model. */
  readonly servers?: McpServers | undefined;
  /** Imports the packages of the AI SDK. Default: `import()`. */
  readonly load?: Load;
}

/**
 * Makes the `llm` node: `llm(prompt?, system?, model?, temperature?, maxTokens?, messages?, tools?, approve?, maxSteps?)`. It calls the model through
 * the AI SDK: the packages `ai`, `zod` and that of the provider (`@ai-sdk/openai-compatible`, …). The type of the channel
 * that stores the result determines the result:
 *
 * - a string: the text of the answer
 * - a list of messages (`{ role, content, … }[]`): the messages of this call, for a channel with the reducer `merge` or
 *   `append`
 * - any other type: a value of the type. The request contains its schema. A value that does not fit is sent back once with
 *   the reason.
 *
 * The model may call the `tools` of the node, up to `maxSteps` times. Each answer and each result of a tool is stored at once
 * (`once`), so a run that continues after a crash or an approval repeats none of them.
 *
 * Errors are `ModelError`s. Parts of a text are emitted as events of kind `token` with the data `{ id, attempt, text }`,
 * where `id` is the id of the message. Time is limited by the node's `timeout`.
 * @example const llm = createLlm({ models: { default: { provider: "anthropic", model: "…" } } });
 * const engine = createEngine(table, { builtins: { ...builtinNodes, llm } });
 */
export function createLlm(options: LlmOptions): BuiltinNode {
  const load = options.load ?? importPackage;
  const models = new Map<string, Promise<SdkModel>>();
  const modelOf = (settings: ModelSettings, apiKey: string | undefined): Promise<SdkModel> => {
    const key = JSON.stringify([settings.provider, settings.baseUrl, settings.model, apiKey]);
    let model = models.get(key);
    if (model === undefined) {
      model = createModel(settings, apiKey, load);
      models.set(key, model);
      // A package can be installed later.
      model.catch(() => models.delete(key));
    }
    return model;
  };
  return async (args, context) => {
    const { settings, apiKey } = settingsOf(args["model"], options);
    const conversation = new Conversation(args, context);
    const [sdk, model] = [await loadSdk(load), await modelOf(settings, apiKey)];
    const redact = (text: string): string =>
      context.redact(apiKey === undefined || apiKey.length < 4 ? text : text.replaceAll(apiKey, "***"));
    return converse(conversation, { sdk, model, settings, redact, servers: options.servers }, args, context);
  };
}

/**
 * Why a call of a model cannot succeed: the model is unknown, or its API key is missing or unusable. `undefined` if it can. A program calls it
 * before a run, so that no node runs in vain.
 *
 * @param model the argument of the call; `undefined` for a call without it
 */
export function problemOfModel(model: string | undefined, options: LlmOptions): string | undefined {
  try {
    const { settings, apiKey } = settingsOf(model, options);
    return problemOfKey(settings, apiKey);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The settings and the API key of the model that a call names. */
function settingsOf(
  wanted: Json | undefined,
  { models = {}, secrets = fromEnvironment, baseUrl, apiKey, model }: LlmOptions,
): { readonly settings: ModelSettings; readonly apiKey: string | undefined } {
  // `model: "default"` means the same as no model, also where no model has that name.
  const given = wanted === "default" ? undefined : wanted;
  const name = typeof given === "string" ? given : "default";
  const known = Object.hasOwn(models, name) ? models[name] : undefined;
  if (known !== undefined) {
    const secret = secretOf(known);
    return { settings: known, apiKey: secret === undefined ? undefined : secrets(secret) || undefined };
  }
  const atServer = typeof given === "string" ? given : model;
  if (atServer !== undefined && (baseUrl !== undefined || apiKey !== undefined)) {
    const settings: ModelSettings = {
      provider: "openai-compatible",
      model: atServer,
      baseUrl: baseUrl ?? "https://api.openai.com/v1",
    };
    return { settings, apiKey };
  }
  const names = Object.keys(models);
  const hint = names.length === 0 ? "no `models` are given" : `known models: ${names.join(", ")}`;
  throw new NodeFailure(
    typeof given === "string"
      ? `\`llm\` does not know the model ${JSON.stringify(given)} (${hint})`
      : `\`llm\` does not know which model to call: name it in the call (\`model: "…"\`) or add the model \`default\` (${hint})`,
    { retryable: false },
  );
}

/** The messages that the node has received, and those that this call adds. */
class Conversation {
  readonly #given: readonly Message[];
  readonly #id: string;
  /** The messages of this call: the prompt and the answers. */
  readonly added: Message[] = [];

  constructor({ prompt, messages }: Readonly<Record<string, Json>>, { idempotencyKey }: BuiltinContext) {
    this.#id = idempotencyKey.replace(/^sha256:/, "").slice(0, 16);
    this.#given = readMessages(messages);
    if (typeof prompt === "string") this.add({ role: "user", content: prompt });
    else if (this.#given.length === 0) {
      throw new NodeFailure("`llm` needs a `prompt` or `messages` that are not empty", { retryable: false });
    }
  }

  get all(): readonly Message[] {
    return [...this.#given, ...this.added];
  }

  /** The id of the next message: equal on each execution of the task. */
  get nextId(): string {
    return `${this.#id}-${this.added.length}`;
  }

  add(message: Message): void {
    this.added.push({ id: this.nextId, ...message });
  }
}

/** Steps of a conversation with tools, without the argument `maxSteps`. */
export const MAX_MODEL_STEPS = 10;

type Callee = Pick<ModelRequest, "sdk" | "model" | "settings" | "redact"> & Pick<LlmOptions, "servers">;

async function converse(
  conversation: Conversation,
  callee: Callee,
  args: Readonly<Record<string, Json>>,
  context: BuiltinContext,
): Promise<Json> {
  const { system, temperature, maxTokens, maxSteps } = args;
  const { value: expects, result } = answerForm(context.expects);
  const { servers } = args;
  const names = Array.isArray(servers) ? servers.map(String) : [];
  if (names.length > 0 && callee.servers === undefined) {
    throw new NodeFailure("`llm` has no MCP servers: give `createLlm` the option `servers`", { retryable: false });
  }
  const tools = [
    ...(context.tools ?? []).map(functionTool),
    ...(callee.servers === undefined ? [] : await mcpTools(names, callee.servers, context)),
  ];
  const ask: Ask = (messages) => {
    const id = conversation.nextId;
    return callModel({
      ...callee,
      system: typeof system === "string" ? system : undefined,
      messages,
      tools,
      expects,
      temperature: typeof temperature === "number" ? temperature : undefined,
      maxTokens: typeof maxTokens === "number" ? maxTokens : undefined,
      signal: context.signal,
      onText: (text) => context.emit({ id, attempt: context.attempt, text }, { kind: "token" }),
      onUsage: (usage) => context.usage(usage),
    });
  };
  // Other messages are another conversation, as after an edit of the state.
  const place = sha256(JSON.stringify([callee.settings.model, system ?? null, conversation.all])).slice(0, 12);
  const limit = typeof maxSteps === "number" ? maxSteps : MAX_MODEL_STEPS;
  for (let step = 0; step < limit; step++) {
    const work = (): Promise<Turn> => takeTurn(ask, conversation.all, expects, callee);
    const isPart = tools.length > 0 && context.once !== undefined;
    const turn = isPart ? await onceTurn(context, `model ${step} ${place}`, work) : await work();
    if (turn.toolCalls.length === 0) {
      const value = turn.value ?? null;
      conversation.add({ role: "assistant", content: typeof value === "string" ? value : JSON.stringify(value) });
      return result(value, conversation.added);
    }
    conversation.add({ role: "assistant", content: turn.text, toolCalls: turn.toolCalls });
    for (const [index, call] of turn.toolCalls.entries()) {
      conversation.add(await callTool(call, `tool ${step}.${index} ${place}`, tools, context));
    }
  }
  throw new ModelError(
    "ModelTooManySteps",
    `the model \`${callee.settings.model}\` has not answered after ${limit} steps of tool calls: raise \`maxSteps\` or ask for less`,
  );
}

type Ask = (messages: readonly Message[]) => Promise<ModelAnswer>;

/** An answer of the model: tool calls, or a value of the type. */
interface Turn {
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly value?: Json;
}

async function onceTurn(context: BuiltinContext, key: string, work: () => Promise<Turn>): Promise<Turn> {
  const stored = await context.once!(key, async () => (await work()) as unknown as Json);
  return stored as unknown as Turn;
}

/** Asks for an answer, and once more if the answer does not have the type. */
async function takeTurn(
  ask: Ask,
  messages: readonly Message[],
  expects: ExpectedType | undefined,
  { settings, redact }: Callee,
): Promise<Turn> {
  const first = await ask(messages);
  if (first.toolCalls.length > 0) return first;
  if (expects === undefined) return { ...first, value: first.text };
  const answer = readAnswer(first.text, expects);
  if ("value" in answer) return { ...first, value: answer.value };
  const correction = `Your answer cannot be used: ${answer.problem}. Answer again with JSON that fits the schema, and nothing else.`;
  const second = await ask([
    ...messages,
    { role: "assistant", content: first.text },
    { role: "user", content: correction },
  ]);
  if (second.toolCalls.length > 0) return second;
  const corrected = readAnswer(second.text, expects);
  if ("value" in corrected) return { ...second, value: corrected.value };
  throw new ModelError(
    "ModelBadAnswer",
    `the answer of the model \`${settings.model}\` does not have the type of the channel, also after a correction: ${corrected.problem}: ${cut(redact(second.text.trim()), 200)}`,
  );
}
