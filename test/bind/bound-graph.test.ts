import { describe, expect, it } from "vitest";
import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import { typeToText } from "../../compiler/types/type-text.ts";
import { bindText, explain, graph } from "./bind-text.ts";
import { REFERENCE_GRAPH, REFERENCE_FILES } from "../support/reference-graph.ts";

function bound(text: string, files?: Readonly<Record<string, string>>): BoundGraph {
  const { graphs, diagnostics } = bindText(text, files);
  expect(explain(diagnostics.filter(({ severity }) => severity === "error"))).toBe("");
  const first = graphs.at(-1);
  if (first === undefined) throw new Error("no graph");
  return first;
}

function nodeOf(graph: BoundGraph, name: string): BoundGraph["nodes"][number] {
  const found = graph.nodes.find((node) => node.name === name);
  if (found === undefined) throw new Error(`no node ${name}`);
  return found;
}

/** `a -> b`, `all(a, b|c) -> d`, with what kind of link it is. */
function edgesOf({ edges }: BoundGraph): string[] {
  return edges.map(({ source, to, onError }) => {
    const from =
      source.kind === "nodes"
        ? source.nodes.map(({ name }) => name).join(", ")
        : `all(${source.members.map((group) => group.map(({ name }) => name).join("|")).join(", ")})`;
    const targets = (list: readonly { readonly name: string }[]): string => list.map(({ name }) => name).join(", ");
    const arms =
      to.kind === "match" || to.kind === "cases"
        ? [
            ...to.arms.map((arm) => targets(arm.targets)),
            ...(to.otherwise === undefined ? [] : [targets(to.otherwise.targets)]),
          ].join(" / ")
        : targets(to.targets);
    return `${from} -> ${arms}${to.kind === "plain" ? "" : ` (${to.kind})`}${onError ? " on error" : ""}`;
  });
}

