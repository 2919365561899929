/** The built-in nodes of runs that reach no other system: tests, and runs in the playground. */
import { parseYamlText } from "../grammar/yaml/parse-yaml-text.ts";
import type { BuiltinNode } from "../runtime/interface/context.ts";
import { builtinNodes } from "../stdlib/builtin-nodes.ts";
import { createYaml } from "../stdlib/nodes/yaml.ts";

/** The built-in nodes with effects on other systems. */
export const REFUSED_NODES: ReadonlySet<string> = new Set(["llm", "tool", "http", "shell", "file"]);

/** The other nodes. Those with effects fail with `why`, so that they need mocks. */
export function testNodes(why: (node: string) => string): Readonly<Record<string, BuiltinNode>> {
  const refused = [...REFUSED_NODES].map((name): readonly [string, BuiltinNode] => [
    name,
    () => {
      throw Object.assign(new Error(why(name)), { retryable: false });
    },
  ]);
  return { ...builtinNodes, yaml: createYaml(parseYamlText), ...Object.fromEntries(refused), print: () => null };
}
