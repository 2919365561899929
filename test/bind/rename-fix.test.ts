import { expect, test } from "vitest";
import { check } from "../../compiler/index.ts";
import { graph, withFix } from "./bind-text.ts";

/** The text after the fix of its first error, which names a reserved word; no error may be left. */
function fixed(text: string): string | undefined {
  const path = "main.ngraph";
  const error = check(text, { path }).diagnostics.find(({ severity }) => severity === "error");
  expect(error?.code).toBe("NG107");
  const result = error === undefined ? undefined : withFix(error);
  if (result !== undefined) {
    expect(check(result, { path }).diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  }
  return result;
}

test("a node with a reserved name is renamed wherever it is used", () => {
  const text = graph(
    `node each = print("each")`,
    `node each_node = print("x")`,
    `node last = print("y")`,
    `assert each before last`,
    `start -> each -> each_node -> last`,
  );
  expect(fixed(text)).toBe(
    graph(
      `node each_node_ = print("each")`,
      `node each_node = print("x")`,
      `node last = print("y")`,
      `assert each_node_ before last`,
      `start -> each_node_ -> each_node -> last`,
    ),
  );
});

test("a channel with a reserved name is renamed, and fields keep their names", () => {
  const text = graph(
    `state set: int = 0`,
    `output r: { set: int } | null = null`,
    `node a = print(\`\${set + 1}\`)`,
    `node b = { set } into r`,
    `node c = print(\`\${r?.set ?? 0} \${set}\`)`,
    `start -> a -> b -> c`,
  );
  expect(fixed(text)).toBe(
    graph(
      `state set_state: int = 0`,
      `output r: { set: int } | null = null`,
      `node a = print(\`\${set_state + 1}\`)`,
      `node b = { set: set_state } into r`,
      `node c = print(\`\${r?.set ?? 0} \${set_state}\`)`,
      `start -> a -> b -> c`,
    ),
  );
});

test("no fix where uses of the name mean the built-in one", () => {
  expect(fixed(graph(`node end = print("hi")`, `start -> end`))).toBeUndefined();
});
