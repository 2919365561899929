import type { BuiltinNode } from "../../runtime/interface/context.ts";
import { importOptional } from "./import-optional.ts";
import { projectModels } from "./project-settings.ts";

/**
 * The `llm` node with the `models` of `ngraph.json`, and the server that the environment names: OPENAI_API_KEY, OPENAI_BASE_URL (any
 * server with the chat completions API; default OpenAI's), NGRAPH_MODEL (for calls without a `model`). Without any of them, an empty
 * object; the engine then refuses a graph that calls `llm` before it starts.
 *
 * @param file the graph's file
 * @throws CommandError for an `ngraph.json` that cannot be read
 */
export async function llmFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  file: string,
): Promise<{ readonly llm?: BuiltinNode }> {
  const apiKey = environment["OPENAI_API_KEY"] || undefined;
  const baseUrl = environment["OPENAI_BASE_URL"] || undefined;
  const model = environment["NGRAPH_MODEL"] || undefined;
  const models = projectModels(file);
  if (apiKey === undefined && baseUrl === undefined && Object.keys(models).length === 0) return {};
  const { createLlm } = await import("../../stdlib/nodes/llm.ts");
  return {
    llm: createLlm({
      models,
      load: importOptional(file),
      secrets: (name) => environment[name],
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(model === undefined ? {} : { model }),
    }),
  };
}
