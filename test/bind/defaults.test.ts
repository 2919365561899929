import { describe, expect, it } from "vitest";
import { bindText, explain, findingsOf, graph, marked, withFix } from "./bind-text.ts";

const FILES = { "nodes.ts": "export const search = async (text: string): Promise<string> => text;" };
const IMPORT = `import { search } from "./nodes.ts"\n`;

function policiesOf(text: string): Record<string, unknown> {
  const { graphs, diagnostics } = bindText(text, FILES);
  expect(explain(diagnostics.filter(({ severity }) => severity === "error"))).toBe("");
  return Object.fromEntries(
    (graphs.at(-1)?.nodes ?? []).map(({ name, tries, timeout }) => [
      name,
      { ...(tries === undefined ? {} : { tries }), ...(timeout === undefined ? {} : { timeout }) },
    ]),
  );
}

describe("defaults", () => {
  it("apply to functions, llm, http, shell and tool, and to no other node", () => {
    const calls = {
      code: 'search("x")',
      model: 'llm("x")',
      request: 'http("https://example.com")',
      command: 'shell("ls")',
      tool: 'tool("server", "name")',
      sum: "1 + 1",
      say: 'print("x")',
      wait: "sleep(1s)",
      question: 'ask("x")',
      inner: "sub()",
      stop: 'fail("x")',
    };
    const nodes = Object.entries(calls).map(([name, call]) => `node ${name} = ${call}`);
    const sub = `graph sub { node a = print("x") start -> a }\n`;
    const text = `${IMPORT}${sub}${graph("defaults { tries 3 backoff 1s..5s timeout 30s }", ...nodes, `start -> ${Object.keys(calls).join(", ")}`)}`;
    const all = { tries: { attempts: 3, backoff: { min: 1000, max: 5000 } }, timeout: 30_000 };
    const expected = Object.keys(calls).map((name, index) => [name, index < 5 ? all : {}]);
    expect(policiesOf(text)).toEqual(Object.fromEntries(expected));
  });

  it("a policy of the node replaces the whole default", () => {
    const text = `${IMPORT}${graph(
      "defaults { tries 3 backoff 1s timeout 30s }",
      `node a = search("x") { tries 2 }`,
      `node b = search("x") { timeout 5s }`,
      "start -> a -> b",
    )}`;
    expect(policiesOf(text)).toEqual({
      a: { tries: { attempts: 2 }, timeout: 30_000 },
      b: { tries: { attempts: 3, backoff: { min: 1000, max: 1000 } }, timeout: 5_000 },
    });
  });

  it("of a called graph are its own", () => {
    const inner = `graph inner { node a = search("x") start -> a }\n`;
    const { graphs } = bindText(
      `${IMPORT}${inner}${graph("defaults { timeout 30s }", `node call = inner()`, `node b = search("x")`, "start -> call -> b")}`,
      FILES,
    );
    expect(graphs.find(({ name }) => name === "inner")?.nodes[0]?.timeout).toBeUndefined();
  });

  it.each([
    ["waits a", "waits a", "NG117", "state it on each node that needs it"],
    ["pause before", "pause before", "NG117", "state it on each node that needs it"],
    ["max parallel 3", "max parallel 3", "NG117", "write `max parallel N` beside `defaults`"],
    ["within 3d", "within 3d", "NG117", "state the deadline on each `ask` and `receive`"],
    ['touches "a"', 'touches "a"', "NG117", "not files"],
    ["tries 0", "0", "NG006", "`tries 1` runs it once"],
    ["timeout 0s", "0s", "NG006", ""],
    ["tries 2 tries 3", "tries 3", "NG102", ""],
  ])("`defaults { %s }` is an error", (policies, at, code, help) => {
    const text =
      `${IMPORT}${graph(`defaults { timeout 5s ${policies} }`, `node a = search("x")`, "start -> a")}`.replace(
        "timeout 5s timeout",
        "timeout",
      );
    const findings = findingsOf(text, FILES).filter((found) => found.code === code);
    expect(findings).toHaveLength(1);
    const [found] = findings;
    if (found === undefined) return;
    expect(marked(found)).toBe(at);
    expect(found.help ?? "").toContain(help);
    const fixed = withFix(found);
    if (fixed !== undefined) expect(explain(findingsOf(fixed, FILES))).toBe("");
  });

  it("are stated once in a graph", () => {
    const text = `${IMPORT}${graph("defaults { tries 2 }", "defaults { timeout 5s }", `node a = search("x")`, "start -> a")}`;
    expect(findingsOf(text, FILES).map(({ code }) => code)).toEqual(["NG102"]);
  });

  it("warn where no node uses them (NG615)", () => {
    const own = `${IMPORT}${graph("defaults { tries 2 timeout 5s }", `node a = search("x") { tries 3 }`, "start -> a")}`;
    const [found, ...others] = findingsOf(own, FILES);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ code: "NG615", label: expect.stringContaining("states its own `tries`") as string });
    const none = graph("defaults { timeout 5s }", `node a = print("x")`, "start -> a");
    expect(findingsOf(none)).toMatchObject([
      { code: "NG615", label: expect.stringContaining("no node calls one") as string },
    ]);
  });
});
