import type { BuiltinNode } from "../../runtime/interface/context.ts";

/**
 * The `llm` node, if the environment names a model server: OPENAI_API_KEY, OPENAI_BASE_URL (any server with the chat completions
 * API; default OpenAI's), NGRAPH_MODEL (for calls without a `model`). Otherwise an empty object; the engine then refuses a graph
 * that calls `llm` before it starts.
 */
export async function llmFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly llm?: BuiltinNode }> {
  const apiKey = environment["OPENAI_API_KEY"] || undefined;
  const baseUrl = environment["OPENAI_BASE_URL"] || undefined;
  const model = environment["NGRAPH_MODEL"] || undefined;
  if (apiKey === undefined && baseUrl === undefined) return {};
  const { createLlm } = await import("../../stdlib/nodes/llm.ts");
  return {
    llm: createLlm({
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(model === undefined ? {} : { model }),
    }),
  };
}