describe("the bound graph", () => {
  it("of the showcase", () => {
    const { diagnostics } = bindText(REFERENCE_GRAPH, REFERENCE_FILES);
    expect(explain(diagnostics)).toBe("");
    const support = bound(REFERENCE_GRAPH, REFERENCE_FILES);
    expect(support.hasErrors).toBe(false);
    expect(support.doc).toBe("Answers a support ticket; a person approves the reply before it goes out.");
    expect(support.limits).toEqual({ steps: 40, parallel: null });
    expect(support.functions.map(({ name }) => name)).toEqual(["searchDocs", "searchTickets", "draftReply"]);
    expect(edgesOf(support)).toEqual([
      "start -> classify",
      "classify -> docs, tickets / draft (match)",
      "all(docs, tickets) -> draft",
      "draft -> count",
      "count -> draft (when)",
      "count -> approve (otherwise)",
      "approve -> end / draft (match)",
    ]);
    expect(nodeOf(support, "docs")).toMatchObject({
      tries: { attempts: 4, backoff: { min: 200, max: 5000 } },
      timeout: 10_000,
      reads: ["ticket"],
      writes: ["notes"],
      effects: ["code"],
    });
    expect(support.channels.map(({ name, mayEndNull }) => `${name} ${mayEndNull ?? false}`)).toContain("reply false");
  });

  it("takes chains apart, and keeps barriers and ways of failing", () => {
    const text = graph(
      `input ok: bool`,
      ...["a", "b", "c", "d", "e"].map((name) => `node ${name} = print(1)`),
      `start -> a, b`,
      `all(a, any(b, e)) -> c -> d when ok`,
      `c -> end otherwise`,
      `b -> e on error`,
    );
    expect(edgesOf(bound(text))).toEqual([
      "start -> a, b",
      "all(a, b|e) -> c",
      "c -> d (when)",
      "c -> end (otherwise)",
      "b -> e on error",
    ]);
  });

  it("requests from a model the type of its channels", () => {
    const text = `type Item = { name: string, price: float }\n${graph(
      `input texts: string[]`,
      `output items: Item[] reduce append`,
      `output kind: "a" | "b"`,
      `output total: float reduce sum`,
      `node every = llm(\`\${text}\`) for text in texts into items`,
      `node both = llm("x") into { kind, sum: total }`,
      `node loose = llm("x")`,
      `start -> every, both, loose`,
    )}`;
    const main = bound(text);
    const result = (name: string): string => {
      const { result } = nodeOf(main, name);
      return result === undefined ? "" : typeToText(result);
    };
    expect(result("every")).toBe("Item");
    expect(result("both")).toBe(`{ kind: "a" | "b", sum: float }`);
    expect(result("loose")).toBe("json");
    expect(main.types.map(({ name }) => name)).toEqual(["Item"]);
  });

  it("knows the effects of nodes, those of called graphs included", () => {
    const text = `import { search, rank } from "./nodes.ts"
graph inner { node a = shell("ls")  node b = print(rank([]))  start -> a -> b }
graph main {
  output out: json
  node call = inner()
  node pure = len("x") into out
  node loop = print(rank([x])) for x in ["a"]
  node ask_me = ask("?") into out
  start -> call -> pure -> loop -> ask_me
}`;
    const main = bound(text);
    const effects = Object.fromEntries(main.nodes.map(({ name, effects }) => [name, effects]));
    expect(effects).toEqual({ call: ["code", "shell"], pure: [], loop: ["code"], ask_me: ["person"] });
    expect(main.graphs.map(({ name }) => name)).toEqual(["inner"]);
  });

  it.each([
    ['"https://api.example.com/items"', ["net:api.example.com"]],
    ['"HTTP://API.Example.com:80"', ["net:api.example.com"]],
    ['"https://localhost:8080/?a=b"', ["net:localhost:8080"]],
    ['"https://[::1]:81/"', ["net:[::1]:81"]],
    ["`https://api.example.com/${x}/${x}`", ["net:api.example.com"]],
    ["`${API}/${x}`", ["net:api.example.com"]],
    ['API + "/" + x', ["net:api.example.com"]],
    ["`https://api.example.com${x}`", ["net"]],
    ["`https://${x}/`", ["net"]],
    ["x", ["net"]],
    ["API + x", ["net"]],
    ['"https://u@api.example.com/"', ["net"]],
    ['" https://api.example.com/"', ["net"]],
    ['"https:\\\\api.example.com/"', ["net"]],
    ['"/relative"', ["net"]],
    ['x, hosts: ["a.example.com", "*.Example.org"]', ["net:*.example.org", "net:a.example.com"]],
    ['"https://a.example.com/", hosts: ["b.example.com"]', ["net:b.example.com"]],
    ['"https://a.example.com/", hosts: [x]', ["net:a.example.com"]],
    ['"https://a.example.com/", hosts: ["a/b"]', ["net"]],
    ['"https://a.example.com/", hosts: []', []],
  ])("knows the hosts of `http(%s)`", (args, effects) => {
    const main = bound(`const API = "https://api.example.com"
graph main {
  input x: string
  node get = http(${args})
  start -> get
}`);
    expect(main.nodes[0]?.effects).toEqual(effects);
  });

  it("lists functions by first use, reducers that are nothing else last; all secrets of the file", () => {
    const text = `import { search, rank, combine } from "./nodes.ts"
secret USED
secret ALSO
graph other { node a = print(ALSO)  start -> a }
graph main {
  state all_found: string[] = [] reduce combine
  node a = search(rank([USED])) into all_found
  node b = print(all_found)
  start -> a -> b
}`;
    const main = bound(text);
    expect(main.functions.map(({ name }) => name)).toEqual(["search", "rank", "combine"]);
    expect(main.secrets).toEqual(["USED", "ALSO"]);
    const { call } = nodeOf(main, "a");
    expect(call.kind === "function" && call.args[0]?.expression).toMatchObject({ op: "call", function: 1 });
  });

  it("an import hides what is built in", () => {
    const text = `import { print, len } from "pkg"\n${graph(`output out: int`, `node a = print(len("x")) into out`, `start -> a`)}`;
    expect(nodeOf(bound(text), "a").call.kind).toBe("function");
  });

  it("a name that was misspelt poisons what was meant", () => {
    const { graphs } = bindText(graph(`node draft = print(1)`, `start -> darft`));
    expect([...(graphs[0]?.poisoned ?? [])].sort()).toEqual(["darft", "draft"]);
    expect(graphs[0]?.hasErrors).toBe(true);
    expect(graphs[0]?.edges).toEqual([]);
  });

  it("a `for` item hides a channel, and what is known of it", () => {
    const text = graph(
      `input x: string | null`,
      `input xs: (int | null)[]`,
      `output out: int[]`,
      `node a = (x ?? 0) + 1 for x in xs into out`,
      `start -> a when x != null`,
      `start -> end otherwise`,
    );
    expect(explain(bindText(text).diagnostics)).toBe("");
  });
});

