import type { BuiltinNode, ExpectedType, NodeContext } from "../../runtime/interface/context.ts";
import type { Usage } from "../../runtime/interface/usage.ts";
import type { Json } from "../../runtime/value/json.ts";
import { NodeFailure } from "../node-failure.ts";
import { isStrict, schemaOf } from "../type-schema.ts";
import { cut, readBounded, RETRYABLE_STATUSES } from "./http.ts";

/** A server that speaks OpenAI's chat completions, as most do. */
export interface LlmOptions {
  /** Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** The model for calls without `model`. */
  readonly model?: string;
}

/**
 * Makes the `llm` node: `llm(prompt, system?, model?, temperature?, maxTokens?)`. Where the result goes into a channel
 * that is not plain text, the request asks for JSON of that type, and the answer is the value. Time is limited by the
 * node's `timeout`.
 * @example const engine = createEngine(table, { builtins: { ...builtinNodes, llm: createLlm({ apiKey, model: "…" }) }
 * });
 */
export function createLlm(options: LlmOptions): BuiltinNode {
  const url = `${(options.baseUrl ?? "https://api.openai.com/v1").replace(/\/+$/, "")}/chat/completions`;
  return async ({ prompt, system = null, model = null, temperature = null, maxTokens = null }, context) => {
    const chosen = typeof model === "string" ? model : options.model;
    if (chosen === undefined) {
      throw new NodeFailure(
        '`llm` does not know which model to ask: name it in the call (`model: "…"`) or as the default',
        {
          retryable: false,
        },
      );
    }
    const expects = isText(context.expects) ? undefined : context.expects;
    const body = {
      model: chosen,
      messages: [
        ...(typeof system === "string" ? [{ role: "system", content: system }] : []),
        { role: "user", content: String(prompt) },
      ],
      ...(temperature === null ? {} : { temperature }),
      ...(maxTokens === null ? {} : { max_completion_tokens: maxTokens }),
      ...(expects === undefined ? {} : { response_format: responseFormat(expects) }),
    };
    const text = await send(url, options.apiKey, body, context);
    return expects === undefined ? text : readAnswer(text, context);
  };
}

/** Whether the result is plain text, which needs no response format. */
function isText(expects: ExpectedType | undefined): boolean {
  return expects === undefined || expects.type.kind === "string";
}

/** Servers require an object at the top level, so the answer is the only field of an object. */
function responseFormat(expects: ExpectedType): object {
  const { $defs, ...schema } = schemaOf(expects);
  return {
    type: "json_schema",
    json_schema: {
      name: "answer",
      strict: isStrict(expects),
      schema: {
        type: "object",
        properties: { answer: schema },
        required: ["answer"],
        additionalProperties: false,
        ...($defs === undefined ? {} : { $defs }),
      },
    },
  };
}

async function send(
  url: string,
  apiKey: string | undefined,
  body: object,
  { signal, redact, usage }: Pick<NodeContext, "signal" | "redact" | "usage">,
): Promise<string> {
  const what = `the model server at ${new URL(url).host}`;
  let response: Response;
  let text: string;
  try {
    response = await fetch(url, {
      method: "POST",
      signal,
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
    });
    text = await readBounded(response, what);
  } catch (error) {
    if (signal.aborted || error instanceof NodeFailure) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    // The message of `fetch` repeats an address with a user and a password.
    const reason = (cause instanceof Error ? cause.message : String(cause)).replaceAll(url, what);
    throw new NodeFailure(`${what} cannot be reached: ${reason}`, {
      cause: error,
    });
  }
  const document = parse(text);
  if (!response.ok) {
    const reason = textAt(document, ["error", "message"]) ?? cut(redact(text.trim()), 300);
    throw new NodeFailure(`${what} answered ${response.status}: ${reason}`, {
      retryable: RETRYABLE_STATUSES.has(response.status),
      details: { status: response.status },
    });
  }
  usage(usageOf(document));
  const refusal = textAt(document, ["choices", 0, "message", "refusal"]);
  if (refusal !== undefined) throw new NodeFailure(`the model refused: ${refusal}`, { retryable: false });
  const content = textAt(document, ["choices", 0, "message", "content"]);
  if (content === undefined) throw new NodeFailure(`${what} gave no answer`);
  if (textAt(document, ["choices", 0, "finish_reason"]) === "length") {
    throw new NodeFailure("the model's answer was cut off: raise `maxTokens` or ask for less", { retryable: false });
  }
  return content;
}

/** The usage that the server reports. Some servers report the cost, too. */
function usageOf(document: unknown): Partial<Usage> {
  const amount = (name: string): number => {
    const value = valueAt(document, ["usage", name]);
    return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
  };
  return { inputTokens: amount("prompt_tokens"), outputTokens: amount("completion_tokens"), cost: amount("cost") };
}

/** Reads the answer. A failure can be retried: the model may follow the schema at the next try. */
function readAnswer(text: string, { redact }: Pick<NodeContext, "redact">): Json {
  // Some servers put a Markdown fence around JSON.
  const document = parse(text.trim().replace(/^```(?:json)?\s*([\s\S]*?)\s*```$/, "$1"));
  if (typeof document !== "object" || document === null || !("answer" in document)) {
    throw new NodeFailure(`the model's answer does not have the requested form: ${cut(redact(text.trim()), 200)}`);
  }
  return document.answer as Json;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function textAt(document: unknown, path: readonly (string | number)[]): string | undefined {
  const value = valueAt(document, path);
  return typeof value === "string" ? value : undefined;
}

function valueAt(document: unknown, path: readonly (string | number)[]): unknown {
  let value = document;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as { readonly [key: string | number]: unknown })[step];
  }
  return value;
}
