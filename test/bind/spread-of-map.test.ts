import { expect, test } from "vitest";
import { compile } from "../../compiler/index.ts";
import { memoryHost } from "../../compiler/load/host.ts";

test("a field that a spread map may lack is named", () => {
  const text = `import { f } from "./m.ts"
graph g { input m: map<string>  output t: string  node a = f({ ...m, order: "x" }) into t  start -> a -> end }`;
  const host = memoryHost({ "m.ts": "export function f(a: { order: string }): string { return a.order; }" });
  const { diagnostics } = compile(text, { path: "g.ngraph", host });
  expect(diagnostics.filter(({ severity }) => severity === "error")).toMatchObject([
    { code: "NG408", label: "field `order` may be absent", message: expect.stringContaining("at `.order`") },
  ]);
});