describe("what a completed run has written", () => {
  const outputs = (...statements: readonly string[]): (string | undefined)[] => {
    const text = graph(
      `input flag: bool`,
      `output out: int`,
      `node set = 1 into out`,
      `node a = print(1)`,
      `node b = print(2)`,
      ...statements,
    );
    return bound(text).channels.flatMap(({ name, mayEndNull }) => (mayEndNull === true ? [name] : []));
  };
  it.each<[string, readonly string[], boolean]>([
    ["a node on every way", [`start -> a`, `a -> set when flag`, `a -> b otherwise`, `b -> set`], true],
    ["a node on one way", [`start -> a`, `a -> set when flag`, `a -> b otherwise`], false],
    ["a branch beside another", [`start -> a, set`, `a -> b`], true],
    [
      "a loop that leads through it",
      [`start -> a`, `a -> a when flag`, `a -> set otherwise`, `a -> b on error`, `b -> set`],
      true,
    ],
    ["the way of a failure without it", [`start -> a`, `a -> set`, `a -> b on error`], false],
    ["its own failure that is caught", [`start -> set`, `set -> b on error`, `set -> a`], false],
    ["what a barrier leads to", [`start -> a, b`, `all(a, b) -> set`], true],
    [
      "all arms of a match",
      [`node also = 2 into out`, `start -> match flag { true -> set  false -> also }`, `set -> a`, `also -> b`],
      true,
    ],
    ["not all arms of a match", [`start -> match flag { true -> set  false -> a }`, `set -> b`], false],
    ["a condition beside a plain edge", [`start -> a`, `a -> b`, `a -> set when flag`], false],
  ])("%s", (_about, statements, isWritten) => {
    expect(outputs(...statements)).toEqual(isWritten ? [] : ["out"]);
  });

  it("decides whether a caller gets null", () => {
    const inner = `graph inner { input c: bool  output o: int  node a = 1 into o  start -> a when c  start -> end otherwise }\n`;
    const call = (type: string): string =>
      explain(
        bindText(inner + graph(`output o: ${type}`, `node a = inner(c: true) into { o }`, `start -> a`)).diagnostics,
      );
    expect(call("int")).toContain("NG408");
    expect(call("int | null")).toBe("");
  });
});

describe("YAML", () => {
  it("binds like text, and is imported like it", () => {
    const yaml = `graph: inner
input: { q: string }
output: { r: "string[]" }
nodes:
  a: { expr: "[q]", into: r }
edges: [start -> a]
`;
    const text = `import { inner } from "./inner.yaml"\n${graph(`output r: string[]`, `node call = inner(q: "x") into { r }`, `start -> call`)}`;
    expect(bound(text, { "inner.yaml": yaml }).graphs.map(({ name }) => name)).toEqual(["inner"]);
    const { diagnostics } = bindText(yaml.replace("start -> a", "start -> b"), {}, { path: "inner.yaml" });
    expect(explain(diagnostics)).toBe("error NG101 at `b`: unknown node `b`");
  });
});
