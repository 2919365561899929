import { describe, expect, test } from "vitest";
import { importText } from "../../importers/index.ts";
import { engineOf, imported, refusal } from "./imported.ts";

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

  test("a field is a variable of its class only, also if methods come before it", async () => {
    const { text } = await imported(
      `
      const S = Annotation.Root({ a: Annotation<string>() });
      class First { graph = new StateGraph(S); wire() { this.graph.addNode("one", f).addEdge(START, "one"); } }
      class Second { wire() { this.graph.addNode("two", f).addEdge(START, "two"); } graph = new StateGraph(S); }
      class Third { wire() { this.graph.addNode("three", f).addEdge(START, "three"); } graph = new StateGraph(S); }
    `,
      "source.ts",
    );
    expect(text.match(/start -> .*/g)).toEqual([
      "start -> begin -> one",
      "start -> begin -> two",
      "start -> begin -> three",
    ]);
  });

  test("a class may have fields without values", async () => {
    const program = `import { StateGraph, Annotation, START, END } from "@langchain/langgraph";
      const S = Annotation.Root({ topic: Annotation<string> });
      export class Writer {
        private model;
        private graph = new StateGraph(S).addNode("write", async (s) => ({ topic: "t" }))
          .addEdge(START, "write").addEdge("write", END);
      }`;
    const { text } = await importText(program, "g.ts", { name: "g", module: "./nodes.ts" });
    expect(text).toContain("start -> begin -> write -> end");
  });

  test("comments of JSON that do not end are read once", async () => {
    await expect(
      importText("{" + "/* ".repeat(40_000), "turbo.json", { name: "g", module: "./nodes.ts" }),
    ).rejects.toThrow(/JSON/);
  });

  test("a reducer that changes its update is no list of all updates", async () => {
    const program = `import { StateGraph, Annotation, START, END } from "@langchain/langgraph";
      const S = Annotation.Root({ all: Annotation<string[]>({ reducer: (x, y) => x.concat(y.filter(Boolean)), default: () => [] }) });
      export const graph = new StateGraph(S).addNode("write", async (s) => ({ all: ["t"] }))
        .addEdge(START, "write").addEdge("write", END).compile();`;
    const { text } = await importText(program, "g.ts", { name: "g", module: "./nodes.ts" });
    expect(text).not.toContain("reduce append");
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
    expect(text).toContain("`defer` is left out: let the node come after `settled(…)`");
    expect(text).toContain("{ goes b_c, end  pause before }");
    expect(text).toContain('"b-c,d" -> b_c, d');
    expect(text).toContain('e -> match route_e(current) { "b-c" -> b_c }');
    // An edge that is added twice is one edge.
    expect(text).toContain("start -> begin -> d");
    expect(text).not.toContain("d, d");
  });

  test("a router that many edges share, and a function that many nodes share, are read once", async () => {
    const keys = Array.from({ length: 300 }, (_, index) => `k${index}`);
    const returns = keys.map((key) => `if (s.a === "${key}") return "${key}";`).join("\n");
    const jumps = keys.map((key) => `if (s.a === "${key}") return new Command({ goto: "k0" });`).join("\n");
    const program = (map: string): string =>
      `const S = Annotation.Root({ a: Annotation<string> });
       const route = (s) => { ${returns} return END; };
       const work = (s) => { ${jumps} return { a: "b" }; };
       const g = new StateGraph(S);
       ${keys.map((key) => `g.addNode("${key}", work); g.addConditionalEdges("${key}", route${map});`).join("\n")}
       g.addEdge(START, "k0");`;
    // Reading the function at each of its uses would visit a million parts of it.
    const { text } = await importText(program(", { k1: 'k1', k2: END }"), "g.ts", { name: "g", module: "./nodes.ts" });
    expect(text).toContain('k299 -> match route(current) { "k1" -> k1  "k2" -> end }');
    expect(await refusal(program(""), "g.ts")).toContain("the routes of the graph are more than 20000");
  });

  test("jumps and routes are read from conditions, constants, lists and `Send`", async () => {
    const { text, changes } = await imported(
      `import { START as S, END as E, StateGraph, Annotation, Command, Send } from "@langchain/langgraph";
       const State = Annotation.Root({ topic: Annotation<string> });
       const next = pick ? "b" : E;
       const g = new StateGraph(State)
         .addNode("a", (s) => new Command({ goto: s.topic ? "b" : "c" }))
         .addNode("b", (s) => new Command({ goto: [] }))
         .addNode("c", (s) => new Command({ goto: new Send("b", { topic: "x" }) }))
         .addNode("d", (s) => new Command({ goto: s.items }))
         .addEdge(S, "a")
         .addConditionalEdges("a", (s) => s.items.map((item) => new Send("c", item)))
         .addConditionalEdges("b", (s) => { return next; })
         .addConditionalEdges("c", (s): "b" | typeof E => choose(s))
         .addEdge("d", E);
       ["r"].forEach(() => g.addEdge("c", "d"));
       g.compile({ interruptBefore: null, interruptAfter: undefined });`,
      "g.ts",
    );
    expect(text).toContain("node a = a(current) into { topic? } { goes b, c }");
    expect(text).toContain("node c = c(current) into { topic? } { goes b }");
    expect(text).toContain('a -> match route_a(current) { "c" -> c }');
    expect(text).toContain('b -> match route_b(current) { "b" -> b  "__end__" -> end }');
    expect(text).toContain('c -> match route_c(current) { "b" -> b  "__end__" -> end }');
    expect(text).toContain("start -> begin -> a");
    expect(changes.map((change) => change.replace(/`[^`]*`/g, "_"))).toEqual([
      "line 5: _ returns _: here its function calls _ of the context",
      "line 7: _ returns _: here its function calls _ of the context",
      "line 7: _ returns _ in _, which gives the node a state of its own: here it reads the common state",
      "line 8: _ returns _ with a _ that is no constant: its jumps are not read",
      "line 10: _ returns _, which runs a node once for each item: here it returns a key, and a node with _ runs for each item",
      "line 14: _ is under a condition or in a loop, and counts here as if it ran once",
    ]);
  });

  const TEAM = `import { StateGraph, Annotation, START, END, MessagesAnnotation } from "@langchain/langgraph";
    const Inner = Annotation.Root({ ...MessagesAnnotation.spec, error: Annotation<string>, input: Annotation<string> });
    const State = Annotation.Root({ ...MessagesAnnotation.spec, error: Annotation<string>, tries: Annotation<number> });
    const log = async (s) => ({ error: "x" });
    const research = new StateGraph(Inner)
      .addNode("agent", (s) => ({ messages: [], input: "a" })).addNode("log", log)
      .addEdge(START, "agent").addConditionalEdges("agent", (s) => (s.error ? "log" : END)).compile();
    const workflow = new StateGraph(State)
      .addNode("agent", (s) => ({ tries: 1 })).addNode("research", research).addNode("log", log)
      .addEdge(START, "agent").addConditionalEdges("agent", (s) => (s.error ? "log" : "research")).addEdge("research", "log");
    export const graph = workflow.compile();`;

  test("all graphs of a file are imported, and a node that is one of them calls it", async () => {
    const { text, findings, changes } = await imported(
      `${TEAM} const broken = new StateGraph(State).addNode(name, log);`,
      "team.ts",
    );
    expect(findings).toEqual([]);
    expect(text).toContain("graph research {");
    expect(text).toContain("graph source {");
    expect(text).toContain(
      "node research = research(input: { messages, error: error_ }) into { messages: set messages, error_ }",
    );
    // Functions of two graphs that are not the same have names that differ; one function has one name.
    expect(text).toContain("import { agent, log, route_agent, agent_2, route_agent_2 }");
    expect(changes).toEqual([
      "line 9: `research` is a graph: its result replaces `messages`, and LangGraph applies the reducer to it",
      "line 11: the graph `broken` is left out: the name of a node is a text, a constant, START or END",
    ]);
    const unnamed = await imported(
      `const make = () => new StateGraph(S).addNode("a", f).addEdge(START, "a");
       const other = () => new StateGraph(S).addNode("b", f).addEdge(START, "b");`,
      "g.ts",
    );
    expect(unnamed.text).toContain("graph source {");
    expect(unnamed.text).toContain("graph source_2 {");
  });

  test("a function of several graphs receives and returns the state of each", async () => {
    const { findings, stubs } = await imported(
      `const A = Annotation.Root({ text: Annotation<string>, count: Annotation<number> });
       const B = Annotation.Root({ text: Annotation<string>, done: Annotation<boolean> });
       const one = new StateGraph(A).addNode("work", far).addEdge(START, "work");
       const two = new StateGraph(B).addNode("work", far).addEdge(START, "work");`,
      "g.ts",
    );
    expect(findings).toEqual([]);
    expect(stubs).toContain("function far(state: OneState & TwoState, config?: object): Promise<OneState & TwoState>");
  });

  test("functions receive and return the fields of the program, whose channels may have other names", async () => {
    const { text, stubs } = await imported(TEAM, "team.ts");
    expect(text).toContain("output error_: string | null = null");
    expect(text).toContain("derive current = { messages, error: error_, input: input_2 }");
    expect(text).toContain("node log = log(current) into { error?: error_ }");
    expect(stubs).toContain("error?: string | null;");
    const engine = await engineOf(
      TEAM.replaceAll(/const workflow[^]*$/g, ""),
      {
        agent: ({ input, error }: { input: string; error: string }) => ({ messages: [input], error }),
        route_agent: ({ error }: { error: string }) => (error === "late" ? "log" : "__end__"),
        log: ({ error }: { error: string }) => ({ error: `${error}!` }),
      },
      "team.ts",
    );
    const { state } = await engine.run({ input: { input: "question", error: "late" } });
    expect(state).toMatchObject({ messages: ["question"], error_: "late!" });
  });

  test("channels may be those of other states", async () => {
    const { text, changes } = await imported(
      `const { StateGraph: Builder, START: Begin } = require("@langchain/langgraph");
       const Base = Annotation.Root({ messages: MessagesAnnotation.spec["messages"], links: Annotation<string[]>({ reducer: (a, b) => a.concat(b) }) });
       const S = Annotation.Root({ messages: Base.spec.messages, links: Base.spec.links, plain: Annotation, other: Far.spec.other, ...Kit.spec });
       const g = new Builder(S).addNode("one", f).addEdge(Begin, "one");`,
      "g.ts",
    );
    expect(text).toContain("output messages: json[] reduce append");
    expect(text).toContain("output links: string[] reduce append");
    expect(text).toContain("output plain: json = null\n");
    expect(text).toContain("output other: json = null reduce last");
    expect(changes).toEqual([
      "line 3: the description of `other` was not found: here it is a value of any type, and each write replaces it",
      "line 3: the channels of `Kit` were not found: add them to the graph",
    ]);
    const unknown = await imported(
      "const g = new StateGraph(Annotation.Root({ ...Kit.spec })).addNode('one', f).addEdge(START, 'one');",
      "g.ts",
    );
    expect(unknown.text).toContain("output data: map<json> reduce merge");
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

  test("functions of one name in several scopes are functions of their own", async () => {
    const source = `
import { StateGraph, Annotation, START, END } from "@langchain/langgraph";
const State = Annotation.Root({ a: Annotation<string>() });
export function first() {
  const work = async () => ({ a: "first" });
  const route = (state) => (state.a === "x" ? "work" : END);
  return new StateGraph(State).addNode("work", work).addEdge(START, "work").addConditionalEdges("work", route).compile();
}
export function second(given) {
  const State = Annotation.Root({ b: Annotation<string>() });
  function work() { return { b: "second" }; }
  function route(state) { return state.b === "y" ? "other" : END; }
  return new StateGraph(State).addNode("work", work).addNode("other", given).addEdge(START, "work")
    .addConditionalEdges("work", route).addEdge("other", END).compile();
}
const given = async () => ({ a: "of the module" });
`;
    const { text } = await imported(source, "scopes.ts");
    expect(text).toContain('work -> match route(current) { "work" -> work  "__end__" -> end }');
    expect(text).toContain('work -> match route_2(current) { "other" -> other  "__end__" -> end }');
    expect(text).toContain("node work = work_2(");
    expect(text).toContain("output b: string");
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
