import { loadPackage, type Load, type SdkModel } from "./sdk.ts";
import { foreignAnswer, ModelError } from "./model-error.ts";
import { boundedFetch } from "../http/bounded-fetch.ts";
import { NodeFailure } from "../node-failure.ts";

/** The most bytes of one answer of a model. A streamed answer has some hundred bytes for each token. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export const PROVIDERS = ["openai-compatible", "openai", "anthropic", "google"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** A model with its provider: a field of `models` in `ngraph.json`. */
export interface ModelSettings {
  readonly provider: ProviderName;
  /** The name of the model at the provider. */
  readonly model: string;
  /** The address of the server. Required for `openai-compatible`. */
  readonly baseUrl?: string;
  /** The name of the secret with the API key. Default: the usual name of the provider, as in `OPENAI_API_KEY`. */
  readonly secret?: string;
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** `false` for a server that cannot stream. */
  readonly stream?: boolean;
  /** US dollars for a million tokens, for the cost of calls. Without it, the cost that the server reports counts. */
  readonly price?: { readonly input: number; readonly output: number };
}

interface Provider {
  readonly name: string;
  readonly factory: string;
  /** The secret of the API key; absent if a server may need none. */
  readonly secret?: string;
}

const KNOWN: Readonly<Record<ProviderName, Provider>> = {
  "openai-compatible": { name: "@ai-sdk/openai-compatible", factory: "createOpenAICompatible" },
  openai: { name: "@ai-sdk/openai", factory: "createOpenAI", secret: "OPENAI_API_KEY" },
  anthropic: { name: "@ai-sdk/anthropic", factory: "createAnthropic", secret: "ANTHROPIC_API_KEY" },
  google: {
    name: "@ai-sdk/google",
    factory: "createGoogleGenerativeAI",
    secret: "GOOGLE_GENERATIVE_AI_API_KEY",
  },
};

/** The name of the secret that a model needs; `undefined` for a model without a key. */
export function secretOf({ provider, secret }: ModelSettings): string | undefined {
  return secret ?? KNOWN[provider].secret;
}

/** Why a model cannot be called with an API key, or without one; `undefined` if it can. */
export function problemOfKey(settings: ModelSettings, apiKey: string | undefined): string | undefined {
  const secret = secretOf(settings);
  const { provider, model } = settings;
  if (apiKey !== undefined) {
    if (isHeaderValue(apiKey)) return undefined;
    const place = secret === undefined ? "" : `: correct the environment variable ${secret}`;
    return `the API key of the model \`${model}\` has a line break or another character that a header cannot hold${place}`;
  }
  if (secret === undefined) return undefined;
  return `the model \`${model}\` of ${provider} needs an API key: set the environment variable ${secret}`;
}

function isHeaderValue(text: string): boolean {
  try {
    // A header loses blanks and line breaks at its ends, but none after the word `Bearer`.
    return new Headers({ authorization: `Bearer ${text}` }).has("authorization");
  } catch {
    return false;
  }
}

/**
 * Creates the model that settings describe.
 *
 * @param apiKey absent for a server without keys
 * @throws ModelError if the provider needs a key, or another one; NodeFailure if its package is not installed
 */
export async function createModel(settings: ModelSettings, apiKey: string | undefined, load: Load): Promise<SdkModel> {
  const { provider, model, baseUrl } = settings;
  if (baseUrl !== undefined && !isBaseUrl(baseUrl)) {
    const message = `the address of the model \`${model}\` must be an http(s) URL without a user, a password and a query`;
    throw new NodeFailure(message, { retryable: false });
  }
  const problem = problemOfKey(settings, apiKey);
  if (problem !== undefined) throw new ModelError("MissingModelKey", problem);
  const { name, factory } = KNOWN[provider];
  const exports = (await loadPackage(load, name, `a model of the provider \`${provider}\``)) as Readonly<
    Record<string, (options: object) => (model: string) => SdkModel>
  >;
  const create = exports[factory];
  if (create === undefined) {
    throw new NodeFailure(`the package \`${name}\` has no \`${factory}\`: update it`, { retryable: false });
  }
  const what = `the model \`${model}\``;
  const bounded = boundedFetch(
    MAX_ANSWER_BYTES,
    () =>
      new ModelError(
        "ModelAnswerTooLong",
        `the answer of ${what} is larger than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`,
      ),
  );
  const options = {
    fetch: async (...request: Parameters<typeof fetch>): Promise<Response> => {
      const response = await bounded(...request);
      // The SDK reads a page of a web server as an answer that has broken off.
      if (response.ok && /^text\/html\b/i.test(response.headers.get("content-type") ?? "")) {
        await response.body?.cancel();
        throw foreignAnswer(what, provider);
      }
      return response;
    },
    ...(baseUrl === undefined ? {} : { baseURL: baseUrl.replace(/\/+$/, "") }),
    ...(apiKey === undefined ? {} : { apiKey }),
  };
  if (provider !== "openai-compatible") return create(options)(model);
  return create({ ...options, name: "server", includeUsage: true, supportsStructuredOutputs: true })(model);
}

/** A problem of settings from a file: the path of the field and what is wrong; `undefined` if they are valid. */
export function problemOfSettings(settings: unknown): string | undefined {
  if (typeof settings !== "object" || settings === null || Array.isArray(settings)) return "must be an object";
  const fields = settings as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(FIELDS, name));
  if (unknown !== undefined) {
    return `has the unknown field ${JSON.stringify(unknown)} (known: ${Object.keys(FIELDS).join(", ")})`;
  }
  for (const name of ["provider", "model"]) if (fields[name] === undefined) return `needs the field \`${name}\``;
  for (const [name, [accepts, expected]] of Object.entries(FIELDS)) {
    if (fields[name] !== undefined && !accepts(fields[name])) return `\`${name}\` must be ${expected}`;
  }
  if (fields["provider"] === "openai-compatible" && fields["baseUrl"] === undefined) {
    return 'needs `baseUrl`, the address of the server: "http://localhost:11434/v1"';
  }
  return undefined;
}

/** The path of a request is appended to the URL. `fetch` refuses a user and a password, and names them in its error. */
function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === "";
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isAmount = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value) && value >= 0;

const FIELDS: Readonly<Record<string, readonly [accepts: (value: unknown) => boolean, expected: string]>> = {
  provider: [(value) => PROVIDERS.some((name) => name === value), `one of ${PROVIDERS.join(", ")}`],
  model: [isText, "the name of a model"],
  baseUrl: [
    (value) => typeof value === "string" && isBaseUrl(value),
    "an http(s) URL without a user, a password and a query",
  ],
  secret: [(value) => typeof value === "string" && /^[A-Za-z_]\w*$/.test(value), "the name of an environment variable"],
  temperature: [isAmount, "a number from 0"],
  maxTokens: [(value) => Number.isSafeInteger(value) && Number(value) > 0, "an integer from 1"],
  stream: [(value) => typeof value === "boolean", "true or false"],
  price: [
    (value) =>
      typeof value === "object" &&
      value !== null &&
      Object.keys(value).length === 2 &&
      isAmount((value as { readonly input?: unknown }).input) &&
      isAmount((value as { readonly output?: unknown }).output),
    'the US dollars for a million tokens: { "input": 0.25, "output": 2 }',
  ],
};
