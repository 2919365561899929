import { describe, expect, test } from "vitest";
import { ImportError, importText } from "../../importers/index.ts";
import { engineOf, imported, refusal } from "./imported.ts";

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

  test.each<readonly [Record<string, string>, readonly string[]]>([
    [{ true: "a" }, ["NG501:error"]],
    [{ true: "a", default: "__end__" }, ["NG501:error"]],
    [{ true: "a", false: "__end__" }, []],
  ])("the keys of a built-in condition are known: routes %j", async (routes, expected) => {
    const { findings } = await imported({
      schema_version: 1,
      channels: { messages: { reducer: "append" } },
      nodes: { llm: { type: "llm_call" }, a: { type: "work" } },
      edges: [
        { from: "__start__", to: "llm" },
        { from: "llm", condition: "has_tool_calls", routes },
      ],
    });
    expect(findings).toEqual(expected);
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
    expect(text).toMatch(/task api = shell\(.*\) after schema_init \{\s+done when shell\("true"\)\s+tries 1\s+\}/);
    expect(await refusal({ version: 1, nodes: [{ id: "a", depends_on: ["b"] }] })).toBe(
      "$.nodes[0].depends_on[0]: `b` is not a node",
    );
    expect(await refusal({ version: 1, nodes: [{ id: "a", depends_on: [], max_ralph_iters: 0 }] })).toContain(
      "max_ralph_iters",
    );
  });

  test("keys of tasks that are not imported are said", async () => {
    const kahn = await imported({
      nodes: [
        { id: "a", done_when: ["true"] },
        { id: "b", depends_on: ["a"], depend_on: ["a"] },
      ],
    });
    expect(kahn.findings).toEqual([]);
    expect(kahn.changes).toContain("$.nodes[1].depend_on: `depend_on` is not imported");
    const turbo = await imported(
      { tasks: { a: { dependOn: ["b"], outputLogs: "none" }, b: { with: ["a"] } } },
      "turbo.json",
    );
    expect(turbo.findings).toEqual([]);
    expect(turbo.changes.filter((change) => change.includes("`"))).toEqual(
      expect.arrayContaining([
        "$.tasks.a.dependOn: `dependOn` is not imported",
        "$.tasks.b.with: `with` is not imported",
      ]),
    );
    expect(turbo.changes.join()).not.toContain("outputLogs");
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
