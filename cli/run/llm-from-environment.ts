import type { BuiltinNode } from "../../runtime/interface/context.ts";

/**
 * The `llm` node, where the environment names a model server: OPENAI_API_KEY, OPENAI_BASE_URL (any server that speaks chat
 * completions; default OpenAI's), NGRAPH_MODEL (for calls that name no model). Nothing otherwise: then a graph that calls
 * `llm` is refused before it starts.
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
