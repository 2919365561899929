import type { BuiltinNode } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import { NodeFailure } from "../node-failure.ts";

/**
 * Makes the node `yaml`: `yaml(text)` is the value of a YAML text with one document. The engine checks it against the type of the
 * channel that stores it. A text that is not YAML fails the node, and another attempt cannot succeed.
 *
 * @param parse returns the value of a text or a promise of it, and throws for a text that is not YAML
 * @example import { parse } from "yaml";
 * createEngine(table, { builtins: { ...builtinNodes, yaml: createYaml(parse) } });
 */
export function createYaml(parse: (text: string) => unknown): BuiltinNode {
  return async ({ text }) => {
    try {
      return (await parse(String(text))) as Json;
    } catch (error) {
      // The lines after the first one quote the text.
      const [reason = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
      throw new NodeFailure(`the text is not YAML: ${reason.replace(/:$/, "")}`, { retryable: false });
    }
  };
}
