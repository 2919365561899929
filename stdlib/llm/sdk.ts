/**
 * The parts of the Vercel AI SDK (`ai` and its provider packages) that `llm` uses. The packages are optional peers, so
 * their types are described here. `test/stdlib/llm-sdk-types.test.ts` checks that the package has these exports.
 */
import { NodeFailure } from "../node-failure.ts";

/** A model of a provider package. Only `ai` looks inside. */
export type SdkModel = object;

export interface SdkToolCall {
  readonly type: "tool-call";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

export type SdkMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | {
      readonly role: "assistant";
      readonly content: readonly ({ readonly type: "text"; readonly text: string } | SdkToolCall)[];
    }
  | {
      readonly role: "tool";
      readonly content: readonly {
        readonly type: "tool-result";
        readonly toolCallId: string;
        readonly toolName: string;
        readonly output: { readonly type: "text" | "error-text"; readonly value: string };
      }[];
    };

export interface SdkUsage {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** What the server has sent. Some servers report the cost there. */
  readonly raw?: { readonly [name: string]: unknown } | undefined;
}

/** The options that one request passes to `generateText` and `streamText`. */
export interface SdkRequest {
  readonly model: SdkModel;
  readonly system?: string;
  readonly messages: readonly SdkMessage[];
  /** A graph writes the roles of its messages. */
  readonly allowSystemInMessages: true;
  readonly maxRetries: 0;
  readonly abortSignal: AbortSignal;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly tools?: Readonly<Record<string, unknown>>;
  readonly output?: unknown;
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
}

export interface SdkPart {
  readonly type: string;
  readonly text?: string;
  readonly error?: unknown;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly finishReason?: string;
  readonly rawFinishReason?: string | undefined;
  readonly usage?: SdkUsage;
}

export interface SdkResult {
  readonly text: string;
  readonly toolCalls: readonly SdkPart[];
  readonly finishReason: string;
  readonly rawFinishReason?: string | undefined;
  readonly usage: SdkUsage;
}

/** The exports of `ai` that are used. */
export interface Sdk {
  generateText(request: SdkRequest): Promise<SdkResult>;
  streamText(request: SdkRequest & { readonly onError: () => void }): { readonly fullStream: AsyncIterable<SdkPart> };
  jsonSchema(schema: object): unknown;
  tool(tool: { readonly description: string; readonly inputSchema: unknown }): unknown;
  readonly Output: {
    object(options: { readonly schema: unknown; readonly name: string }): unknown;
  };
  readonly APICallError: { isInstance(error: unknown): error is SdkApiError };
  readonly NoObjectGeneratedError: { isInstance(error: unknown): error is Error & NoObject };
  readonly LoadAPIKeyError: { isInstance(error: unknown): boolean };
}

/** The answer is not JSON. */
export interface NoObject {
  readonly text: string | undefined;
  readonly usage: SdkUsage | undefined;
  readonly finishReason: string | undefined;
}

export interface SdkApiError extends Error {
  readonly statusCode?: number | undefined;
  readonly responseHeaders?: Readonly<Record<string, string>> | undefined;
  readonly responseBody?: string | undefined;
  readonly isRetryable: boolean;
}

/** Imports a package. The command line searches the project of the graph first. */
export type Load = (specifier: string) => Promise<unknown>;

export const importPackage: Load = (specifier) => import(specifier);

/**
 * Imports an optional package.
 *
 * @throws NodeFailure with the command that installs it
 */
export async function loadPackage(load: Load, name: string, purpose: string): Promise<object> {
  try {
    return (await load(name)) as object;
  } catch (error) {
    const code = (error as { readonly code?: unknown }).code;
    const isMissing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
    const reason = isMissing
      ? `the package \`${name
          .split("/")
          .slice(0, name.startsWith("@") ? 2 : 1)
          .join("/")}\` is not installed`
      : `the package \`${name}\` cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;
    const remedy = isMissing
      ? `; install it with \`npm install ${name.startsWith("@ai-sdk") || name === "ai" ? `ai zod ${name === "ai" ? "" : name}`.trim() : name.split("/").slice(0, 2).join("/")}\``
      : "";
    throw new NodeFailure(`${purpose} needs an optional package, and ${reason}${remedy}`, {
      retryable: false,
      cause: error,
    });
  }
}

export async function loadSdk(load: Load): Promise<Sdk> {
  // The SDK prints its warnings on the console unless a program has decided about them.
  (globalThis as { AI_SDK_LOG_WARNINGS?: unknown }).AI_SDK_LOG_WARNINGS ??= false;
  return (await loadPackage(load, "ai", "`llm`")) as Sdk;
}
