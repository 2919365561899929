import { describe, expect, test } from "vitest";
import { check, compile, createEngine } from "../../api/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { format } from "../../grammar/index.ts";
import { ImportError, importText } from "../../importers/index.ts";
import type { SourceKind } from "../../importers/kinds.ts";

/** The import of a source, with what the compiler says about it and its stubs. */
async function imported(source: string | object, path = "source.json", kind?: SourceKind) {
  const text = typeof source === "string" ? source : JSON.stringify(source);
  const result = await importText(text, path, {
    name: "source",
    module: "./nodes.ts",
    ...(kind === undefined ? {} : { kind }),
  });
  expect(await format(result.text)).toBe(result.text);
  const host = memoryHost({ "nodes.ts": result.stubs ?? "" });
  const { diagnostics } = check(result.text, { path: "source.ngraph", host });
  const findings = diagnostics
    .filter(({ severity }) => severity !== "info")
    .map(({ code, severity }) => `${code}:${severity}`);
  return { ...result, findings };
}

/** An engine of an imported graph, with functions in the place of its stubs. */
async function engineOf(
  source: object | string,
  functions: Record<string, (...args: never[]) => unknown>,
  path = "source.json",
) {
  const { text, stubs } = await imported(source, path);
  const { table, diagnostics } = compile(text, {
    path: "source.ngraph",
    host: memoryHost({ "nodes.ts": stubs ?? "" }),
  });
  if (table === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  return createEngine(table, { functions, store: new MemoryStore() });
}

async function refusal(source: string | object, path = "source.json", kind?: SourceKind): Promise<string> {
  const error = await imported(source, path, kind).then(
    () => "it was imported",
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ImportError);
  return `${(error as ImportError).at}: ${(error as ImportError).message}`;
}

const MINIMAL = {
  nodes: { a: { type: "work" } },
  edges: [
    { from: "__start__", to: "a" },
    { from: "a", to: "__end__" },
  ],
};

describe("NeoGraph", () => {
  test("channels, reducers, barriers, pauses, retries and both forms of conditional edges", async () => {
    const { text, findings, changes } = await imported({
      schema_version: 1,
      name: "review-flow",
      _comment: "Reviews a text.",
      channels: { messages: { reducer: "append" }, status: { reducer: "overwrite", initial: "idle" } },
      nodes: {
        draft: { type: "llm_call" },
        "style check": { type: "checker", rules: ["a", { b: 1.5 }], _note: "fast" },
        facts: { type: "checker" },
        merge: { type: "merge", barrier: { wait_for: ["style check", "facts"] } },
      },
      edges: [
        { from: "__start__", to: "draft" },
        { from: "draft", to: "style check" },
        { from: "draft", to: "facts" },
        { from: "style check", to: "merge" },
        { from: "facts", to: "merge" },
        { from: "merge", condition: "done", routes: { yes: "__end__", no: "draft", default: "__end__" } },
      ],
      interrupt_before: ["merge"],
      retry_policy: { max_retries: 2, initial_delay_ms: 100, max_delay_ms: 5000 },
    });
    expect(findings).toEqual([]);
    expect(changes).toEqual([]);
    expect(text).toContain("// Reviews a text.\ngraph review_flow {");
    expect(text).toContain('output status: json = "idle" reduce last');
    expect(text).toContain('// fast\n  node style_check = checker(current, { rules: ["a", { b: 1.5 }] })');
    expect(text).toContain("tries 3 backoff 100ms..5s  pause before }");
    expect(text).toContain("all(style_check, facts) -> merge");
    expect(text).toContain('merge -> match done(current) {\n    "yes" -> end\n    "no" -> draft\n    else -> end\n  }');
  });

  test("an imported graph runs as its source", async () => {
    const engine = await engineOf(
      {
        channels: { log: { reducer: "append" }, __route__: {} },
        nodes: { router: { type: "router" }, a: { type: "say", text: "a" }, b: { type: "say", text: "b" } },
        edges: [
          { from: "__start__", to: "router" },
          { from: "router", condition: "route_channel", routes: { a: "a", b: "b" } },
        ],
      },
      {
        router: ({ log }: { log: string[] }) => ({ __route__: log[0] }),
        say: (_state: unknown, { text }: { text: string }) => ({ log: [text] }),
      },
    );
    expect((await engine.run({ input: { log: ["a"] } })).state).toMatchObject({ log: ["a", "a"] });
    expect((await engine.run({ input: { log: ["b"] } })).steps).toEqual([["begin"], ["router"], ["b"]]);
    // The lenient engine follows the last route.
    expect((await engine.run({ input: { log: ["x"] } })).steps).toEqual([["begin"], ["router"], ["b"]]);
  });

  test("called graphs replace the lists that they continue", async () => {
    const source = {
      schema_version: 1,
      channels: { messages: { reducer: "append" } },
      nodes: {
        talk: {
          type: "subgraph",
          definition: {
            name: "inner",
            channels: { messages: { reducer: "append" } },
            nodes: { reply: { type: "reply" } },
            edges: [{ from: "__start__", to: "reply" }],
          },
        },
      },
      edges: [{ from: "__start__", to: "talk" }],
    };
    const engine = await engineOf(source, { reply: () => ({ messages: ["hello"] }) });
    expect((await engine.run({ input: { messages: ["hi"] } })).state["messages"]).toEqual(["hi", "hello"]);
  });

  test("what is wrong in the source is a finding of the import", async () => {
    const { findings } = await imported({
      schema_version: 1,
      nodes: { a: { type: "x" }, b: { type: "x" }, j: { type: "x", barrier: { wait_for: ["a", "b"] } } },
      edges: [
        { from: "__start__", condition: "pick", routes: { a: "a", b: "b" } },
        { from: "a", to: "j" },
        { from: "b", to: "j" },
      ],
    });
    expect(findings).toContain("NG301:error");
  });

  test.each([
    [{ ...MINIMAL, edges: [{ from: "__start__", to: "b" }] }, "$.edges[0].to: `b` is not a node"],
    [{ ...MINIMAL, schema_version: 3 }, "$.schema_version: schema version 3 is not known"],
    [
      { ...MINIMAL, schema_version: 1, conditionnal_edges: [] },
      "$.conditionnal_edges: `conditionnal_edges` is not a key of a topology",
    ],
    [{ ...MINIMAL, nodes: { a: {} } }, "$.nodes.a.type: a text is missing"],
    [
      { ...MINIMAL, nodes: { a: { type: "x", barrier: { wait_for: ["ghost"] } } } },
      "$.nodes.a.barrier: `ghost` is not a node",
    ],
    [
      { ...MINIMAL, conditional_edges: [{ from: "a", condition: "c", routes: {} }] },
      "$.conditional_edges[0].routes: a conditional edge has at least one route",
    ],
    [
      { ...MINIMAL, channels: { m: { reducer: "append", initial: 1 } } },
      "$.channels.m.initial: the start value of a channel that appends is a list",
    ],
    [
      { nodes: { a: { type: "subgraph", definition: "inner.json" } } },
      '$.nodes.a.definition: the definition is the file "inner.json"',
    ],
  ])("%j is refused", async (source, message) => {
    expect(await refusal(source)).toBe(message);
  });

  test("names that the language does not have are changed, each to another one", async () => {
    const { text, findings } = await imported({
      channels: { match: {}, größe: {}, Größe: {}, a: {}, "1st": {} },
      nodes: {
        a: { type: "match" },
        start: { type: "end" },
        日本: { type: "日本" },
        "x-y": { type: "__proto__" },
        x_y: { type: "constructor" },
      },
      edges: [
        { from: "__start__", to: "a" },
        { from: "a", to: "start" },
        { from: "start", to: "日本" },
        { from: "日本", to: "x-y" },
        { from: "x-y", to: "x_y" },
      ],
    });
    expect(
      findings.filter((finding) => finding.endsWith("error")),
      text,
    ).toEqual([]);
    expect(text).toContain("output match_: json");
    expect(text).toContain("node x_y_2 = constructor(");
  });
});

describe("langgraph-gen", () => {
  test("YAML with conditional edges", async () => {
    const { text, findings, changes } = await imported(
      "name: Rag Agent\nentrypoint: agent\nnodes:\n  - name: agent\n  - name: Node 2\nedges:\n  - from: agent\n    condition: is_good\n    paths: [Node 2, __end__]\n  - from: Node 2\n    to: __end__\n",
      "spec.yml",
    );
    expect(findings).toEqual([]);
    expect(text).toContain("graph Rag_Agent {");
    expect(text).toContain('agent -> match is_good(current) { "Node 2" -> Node_2  "__end__" -> end }');
    expect(changes).toEqual([expect.stringContaining("does not describe the state")]);
  });

  test("unknown nodes and doubles are refused", async () => {
    expect(await refusal("nodes:\n  - name: a\nedges:\n  - from: a\n    to: b\n", "s.yml")).toBe(
      "$.edges[0].to: `b` is not a node",
    );
    expect(await refusal("nodes: [{name: a}, {name: a}]\nedges: []\n", "s.yml")).toBe(
      "$.nodes: the node `a` is declared twice",
    );
  });

  test("fields of formats that resemble it are refused in edges, and said elsewhere", async () => {
    const nodes = "nodes: [{name: a}, {name: b}]\n";
    expect(
      await refusal(`${nodes}edges:\n  - {from: a, to: b, when: state.x > 1}\n  - {from: b, to: __end__}\n`, "s.yml"),
    ).toBe("$.edges[0].when: edges of langgraph-gen have no field `when`");
    const { text, changes } = await imported(
      "goal: x\nnodes: [{name: a, run: print(1)}]\nedges: [{from: __start__, to: a}, {from: a, to: __end__}]\n",
      "s.yml",
    );
    const said = ["$.nodes[0].run: `run` is no field of langgraph-gen", "$.goal: `goal` is no field of langgraph-gen"];
    expect(changes).toEqual(expect.arrayContaining(said.map((each) => expect.stringContaining(each))));
    expect(text).toContain("// `run` is no field of langgraph-gen");
  });
});

describe("LangGraph JS", () => {
  const AGENT = `
import { StateGraph, Annotation, START, END, MessagesAnnotation } from "@langchain/langgraph";
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  topic: Annotation<string>,
  score: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
  drafts: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
  verdict: Annotation<"good" | "bad" | null>(),
  seen: Annotation<Record<string, number>>({ reducer: (a, b) => ({ ...a, ...b }), default: () => ({}) }),
});
const grade = async (state: typeof State.State) => {
  if (state.score > 3) return { verdict: "good", score: 1 };
  return { verdict: "bad" };
};
function shouldContinue({ messages }) {
  if (messages.at(-1).tool_calls?.length) return "tools";
  return END;
}
const workflow = new StateGraph(State)
  .addNode("agent", async (state) => ({ messages: [await model.invoke(state.messages)] }))
  .addNode("tools", new ToolNode(tools))
  .addNode("grade", grade, { retryPolicy: { maxAttempts: 4 } })
  .addEdge(START, "grade")
  .addEdge("tools", "agent");
workflow.addConditionalEdges("grade", (state) => (state.verdict === "good" ? "agent" : END));
workflow.addConditionalEdges("agent", shouldContinue, { tools: "tools", [END]: END });
export const app = workflow.compile({ checkpointer, interruptBefore: ["tools"] });
`;

  test("builder calls, annotations, reducers, routers and interrupts", async () => {
    const { text, findings, changes } = await imported(AGENT, "agent.ts");
    expect(findings).toEqual([]);
    expect(text).toContain("output messages: json[] reduce append");
    expect(text).toContain("output topic: string | null = null");
    expect(text).toContain("output score: float = 0.0 reduce sum");
    expect(text).toContain("output drafts: string[] reduce append");
    expect(text).toContain('output verdict: "good" | "bad" | null = null');
    expect(text).toContain("output seen: map<json> reduce merge");
    expect(text).toContain("node grade = grade(current) into { verdict?, score? } { tries 4 backoff 500ms..128s }");
    expect(text).toMatch(/node tools = tools\(current\) into \{[^}]*\} \{ pause before \}/);
    expect(text).toContain('grade -> match route_grade(current) { "agent" -> agent  "__end__" -> end }');
    expect(text).toContain('agent -> match shouldContinue(current) { "tools" -> tools  "__end__" -> end }');
    expect(changes).toEqual([expect.stringContaining("is an object of a library")]);
  });

  test("the state and the node functions may be in files that the program imports", async () => {
    const files: Readonly<Record<string, string>> = {
      "./state/index.js": `export * from "./base.js"; export { Full as default } from "./full.js";`,
      "./base.js": `export const Base = Annotation.Root({ ...MessagesAnnotation.spec, topic: Annotation<string> });`,
      "./full.js": `import { Base as Parent } from "./base.js";
        const reduceDrafts = (a, b) => a.concat(b);
        export const Full = Annotation.Root({ ...Parent.spec, drafts: Annotation<string[]>({ reducer: (a, b) => a.concat(b) }) });`,
      "./nodes": `const helper = 1; export { one as first }; async function one(state) { return { topic: "x" }; }
        export default function route(state) { return state.topic === "x" ? "second" : "__end__"; }`,
    };
    const program = `import { StateGraph } from "@langchain/langgraph";
      import State from "./state/index.js";
      import route, { first } from "./nodes";
      export const agent = new StateGraph(State).addNode("first", first).addNode("second", first)
        .addEdge("__start__", "first").addConditionalEdges("first", route).addEdge("second", "__end__");`;
    const asked: string[] = [];
    const { text, changes } = await importText(program, "agent.ts", {
      name: "agent",
      module: "./nodes.ts",
      readModule: (specifier) => {
        asked.push(specifier);
        const found = files[specifier];
        return found === undefined ? undefined : { path: specifier, text: found };
      },
    });
    expect(text).toContain("output messages: json[] reduce append");
    expect(text).toContain("output topic: string | null = null");
    expect(text).toContain("output drafts: string[] reduce append");
    expect(text).toContain("node first = first(current) into { topic? }");
    expect(text).toContain('first -> match route(current) { "second" -> second  "__end__" -> end }');
    expect(changes).toEqual([]);
    expect(asked).not.toContain("@langchain/langgraph");
    const alone = await importText(program.replace(".addConditionalEdges", ".compile() // "), "agent.ts", {
      name: "agent",
      module: "./nodes.ts",
    });
    expect(alone.changes[0]).toContain("the description of the state was not found");
  });

  test("modules that import each other, that are no programs, or that are not there, end the search", async () => {
    const program = (from: string): string => `import { State } from "${from}";
      export const g = new StateGraph(State).addNode("a", (s) => ({})).addEdge("__start__", "a").addEdge("a", "__end__");`;
    const readModule = (specifier: string): { path: string; text: string } | undefined =>
      specifier === "./a"
        ? { path: "a", text: `export { State } from "./b"; export * from "./a";` }
        : specifier === "./b"
          ? { path: "b", text: `import { State } from "./a"; export { State };` }
          : specifier === "./text"
            ? { path: "text", text: "no program at all {{" }
            : undefined;
    for (const from of ["./a", "./text", "./none"]) {
      const { text } = await importText(program(from), "g.ts", { name: "g", module: "./nodes.ts", readModule });
      expect(text).toContain("output data: map<json> reduce merge");
    }
  });

  test("states that extend others have the fields of both", async () => {
    const { text } = await imported(
      `const Base = z.object({ topic: z.string(), kind: z.string() });
       const State = MessagesZodState.merge(Base).extend({ kind: z.array(z.string()) });
       const g = new StateGraph(State).addNode("one", (s) => ({ topic: "1" })).addEdge("__start__", "one").addEdge("one", "__end__");`,
      "g.ts",
    );
    expect(text).toContain("output messages: json[] reduce append");
    expect(text).toContain("output topic: string | null = null");
    expect(text).toContain("output kind: json[]");
  });

  test("a `StateSchema` with values, reducers and defaults", async () => {
    const { text, findings } = await imported(
      `const State = new StateSchema({
         chat: MessagesValue,
         turns: z.number().default(0),
         title: z.string().optional(),
         tags: new ReducedValue(z.array(z.string()).default(() => []), { reducer: (a, b) => a.concat(b) }),
         total: new ReducedValue(z.number().default(3), { reducer: (a, b) => a + b }),
         cache: new UntrackedValue(z.record(z.string(), z.any())),
       });
       const g = new StateGraph(State).addNode("one", (s) => ({ turns: 1 })).addEdge("__start__", "one").addEdge("one", "__end__");`,
      "g.ts",
    );
    expect(findings).toEqual([]);
    expect(text).toContain("output chat: json[] reduce append");
    expect(text).toContain("output turns: float = 0.0");
    expect(text).toContain("output title: string | null = null");
    expect(text).toContain("output tags: json[] reduce append");
    expect(text).toContain("output total: float = 3.0 reduce sum");
    expect(text).toContain("output cache: json = null");
  });

  test("an imported agent runs", async () => {
    let calls = 0;
    const engine = await engineOf(
      AGENT.replace(', interruptBefore: ["tools"]', ""),
      {
        grade: () => ({ verdict: "good" }),
        agent: () => ({ messages: [{ calls: calls++ }] }),
        tools: () => ({ messages: ["result"] }),
        route_grade: () => "agent",
        shouldContinue: ({ messages }: { messages: unknown[] }) => (messages.length < 3 ? "tools" : "__end__"),
      },
      "agent.ts",
    );
    const { state, steps } = await engine.run({ input: { topic: "x" } });
    expect(state["messages"]).toEqual([{ calls: 0 }, "result", { calls: 1 }]);
    expect(steps.flat()).toEqual(["begin", "grade", "agent", "tools", "agent"]);
  });

  test("names of nodes may be constants, members of objects and of enums, and come from other files", async () => {
    const program = `import * as lg from "@langchain/langgraph";
      import { FIRST } from "./names";
      const NODES = { WRITE: "write", REVIEW: "review" } as const;
      const Frozen = Object.freeze({ send: "send" });
      enum Last { Publish = "publish" }
      const S = lg.Annotation.Root({ topic: lg.Annotation<string> });
      const work = async (s) => ({ topic: "t" });
      export default new lg.StateGraph(S)
        .addNode(FIRST, work).addNode(NODES.WRITE, work).addNode(NODES["REVIEW"], work).addNode(Frozen.send, work)
        .addNode(Last.Publish, work)
        .addEdge(lg.START, FIRST).addEdge(FIRST, NODES.WRITE).addEdge(NODES.WRITE, NODES.REVIEW)
        .addConditionalEdges(NODES.REVIEW, (s) => (s.topic ? Frozen.send : Last.Publish))
        .addEdge(Frozen.send, lg.END).compile();`;
    const { text, changes } = await importText(program, "g.ts", {
      name: "g",
      module: "./nodes.ts",
      readModule: () => ({ path: "names.ts", text: 'export const FIRST = "first";' }),
    });
    expect(text).toContain("start -> begin -> first -> write -> review\n");
    expect(text).toContain('review -> match route_review(current) { "send" -> send  "publish" -> publish }');
    expect(text).toContain("send -> end");
    expect(text).toContain("node write = work(current) into { topic? }");
    expect(changes).toEqual([]);
  });

  test("a name that is not the same in all of the program is no constant", async () => {
    const graph = (calls: string): string => `const name = "a"; const g = new StateGraph(S); ${calls}`;
    for (const calls of [
      "function add(name) { g.addNode(name, f); }",
      'for (const name of ["x", "y"]) g.addNode(name, f);',
      'let other = "b"; other = "c"; g.addNode(other, f);',
      "g.addNode(unknown.name, f);",
    ]) {
      expect(await refusal(graph(calls), "g.ts")).toContain("the name of a node is a text, a constant, START or END");
    }
    const { text } = await imported(graph("g.addNode(name, f); g.addEdge('__start__', name);"), "g.ts");
    expect(text).toContain("node a = f(");
  });

  test("builders may be fields of a class, results of functions, and exports; methods are node functions", async () => {
    const { text, findings, changes } = await imported(
      `import { StateGraph as Builder, MessagesAnnotation, START, END } from "@langchain/langgraph";
       export class Agent {
         build() {
           this.graph.addNode("agent", this.call.bind(this)).addNode([["tools", useTools]]).addEdge(START, "agent");
           this.graph.addConditionalEdges("agent", this.route).addEdge("tools", "agent");
           return this.graph.compile({ interruptBefore: "*" });
         }
         private graph = new Builder(MessagesAnnotation);
         async call(state) { return { messages: [] }; }
         route(state): "tools" | typeof END { return pick(state); }
       }`,
      "agent.ts",
    );
    expect(findings.filter((each) => each.endsWith("error"))).toEqual([]);
    expect(changes).toEqual([]);
    expect(text).toContain("node agent = call(current) into { messages? } { pause before }");
    expect(text).toContain("node tools = useTools(current) into { messages? } { pause before }");
    expect(text).toContain('agent -> match route(current) { "tools" -> tools  "__end__" -> end }');
    const arrow = await imported(
      'export const make = () => new StateGraph({ channels: { a: null } }).addNode({ async one(s) { return { a: 1 }; } }).addEdge(START, "one").compile();',
      "g.ts",
    );
    expect(arrow.text).toContain("node one = one(current) into { a? }");
  });

  test("start values of every kind of constant are kept", async () => {
    const { text, stubs, findings } = await imported(
      `const items = Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => ["first"] });
       const S = Annotation.Root({
         items,
         kind: Annotation<"json" | "float">,
         level: Annotation<number>({ value: (a, b) => b ?? a, default: () => -1 }),
         options: Annotation<{ a: number }>({ default: () => ({ a: 1, "b c": [1, 2.5] }) }),
         none: Annotation<string>({ default: () => undefined }),
         seen: Annotation<Record<string, string>>({ reducer: (a, b) => ({ ...a, ...b }), default: () => ({ x: "y" }) }),
       });
       const g = new StateGraph(S).addNode("one", (s) => ({ level: 1 })).addEdge("__start__", "one").addEdge("one", "__end__");`,
      "g.ts",
    );
    expect(findings).toEqual([]);
    expect(text).toContain('output items: string[] = ["first"] reduce append');
    expect(text).toContain("output level: float = -1.0 reduce last");
    expect(text).toContain('output options: json = { a: 1, "b c": [1, 2.5] }');
    expect(text).toContain("output none: string | null = null");
    expect(text).toContain('output seen: map<json> = { x: "y" } reduce merge');
    // Texts of an enum are no types.
    expect(stubs).toContain('kind?: "json" | "float" | null;');
  });

  test("every loss is said, at its place", async () => {
    const { text, changes, findings } = await imported(
      `const S = Annotation.Root({ items: Annotation<string[]>({ reducer: (a, b) => a.concat(b) }), who: Annotation<string>({ default: () => process.env.WHO }) });
       const wf = new StateGraph({ stateSchema: S, input: Input });
       if (process.env.X) wf.addEdge("d", END);
       wf.addNode("b-c", async (s) => { const n = s.items.map((i) => { return i + 1; }); return { items: n }; }, { defer: true, cachePolicy: {}, retryPolicy: { maxAttempts: 2, backoffFactor: 3, retryOn: isNetwork } });
       wf.addNode("d", async () => new Command({ goto: ["b-c", END], update: { items: [] } }));
       wf.addNode("e", async () => new Command({ goto: next }));
       wf.addEdge(START, "d").addEdge(START, "d");
       wf.addConditionalEdges("b-c", (s) => s.items.map((i) => new Send("e", i)), ["e"]);
       wf.addConditionalEdges("e", (s) => (s.x ? ["b-c", "d"] : "d"), { ...more, "b-c": "b-c" });
       wf.addConditionalEdges("e", function both(s) { if (s.x) { return ["b-c", "d"]; } return END; });
       other.addNode("zzz", f);
       wf.compile({ interruptBefore: ["d", "nope"], interruptAfter: list });`,
      "g.ts",
    );
    const said = changes.map((change) => change.replace(/: .*?(`[^`]*`).*/, " $1"));
    expect(said).toEqual([
      "line 11 `addNode`",
      "line 2 `input`",
      "line 1 `who`",
      "line 3 `addEdge`",
      "line 4 `defer`",
      "line 4 `cachePolicy`",
      "line 4 `retryOn`",
      "line 4 `b-c`",
      "line 5 `d`",
      "line 6 `e`",
      "line 8 `route_b-c`",
      "line 9: the routes that are spread here are not read",
      "line 10 `both`",
      "line 12 `nope`",
      "line 12 `interruptAfter`",
    ]);
    expect(findings.filter((each) => each.endsWith("error"))).toEqual([]);
    expect(text).toContain("node b_c = b_c(current) into { items? } { tries 2 backoff 500ms..128s }");
    expect(text).toContain("{ goes b_c, end  pause before }");
    expect(text).toContain('"b-c,d" -> b_c, d');
    expect(text).toContain('e -> match route_e(current) { "b-c" -> b_c }');
    // An edge that is added twice is one edge.
    expect(text).toContain("start -> begin -> d");
    expect(text).not.toContain("d, d");
  });

  test("a node, a router and other routers of the same name are functions of their own", async () => {
    const { text, findings } = await imported(
      `const route = (s) => (s.a ? "two" : END);
       const S = Annotation.Root({ a: Annotation<string> });
       const g = new StateGraph(S).addNode("route", async (s) => ({ a: "x" })).addNode("two", f)
         .addEdge(START, "route").addConditionalEdges("route", route)
         .addConditionalEdges("two", (s) => (s.a ? "route" : END)).addConditionalEdges("two", (s) => (s.a ? "two" : END));`,
      "g.ts",
    );
    expect(findings.filter((each) => each.endsWith("error"))).toEqual([]);
    expect(text).toContain("import { route, f, route_2, route_two, route_two_2 }");
    expect(text).toContain("node route = route(current)");
    expect(text).toContain("route -> match route_2(current)");
  });

  test("states that spread each other again and again end the search", async () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `const S${level} = Annotation.Root({ ${`...S${level + 1}.spec, `.repeat(10)} });`,
    );
    const { text } = await imported(
      `${levels.join("\n")} const S12 = Annotation.Root({ ...S0.spec, a: Annotation<string> });
       const g = new StateGraph(S0).addNode("one", f).addEdge("__start__", "one");`,
      "g.ts",
    );
    expect(text).toContain("node one = f(");
  });

  test("a reducer that joins texts stays a function", async () => {
    const { text, findings } = await imported(
      `const State = Annotation.Root({ log: Annotation<string>({ reducer: (a: string, b: string) => a + b, default: () => "" }) });
       const g = new StateGraph(State).addNode("one", (s) => ({ log: "1" })).addEdge("__start__", "one").addEdge("one", "__end__");
       export default g.compile();`,
      "g.ts",
    );
    expect(findings.filter((each) => each.endsWith("error"))).toEqual([]);
    expect(text).toContain("reduce reduce_log");
  });

  test("lists of sources are joins, and objects of nodes are nodes", async () => {
    const { text, findings } = await imported(
      `const g = new StateGraph({ channels: { a: null, b: { value: (x, y) => y ?? x, default: () => "z" } } })
         .addNode({ one: (s) => ({ a: 1 }), two: (s) => ({ b: 2 }) })
         .addNode("three", (s) => ({}));
       g.setEntryPoint("one"); g.addEdge("__start__", "two"); g.addEdge(["one", "two"], "three"); g.setFinishPoint("three");
       export default g.compile();`,
      "g.mjs",
    );
    expect(findings).toEqual([]);
    expect(text).toContain("all(one, two) -> three");
    expect(text).toContain('output b: json = "z" reduce last');
    expect(text).toContain("three -> end");
  });

  test.each([
    ["const x = 1;", "line 1: the program creates no `StateGraph`"],
    ["const x = ;;; {", "line 1: the program cannot be parsed"],
    ['const g = new StateGraph(S).addNode("a", f).addEdge("a", "b");', "line 1: `b` is not a node of the graph"],
    [
      'const g = new StateGraph(S).addNode("a", f).addConditionalEdges("a", imported);',
      "line 1: the targets of `imported` are not in this file",
    ],
    ['const g = new StateGraph(S).addNode("a", f).addNode("a", f);', "line 1: the node `a` is added twice"],
    ["export const g = new StateGraph(S);", "line 1: the `StateGraph` has no nodes in this file"],
    ["const g = new StateGraph(S).addNode(nodes);", "line 1: the nodes are not in this file"],
  ])("%j is refused", async (source, message) => {
    expect(await refusal(source, "g.ts")).toContain(message);
  });
});

describe("plans", () => {
  test("kahn's graph.json", async () => {
    const { text, findings } = await imported({
      version: 1,
      nodes: [
        {
          id: "schema-init",
          deliverable: 'Create "it"',
          depends_on: [],
          touches: ["db/**"],
          parallel_safe: false,
          done_when: ["npm test", "test -f db"],
        },
        {
          id: "api",
          deliverable: "The API",
          depends_on: ["schema-init"],
          touches: [],
          done_when: ["true"],
          max_ralph_iters: 1,
        },
      ],
    });
    expect(findings).toEqual([]);
    expect(text).toContain('task schema_init = shell([agent, "Create \\"it\\""], check: false) {');
    expect(text).toContain('done when shell("test -f db")');
    expect(text).toContain("alone");
    expect(text).toContain("tries 6");
    expect(text).toMatch(/task api = shell\(.*\) after schema_init \{ done when shell\("true"\) \}/);
    expect(await refusal({ version: 1, nodes: [{ id: "a", depends_on: ["b"] }] })).toBe(
      "$.nodes[0].depends_on[0]: `b` is not a node",
    );
    expect(await refusal({ version: 1, nodes: [{ id: "a", depends_on: [], max_ralph_iters: 0 }] })).toContain(
      "max_ralph_iters",
    );
  });

  test("scripts of a package", async () => {
    const { text, findings } = await imported(
      {
        name: "@scope/shop",
        scripts: {
          prebuild: "rm -rf dist",
          build: "tsc",
          test: "vitest",
          all: "npm run build && npm run test",
          "a:b": "echo",
        },
      },
      "package.json",
    );
    expect(findings).toEqual([]);
    expect(text).toContain("plan shop_scripts {");
    expect(text).not.toContain("prebuild");
    expect(text).toContain("task all_ = true after build, test");
    expect(text).toContain('task a_b = shell("npm run a:b")');
    expect(await refusal({ scripts: {} })).toBe("$.scripts: the package has no scripts");
  });

  test("scripts with names that a shell would not read as one word", async () => {
    const { text, findings } = await imported(
      { scripts: { "a; touch x": "echo", "-c": "echo", "b c": "echo", "\u202ed\u009b": "echo" } },
      "package.json",
    );
    expect(findings).toEqual([]);
    expect(text).toContain('shell(["npm", "run", "a; touch x"])');
    expect(text).toContain('shell(["npm", "run", "--", "-c"])');
    expect(text).toContain('shell(["npm", "run", "b c"])');
    expect(text).toContain(String.raw`shell(["npm", "run", "\u202ed\u009b"])`);
  });

  test("tasks of Turborepo, with comments", async () => {
    const { text, findings, changes } = await imported(
      '{ // tasks\n "tasks": { "build": { "dependsOn": ["^build"], "outputs": ["dist/**", "!dist/x"], }, /* */ "test": { "dependsOn": ["build", "gen"], "cache": false } } }',
      "turbo.json",
    );
    expect(findings).toEqual([]);
    expect(text).toContain('task build = shell("npm run build") { cache inputs "**"  outputs "dist/**" }');
    expect(text).toContain('task test = shell("npm run test") after build');
    expect(changes).toEqual([
      expect.stringContaining("`^build` means other packages"),
      expect.stringContaining('"!dist/x" is not imported'),
      expect.stringContaining("`gen` is not a task"),
      expect.stringContaining("Turborepo takes the files that Git does not ignore"),
    ]);
  });

  test("a task of another package of Turborepo runs there, without the paths of this one", async () => {
    const { text, findings, changes } = await imported(
      {
        tasks: {
          "//#lint": { inputs: ["src/**"] },
          "@a/web#build": { outputs: ["dist/**"], dependsOn: ["//#lint"] },
          "a b#-x": {},
        },
      },
      "turbo.json",
    );
    expect(findings).toEqual([]);
    expect(text).toContain('task lint = shell("npm run lint") { cache inputs "src/**" }');
    expect(text).toContain('task a_web_build = shell("npm run --workspace=@a/web build") after lint\n');
    expect(text).toContain('task a_b_x = shell(["npm", "run", "--workspace=a b", "--", "-x"])\n');
    expect(changes).toEqual([
      expect.stringContaining("a task of the package `@a/web`: its paths are not imported"),
      expect.stringContaining("a task of the package `a b`"),
    ]);
  });

  test("inputs, variables and kinds of tasks of Turborepo", async () => {
    const { text, findings, changes } = await imported(
      {
        globalDependencies: ["tsconfig.json", "$TURBO_ROOT$/x"],
        globalEnv: ["CI", "VERCEL_*"],
        tasks: {
          build: {
            description: "Builds.",
            inputs: ["src/**", "!src/x", "../shared/**"],
            env: ["NODE_ENV", "CI", "!SECRET"],
            dependsOn: ["$TOKEN", "$", "$A B"],
            outputs: ["dist/**", "**/*.js"],
          },
          lint: { inputs: ["$TURBO_DEFAULT$", ".env"] },
          gen: { cache: false, outputs: ["gen/**"] },
          login: { interactive: true },
          dev: { cache: false, persistent: true },
        },
      },
      "turbo.json",
    );
    expect(findings).toEqual([]);
    for (const line of [
      "  /// Builds.",
      '    cache inputs "src/**", "tsconfig.json" variables "CI", "NODE_ENV", "TOKEN"',
      '    outputs "dist/**"',
      'task lint = shell("npm run lint") { cache inputs "**", ".env", "tsconfig.json" variables "CI" }',
      'task gen = shell("npm run gen") { touches "gen/**" }',
      'task login = shell("npm run login") { interactive }',
      'task dev = shell("npm run dev")\n',
    ])
      expect(text).toContain(line);
    expect(changes.map((change) => change.slice(0, change.indexOf(":")))).toEqual([
      "$.globalDependencies",
      "$.globalEnv",
      "$.tasks.build.env",
      "$.tasks.build.dependsOn[1]",
      "$.tasks.build.dependsOn[2]",
      "$.tasks.build.outputs",
      "$.tasks.build.inputs",
      "$.tasks.build.inputs",
      "$.tasks.dev.persistent",
      "$",
    ]);
  });
});

test("a template of CloudFormation says where its state machines are", async () => {
  const helpOf = async (resources: object): Promise<unknown> => {
    const text = JSON.stringify({ AWSTemplateFormatVersion: "2010-09-09", Resources: resources });
    return importText(text, "template.json", { name: "g", module: "./g.ts" }).catch((error: unknown) => {
      if (!(error instanceof ImportError)) throw error;
      return [error.message, error.help];
    });
  };
  const message = "the file is a template of CloudFormation";
  const machine = (properties: object): object => ({
    Type: "AWS::Serverless::StateMachine",
    Properties: properties,
  });
  const inside = machine({ Definition: { StartAt: "A", States: {} } });
  const outside = machine({ DefinitionUri: "flows/send.asl.json" });
  expect(await helpOf({ Bucket: { Type: "AWS::S3::Bucket" }, Send: outside })).toEqual([
    expect.stringContaining(message),
    "its state machine is the file flows/send.asl.json: import that file",
  ]);
  expect(await helpOf({ Send: inside, Other: outside, Broken: null })).toEqual([
    expect.stringContaining(message),
    "its state machine is $.Resources.Send.Properties.Definition, and 1 more: write it to a file of its own",
  ]);
  expect(await helpOf({ Bucket: { Type: "AWS::S3::Bucket" } })).toEqual([
    expect.stringContaining(message),
    "it has no state machine with a definition, which could be imported",
  ]);
});

test("a key that a JSON text repeats is said: the last one counts", async () => {
  const { text, changes } = await imported(
    `/* two\nlines */ {\n  "nodes": { "a": { "type": "one" },\n "\\u0061": { "type": "two", "x": [{ "y": 1 }, { "y": 2 }] } },\n "edges": [\n{ "from": "__start__", "to": "a", "to": "a" }] }`,
  );
  expect(changes).toEqual([
    'line 4: the key "a" is repeated in its object: the last one counts',
    'line 6: the key "to" is repeated in its object: the last one counts',
  ]);
  expect(text).toContain('// the key "a" is repeated in its object: the last one counts\n');
  expect(text).toContain("node a = two(");
});

test("other files are refused with the kinds that there are", async () => {
  expect(await refusal("{}")).toBe("$: the file is of no kind that can be imported");
  expect(await refusal("[1, 2]")).toBe("$: the file is of no kind that can be imported");
  expect(await refusal("{")).toContain("line 1: the file is not JSON");
  expect(await refusal('\n{\n  // a note\n  "a": 1,\n  "b": ${Size}\n}')).toBe(
    "line 5: the file is not JSON: Unexpected token '$'",
  );
  expect(await refusal('{\n  "a": 1\n')).toMatch(/^line [23]: the file is not JSON: /);
  expect(await refusal("a: [", "a.yaml")).toContain("line 1: the file is not YAML");
  expect(await refusal(" \n")).toBe("line 1: the file is empty");
  expect(await refusal("", "agent.ts")).toBe("line 1: the file is empty");
  expect(await refusal({ a: 1 }, "x.json", "neograph")).toBe("$.nodes: an object of nodes is missing");
  expect(await refusal({ a: 1 }, "x.json", "langgraph-gen")).toBe("$.nodes: a list of nodes is missing");
  expect(await refusal({ nodes: [] }, "x.json", "neograph")).toBe("$.nodes: expected an object of nodes, found []");
});
