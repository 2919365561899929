import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { startModelServer } from "../support/model-server.ts";
import { BROKEN, createProject, FLOW, FLOW_NODES, HELLO, type Project } from "./project.ts";

const flow = (): Project => createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });

describe("ngc run", () => {
  test("runs a graph and prints its output on stdout", () => {
    const { ngc } = createProject({ "hello.ngraph": HELLO });
    const { status, stdout, stderr } = ngc(["run", "hello.ngraph", "--input", '{"name": "Ada"}']);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "text: hello Ada\n" });
    expect(stderr).toMatch(/✓ greet/);
    expect(stderr).toMatch(/completed after 1 step · thread \S+/);
  });

  test("counts the items of a `for` node when its step ends, also beside the steps of called graphs", () => {
    const { ngc } = createProject({
      "items.ngraph": `graph inner {
  input x: int
  output y: int = 0
  node double = x * 2 into y
  start -> double -> end
}
graph outer {
  input xs: int[] = [1, 2, 3]
  output all: int[] reduce append
  node twice = inner(x: x) for x in xs into { y: all }
  start -> twice -> end
}
`,
    });
    const { status, stderr } = ngc(["run", "items.ngraph", "--graph", "outer"]);
    expect(status).toBe(0);
    expect(stderr).toMatch(/✓ twice\[2\] › double/);
    expect(stderr.match(/✓ twice \(.*\)/g)).toEqual(["✓ twice (3 items)"]);
  });

  test("--json prints the document of the interface, whatever the nodes print", () => {
    const project = createProject({
      "hello.ngraph": HELLO.replace("graph hello {", 'import { shout } from "./nodes.ts"\ngraph hello {').replace(
        "= `hello ${name}`",
        "= shout(name)",
      ),
      "nodes.ts": `export function shout(name: string): string {
  console.log("noise");
  process.stdout.write("more noise\\n");
  return name.toUpperCase();
}
`,
    });
    const { status, document } = project.json(["run", "hello.ngraph", "--thread", "t1"]);
    expect(status).toBe(0);
    expect(document).toEqual({
      version: 1,
      status: "completed",
      thread: "t1",
      steps: [["greet"]],
      output: { text: "WORLD" },
      state: { name: "world", text: "WORLD" },
      pauses: [],
      incompleteBarriers: [],
      error: null,
      checkpoint: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test("shows how the `finally` part has ended, and exits with 1 if it has failed", () => {
    const project = createProject({
      "end.ngraph": `graph g {
  output report: string | null
  node work = "done" into report
  node tidy = outcome.status into report
  node lock = fail("no key")
  start -> work -> end
  finally -> tidy -> lock
}
`,
    });
    const { status, stderr } = project.ngc(["run", "end.ngraph"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/✓ finally › tidy/);
    expect(stderr).toMatch(/`finally` ended failed: .*no key.* \[NG_NODE_FAILED\]/);
    expect(project.json(["run", "end.ngraph", "--thread", "t"])).toMatchObject({
      status: 1,
      document: {
        status: "completed",
        output: { report: "completed" },
        outcome: { status: "completed", error: null },
        finally: { status: "failed", steps: [["tidy"]], error: { code: "NG_NODE_FAILED", node: "lock" } },
      },
    });
    expect(project.ngc(["graph", "end.ngraph"]).stdout).toContain("finally\n↳ tidy");
  });

  test("inputs come from a flag, a file or standard input", () => {
    const project = createProject({ "hello.ngraph": HELLO, "in.json": '{"name": "file"}' });
    expect(project.ngc(["run", "hello.ngraph", "--input", "@in.json"]).stdout).toBe("text: hello file\n");
    expect(project.ngc(["run", "hello.ngraph", "--input", "-"], { input: '{"name": "pipe"}' }).stdout).toBe(
      "text: hello pipe\n",
    );
  });

  test("inputs of the wrong type exit with 64 and a reason", () => {
    const { ngc } = createProject({ "hello.ngraph": HELLO });
    const wrong = ngc(["run", "hello.ngraph", "--input", '{"name": 5}']);
    expect(wrong.status).toBe(64);
    expect(wrong.stderr).toMatch(/name.*\[NG_BAD_INPUT\]/);
    expect(ngc(["run", "hello.ngraph", "--input", '{"nam": "x"}']).status).toBe(64);
  });

  test("an invalid graph exits with 2 and nothing runs", () => {
    const project = createProject({ "broken.ngraph": BROKEN });
    expect(project.ngc(["run", "broken.ngraph"])).toMatchObject({ status: 2, stdout: "" });
    expect(project.has(".ngraph")).toBe(false);
    const { status, document } = project.json(["run", "broken.ngraph"]);
    expect(status).toBe(2);
    expect(document).toMatchObject({ ok: false, diagnostics: [{ code: "NG101" }] });
  });

  test("a plan that a graph calls, and what a matrix over a run-time list calls, is not a choice", () => {
    const { ngc } = createProject({
      "called.ngraph": `graph outer {
  input values: string[] = ["a"]
  node n = p(values: values)
  start -> n
}
plan p {
  input values: string[]
  task plans = inner(v: v) for v in values
  task graphs = g(v: v) for v in values
}
plan inner { input v: string  task t = shell("true", env: { V: v }) }
graph g { input v: string  output o: string  node n = v into o  start -> n }
`,
    });
    expect(ngc(["graph", "called.ngraph", "--format", "json"])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('"outer"') as string,
    });
  });

  test("--graph chooses among several; for a wrong name a similar one is suggested", () => {
    const { ngc } = createProject({
      "two.ngraph": `${HELLO}\n${HELLO.replace("graph hello", "graph farewell").replace("hello $", "bye $")}`,
    });
    const several = ngc(["run", "two.ngraph"]);
    expect(several.status).toBe(64);
    expect(several.stderr).toContain("two.ngraph contains several: `hello` and `farewell`");
    expect(several.stderr).toContain("--graph");
    expect(ngc(["run", "two.ngraph", "--graph", "hello"]).stdout).toBe("text: hello world\n");
    expect(ngc(["run", "two.ngraph", "--graph", "farewell"]).stdout).toBe("text: bye world\n");
    const wrong = ngc(["run", "two.ngraph", "--graph", "farewel"]);
    expect(wrong.status).toBe(64);
    expect(wrong.stderr).toContain("`farewell`");
  });

  test("a pause exits with 3, and prints the question and the command that answers it", () => {
    const project = flow();
    const { status, stdout } = project.ngc(["run", "flow.ngraph", "--input", '{"n": 21}', "--thread", "t"]);
    expect(status).toBe(3);
    expect(stdout).toContain("sure waits for an answer");
    expect(stdout).toContain("Is 42 right?");
    expect(stdout).toContain("one of: yes | no");
    expect(stdout).toContain("answer with: ngc resume t --answer yes   (or no)");
    expect(project.has(".ngraph/runs.db")).toBe(true);
    expect(project.read(".ngraph/.gitignore")).toBe("*\n");
  });

  test("a failed node exits with 1 and prints the place in user code", () => {
    const project = createProject({
      "flow.ngraph": FLOW,
      "nodes.ts": `export function double(n: number): number {
  if (n > 1) {
    throw new Error("too large");
  }
  return n;
}
`,
    });
    const { status, stderr } = project.ngc(["run", "flow.ngraph", "--input", '{"n": 2}', "--thread", "t"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/error: .*calc.*too large.*\[NG_NODE_FAILED\]/);
    expect(stderr).toContain("at nodes.ts:3:11");
    expect(stderr).toContain("resume with: ngc resume t");
    const { document } = project.json(["run", "flow.ngraph", "--input", '{"n": 2}']);
    expect(document.error).toMatchObject({ code: "NG_NODE_FAILED", node: "calc", attempts: 1, at: "nodes.ts:3:11" });
  });

  test("prints errors of user code with file and line, without our stack", () => {
    const project = flow();
    const run = (exitCode: number): string => {
      const { status, stderr } = project.ngc(["run", "flow.ngraph", "--input", '{"n": 1}']);
      expect(status, stderr).toBe(exitCode);
      expect(stderr).not.toMatch(/^\s+at .*(?:chunks|cli)\//m);
      return stderr;
    };
    project.write("nodes.ts", "export function double(n: number) {\n  return n *;\n}\n");
    expect(run(2)).toContain("error NG105: cannot read `./nodes.ts`: syntax error at 2:13, unexpected token");
    project.write("nodes.ts", `${FLOW_NODES}\nnull.x;\n`);
    expect(run(1)).toMatch(/could not be loaded: .*TypeError.*nodes\.ts:5/);
    project.write("nodes.ts", `import { x } from "no-such-package";\nexport const double = x;\n`);
    expect(run(64)).toMatch(/nodes\.ts:1:19: .*no-such-package/);
    project.write("nodes.ts", "export const double = 5;\n");
    expect(run(64)).toMatch(/no function/);
  });

  test("user code that ends the process, hangs it or fails outside of its node is a failed run", () => {
    const project = flow();
    const run = (body: string): string => {
      project.write(
        "nodes.ts",
        `export async function double(n: number): Promise<number> {\n  ${body}\n  return n;\n}\n`,
      );
      const { status, stderr, stdout } = project.ngc(["run", "flow.ngraph", "--input", '{"n": 1}']);
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      return stderr;
    };
    expect(run("process.exit(0);")).toContain("a node ended the process (`process.exit(0)`)");
    expect(run("await new Promise(() => {});")).toContain("waits for a promise that never settles");
    const outside = run(
      'setTimeout(() => { throw new Error("late"); }, 0); await new Promise(() => setTimeout(() => {}, 1e6));',
    );
    expect(outside).toMatch(/outside of a node call ended the run: late \(nodes\.ts:2:\d+\)/);
  });

  test("packages of the user's project are found from the file that imports them, and import.meta.url is the source's", () => {
    const project = createProject({
      "lib/flow.ngraph": FLOW,
      "lib/nodes.ts": `import { twice } from "some-package";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { plain } from "./plain.cjs";
const factor = JSON.parse(readFileSync(new URL("./factor.json", import.meta.url), "utf8"));
export const double = (n: number): number => (twice(n) * factor * plain()) / 2;
`,
      "lib/plain.cjs":
        "const { basename } = require('node:path');\nexports.plain = () => basename(__filename).length / 9;\n",
      "lib/factor.json": "2",
      "lib/node_modules/some-package/package.json":
        '{ "name": "some-package", "type": "module", "exports": "./index.js" }',
      "lib/node_modules/some-package/index.js": "export const twice = (n) => n * 2;\n",
      "package.json": "{}",
    });
    const { document } = project.json(["run", "lib/flow.ngraph", "--input", '{"n": 3}']);
    expect(document.state.twice).toBe(6);
  });

  test("--store memory stores nothing; a pause reports that", () => {
    const project = flow();
    const { status, stdout } = project.ngc(["run", "flow.ngraph", "--input", '{"n": 1}', "--store", "memory"]);
    expect(status).toBe(3);
    expect(stdout).toContain("stored in memory only");
    expect(project.has(".ngraph")).toBe(false);
  });

  test("--store sqlite:PATH is part of the printed command that resumes", () => {
    const project = flow();
    const { stdout } = project.ngc([
      "run",
      "flow.ngraph",
      "--input",
      '{"n": 1}',
      "--thread",
      "t",
      "--store",
      "sqlite:data/my runs.db",
    ]);
    expect(stdout).toContain("ngc resume t --store 'sqlite:data/my runs.db' --answer yes");
    expect(project.has("data/my runs.db")).toBe(true);
  });

  test("--allow refuses every other effect", () => {
    const { ngc } = createProject({
      "s.ngraph": `graph s {
  output text: string
  node list = shell("echo hi") into { stdout: text }
  start -> list
}
`,
    });
    const refused = ngc(["run", "s.ngraph", "--allow", "net"]);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("NG_EFFECT_DENIED");
    expect(ngc(["run", "s.ngraph", "--allow", "shell"])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("hi"),
    });
  });

  describe("hosts", () => {
    const spellings = {
      "g.ngraph":
        'import { f } from "./f.mjs"\ngraph g {\n  node get = http(`http://127.0.0.1:1/${f()}`)\n  start -> get\n}\n',
      "g.ngraph.yaml":
        'imports: { ./f.mjs: [f] }\n---\ngraph: g\nnodes:\n  get: { call: http, args: ["`http://127.0.0.1:1/${f()}`"] }\nedges:\n  - start -> get\n',
      "f.mjs": 'console.log("IMPORTED");\nexport const f = () => "a";\n',
    };

    test.each(["g.ngraph", "g.ngraph.yaml"])("--allow names them: %s", (file) => {
      const { ngc } = createProject(spellings);
      expect(JSON.parse(ngc(["check", file, "--json"]).stdout).graphs[0].effects).toEqual(["code", "net:127.0.0.1:1"]);
      const run = ["run", file, "--store", "memory", "--allow"];
      const refused = ngc([...run, "code,net:127.0.0.2:1"]);
      expect(refused).toMatchObject({ status: 1, stdout: "" });
      expect(refused.stderr).toContain("has the effects net:127.0.0.1:1, which are not allowed");
      const failed = ngc([...run, "code,net:127.0.0.1:1"]);
      expect(failed.stdout).toContain("IMPORTED");
      expect(failed.stderr).toContain("GET http://127.0.0.1:1/a failed");
    });

    test("ngraph.json restricts what is below it, together with --allow", () => {
      const project = createProject(
        Object.fromEntries(Object.entries(spellings).map(([name, text]) => [`graphs/${name}`, text])),
      );
      const run = ["run", "graphs/g.ngraph", "--store", "memory"];
      project.write("ngraph.json", '{ "allow": ["net:127.0.0.1:1"] }');
      const refused = project.ngc([...run, "--allow", "code,net"]);
      expect(refused).toMatchObject({ status: 1, stdout: "" });
      expect(refused.stderr).toContain("has the effects code, which are not allowed (allowed: net:127.0.0.1:1)");
      project.write("ngraph.json", '{ "allow": ["net:127.0.0.1:1", "code"] }');
      expect(project.ngc(run).stdout).toContain("IMPORTED");
      project.write("ngraph.json", '{ "allow": ["net:a/b"] }');
      const wrong = project.ngc(run);
      expect(wrong).toMatchObject({ status: 64, stdout: "" });
      expect(wrong.stderr).toContain("ngraph.json: `allow`: `net:a/b` does not name a host");
    });
  });

  test("print writes to stdout, and to stderr beside a document", () => {
    const project = createProject({
      "p.ngraph": `graph p {\n  output done: bool\n  node say = print("spoken")\n  node set = true into done\n  start -> say -> set\n}\n`,
    });
    expect(project.ngc(["run", "p.ngraph"]).stdout).toBe("spoken\ndone: true\n");
    expect(project.json(["run", "p.ngraph"]).document.status).toBe("completed");
  });

  test("--max-steps stops a run, which can be resumed with a higher limit", () => {
    const project = createProject({
      "loop.ngraph": `graph loop {
  output n: int = 0
  node inc = n + 1 into n
  start -> inc
  inc -> inc when n < 10
  inc -> end otherwise
}
`,
    });
    const stopped = project.ngc(["run", "loop.ngraph", "--thread", "t", "--max-steps", "4"]);
    expect(stopped.status).toBe(1);
    expect(stopped.stderr).toContain("NG_STEP_LIMIT");
    expect(stopped.stderr).toContain("ngc resume t --max-steps N");
    expect(project.json(["resume", "t", "--max-steps", "50"]).document).toMatchObject({
      status: "completed",
      output: { n: 10 },
    });
  });

  test("--max-steps applies to a called graph that has reached its own limit, and can name it", () => {
    const project = createProject({
      "loop.ngraph": `graph outer {
  output n: int = 0
  node call = loop() into { n }
  start -> call -> end
}
graph loop {
  output n: int = 0
  limit steps 4
  node inc = n + 1 into n
  start -> inc
  inc -> inc when n < 10
  inc -> end otherwise
}
`,
    });
    const stopped = project.ngc(["run", "loop.ngraph", "--thread", "t"]);
    expect(stopped.status).toBe(1);
    expect(stopped.stderr).toContain("limit of 4 steps of graph `loop`");
    expect(stopped.stderr).toContain("ngc resume t --max-steps N");
    expect(project.ngc(["resume", "t", "--max-steps", "loop=5"]).status).toBe(1);
    expect(project.ngc(["resume", "t", "--max-steps", "lop=50"]).stderr).toContain("`lop`, which is not a graph");
    expect(project.json(["resume", "t", "--max-steps", "50"]).document).toMatchObject({ output: { n: 10 } });
    const named = project.json(["run", "loop.ngraph", "--max-steps", "1", "--max-steps", "loop=10"]);
    expect(named.document).toMatchObject({ status: "completed", output: { n: 10 } });
    expect(project.ngc(["run", "loop.ngraph", "--max-steps", "loop=x"]).stderr).toContain("whole number from 1");
  });

  test("--events prints every event as a JSON line on stderr, without remarks", () => {
    const { ngc } = createProject({ "hello.ngraph": HELLO });
    const { stderr } = ngc(["run", "hello.ngraph", "--events"]);
    const events = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ seq: 0, type: "run", phase: "start", graph: "hello" });
    expect(events.at(-1)).toMatchObject({ type: "run", phase: "end", status: "completed" });
  });

  test("--builtins supplies built-in nodes that depend on where a graph runs", () => {
    const project = createProject({
      "l.ngraph": `graph l {
  output text: string
  node say = llm("hello") into text
  start -> say
}
`,
      "builtins.ts": "export const llm = ({ prompt }: { prompt: string }): string => `model says ${prompt}`;\n",
    });
    expect(project.ngc(["run", "l.ngraph", "--builtins", "builtins.ts"]).stdout).toBe("text: model says hello\n");
    const without = project.ngc(["run", "l.ngraph"], { env: { OPENAI_API_KEY: "", OPENAI_BASE_URL: "" } });
    expect(without.status).toBe(64);
    expect(without.stderr).toContain("NG_MISSING_FUNCTION");
    expect(without.stderr).toContain("--builtins");
  });

  test("`llm` calls the models of ngraph.json, and an invalid model is reported with its field", async () => {
    const server = await startModelServer(() => ({ text: "hello from the model" }));
    try {
      const model = { provider: "openai-compatible", baseUrl: server.openai, model: "small" };
      const project = createProject({
        "l.ngraph": `graph l {
  output text: string
  node say = llm("hello") into text
  start -> say
}
`,
        "ngraph.json": JSON.stringify({ models: { default: model } }),
      });
      const child = project.start(["run", "l.ngraph", "--store", "memory"]);
      let stdout = "";
      child.stdout.on("data", (chunk) => (stdout += chunk));
      expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
      expect(stdout).toBe("text: hello from the model\n");
      expect(server.requests[0]?.body["model"]).toBe("small");
      project.write("ngraph.json", JSON.stringify({ models: { default: { ...model, baseUrl: "localhost" } } }));
      const { status, stderr } = project.ngc(["run", "l.ngraph", "--store", "memory"]);
      expect(status).toBe(64);
      expect(stderr).toContain('ngraph.json: the model "default": `baseUrl` must be an http(s) URL');
      for (const baseUrl of ["http://me:hush@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?key=hush"]) {
        project.write("ngraph.json", JSON.stringify({ models: { default: { ...model, baseUrl } } }));
        const own = project.ngc(["run", "l.ngraph", "--store", "memory"]);
        project.write("ngraph.json", "{}");
        const env = { OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: "x", NGRAPH_MODEL: "small" };
        const global = project.ngc(["run", "l.ngraph", "--store", "memory"], { env });
        expect([own.status, global.status]).toEqual([64, 1]);
        for (const { stderr: text } of [own, global]) {
          expect(text).toContain("http(s) URL without a user, a password and a query");
          expect(text).not.toContain("hush");
        }
      }
    } finally {
      await server.close();
    }
  });

  test("`tool` calls the MCP servers of ngraph.json, which end with the run", () => {
    const program = fileURLToPath(
      new URL("../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
    );
    const project = createProject({
      "t.ngraph": `graph t {
  output text: string
  node say = tool("every", "echo", arguments: { message: "hello" }) into text
  start -> say
}
`,
      "ngraph.json": JSON.stringify({ servers: { every: { command: [process.execPath, program, "stdio"] } } }),
    });
    const run = ["run", "t.ngraph", "--store", "memory"];
    expect(project.ngc(run)).toMatchObject({ status: 0, stdout: "text: Echo: hello\n" });
    const refused = project.ngc([...run, "--allow", "net"]);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain("the MCP server `every` is not allowed: `allow` does not name `shell`");
  });

  test("secrets come from the environment and are never printed", () => {
    const project = createProject({
      "s.ngraph": `import { use } from "./nodes.ts"
secret API_TOKEN

graph s {
  output size: int
  node call = use(API_TOKEN) into size
  start -> call
}
`,
      "nodes.ts": "export const use = (token: string): number => token.length;\n",
    });
    const { status, stdout, stderr } = project.ngc(["run", "s.ngraph", "--events"], {
      env: { API_TOKEN: "tok-12345678" },
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "size: 12\n" });
    expect(stderr).not.toContain("tok-12345678");
  });

  test("a missing secret is found before the first node runs, also that of a called graph; one that nothing reads may be missing", () => {
    const project = createProject({
      "s.ngraph": `secret SMALL_KEY
secret LARGE_KEY
secret OTHER_KEY

graph inner {
  input name: string
  output text: string
  node greet = { text: \`hello \${name}\`, key: [\`Bearer \${LARGE_KEY}\`] } into { text }
  start -> greet
}

graph outer {
  output text: string
  node first = shell("echo ran >> first.txt")
  node call = inner(name: SMALL_KEY) into { text }
  start -> first -> call
}

plan tasks {
  task first = shell("echo ran >> first.txt")
  task second = shell("true", env: { KEY: SMALL_KEY }) after first
}
`,
    });
    const refused = project.ngc(["run", "s.ngraph", "--graph", "outer"]);
    expect({ status: refused.status, stdout: refused.stdout }).toEqual({ status: 64, stdout: "" });
    expect(refused.stderr).toContain(
      "the environment does not have the secrets `SMALL_KEY`, which `outer` reads, and `LARGE_KEY`, which `inner` reads",
    );
    const plan = project.ngc(["run", "s.ngraph", "--graph", "tasks"], { env: { LARGE_KEY: "1234567" } });
    expect(plan.status).toBe(64);
    expect(plan.stderr).toContain("the run lacks secrets: `SMALL_KEY` (read by `tasks`); no node has run");
    expect(plan.stderr).toContain("help: set each in the environment of the command");
    expect(plan.stderr).not.toContain("of the engine");
    expect(project.has("first.txt")).toBe(false);
    const part = project.ngc(["run", "s.ngraph", "--graph", "tasks", "--only", "second"]);
    expect(part.status).toBe(64);
    expect(part.stderr).toContain("lacks secrets: `SMALL_KEY`");
    expect(project.ngc(["run", "s.ngraph", "--graph", "tasks", "--only", "first"]).status).toBe(0);
    const given = project.ngc(["run", "s.ngraph", "--graph", "outer"], {
      env: { SMALL_KEY: "", LARGE_KEY: "1234567" },
    });
    expect(given).toMatchObject({ status: 0, stdout: "text: hello \n" });
    expect(project.read("first.txt")).toBe("ran\nran\n");
  });
});

describe("--config", () => {
  const CONFIGURED = `graph say {
  output text: string
  config model: string = "small"
  config count: int = 1

  state sure: "yes" | "no"

  node ask  = ask("sure?") into sure
  node line = \`\${model} \${count} \${sure}\` into text

  start -> ask -> line
}
`;

  test("is read by the type of the name, stored with the run, and kept or changed by resume and fork", () => {
    const project = createProject({ "say.ngraph": CONFIGURED });
    const first = project.json(["run", "say.ngraph", "--thread", "t", "--config", "model=7", "--config", "count=2"]);
    expect(first).toMatchObject({ status: 3, document: { state: { model: "7", count: 2 } } });
    expect(project.json(["fork", "t", "--as", "u", "--config", "model=big"]).status).toBe(0);
    expect(project.json(["resume", "u", "--answer", "no"]).document).toMatchObject({ output: { text: "big 2 no" } });
    const resumed = project.json(["resume", "t", "--answer", "yes", "--config", "count=3"]);
    expect(resumed.document).toMatchObject({ output: { text: "7 3 yes" } });
    const head = project.json(["history", "t"]).document.checkpoints[0].id as string;
    expect(project.json(["show", head]).document).toMatchObject({ values: { model: "7", count: 3 } });
  });

  test.each([
    [["--config", "modle=x"], /no configuration `modle`[\s\S]*did you mean `model`/],
    [["--config", "model"], /--config takes NAME=VALUE/],
    [["--config", "model=a", "--config", "model=b"], /two values for `model`/],
    [["--config", "count=many"], /`count`: expected int/],
  ])("%j is refused", (flags, message) => {
    const { status, stderr } = createProject({ "say.ngraph": CONFIGURED }).ngc(["run", "say.ngraph", ...flags]);
    expect(status).toBe(64);
    expect(stderr).toMatch(message);
  });
});

test("--max-tokens and --max-cost raise the limits of what a run uses", () => {
  const project = createProject({
    "loop.ngraph": `import { more } from "./nodes.ts"
graph loop {
  output n: int = 0

  limit tokens 25

  node more = more(n) into n

  start -> more
  more -> more when n < 6
  more -> end otherwise
}
`,
    "nodes.ts": `import type { NodeContext } from "ngraph/runtime";
export function more(n: number, context: NodeContext): number {
  context.usage({ inputTokens: 10, cost: 0.5 });
  return n + 1;
}
`,
  });
  const stopped = project.ngc(["run", "loop.ngraph", "--thread", "t"]);
  expect(stopped.status).toBe(1);
  expect(stopped.stderr).toMatch(/token limit after 3 steps/);
  expect(stopped.stderr).toContain("ngc resume t --max-tokens N");
  const again = project.json(["resume", "t", "--max-tokens", "loop=100", "--max-cost", "2"]);
  expect(again).toMatchObject({
    status: 1,
    document: { status: "limit", limit: "cost", usage: { inputTokens: 40, outputTokens: 0, cost: 2 } },
  });
  expect(project.json(["resume", "t", "--max-tokens", "100"]).document).toMatchObject({ output: { n: 6 } });
  expect(project.ngc(["resume", "t", "--max-cost", "0"]).stderr).toContain("--max-cost takes a number above 0");
});
