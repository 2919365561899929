import { describe, expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

/** A node of the user's between two of ours. */
function withNode(body: string, top = ""): Project {
  return createProject({
    "trap.ngraph": `import { trap } from "./nodes.ts"

graph trap_graph {
  output text: string
  state first: int = 0

  node one = first + 1 into first
  node two = trap() into text
  node last = \`\${text}!\${first}\` into text

  start -> one -> two -> last
}
`,
    "nodes.ts": `${top}\nexport async function trap(_key = ""): Promise<string> {\n  ${body}\n}\n`,
  });
}

const CALM = 'return "calm";';

/** What ends the process or the run: exit 1, one document, the thread can be resumed. */
const FATAL: readonly (readonly [name: string, body: string, message: string])[] = [
  ["process.exit", "process.exit(0);", "a node ended the process (`process.exit(0)`)"],
  ["a promise that never settles", "await new Promise(() => {});", "waits for a promise that never settles"],
  ["null", "throw null;", "node `two` failed: it threw null"],
  ["a text", 'throw "plain";', "node `two` failed: it threw plain"],
  ["a record", "throw { status: 503 };", 'node `two` failed: it threw {"status":503}'],
  [
    "an error that cannot be read",
    'throw Object.defineProperty(new Error(), "stack", { get() { throw new Error("no"); } });',
    "node `two` failed: Error",
  ],
  [
    "a timer of its own",
    'setTimeout(() => { throw new Error("late"); }, 5); await new Promise((done) => setTimeout(done, 60_000));',
    "an error outside of a node call ended the run: late (nodes.ts:3:",
  ],
  [
    "an unhandled rejection",
    "void Promise.reject(null); await new Promise((done) => setTimeout(done, 60_000));",
    "an error outside of a node call ended the run: null was thrown",
  ],
  ["endless recursion", "const f = (): string => f() + f(); return f();", "Maximum call stack size exceeded"],
];

describe("an error of user code is a failed run, with one document, and the thread can be resumed", () => {
  test.each(FATAL)("%s", (_, body, message) => {
    const project = withNode(body);
    const { status, document } = project.json(["run", "trap.ngraph", "--thread", "t"]);
    expect(status).toBe(1);
    expect(document.error.message).toContain(message);
    expect(document.thread).toBe("t");
    project.write("nodes.ts", `export const trap = (): string => { ${CALM} };\n`);
    expect(project.json(["resume", "t"])).toMatchObject({ status: 0, document: { output: { text: "calm!1" } } });
  });
});

/** Side effects that remain after a node do not change the result of the run. */
const HARMLESS: readonly (readonly [name: string, body: string])[] = [
  ["prints", 'console.log("on stdout"); process.stdout.write("more\\n");'],
  ["changes the working directory", 'process.chdir("/");'],
  [
    "leaves timers and servers open",
    'setInterval(() => {}, 1000); (await import("node:net")).createServer().listen(0);',
  ],
  ["sets an exit code", "process.exitCode = 7;"],
  ["replaces what writes", "process.stdout.write = process.stderr.write = (() => true) as never;"],
  ["ends stdout", "process.stdout.end();"],
  ["waits for stdout to end", "await new Promise<void>((done) => process.stdout.end(done));"],
  ["changes built-in objects", "(Object.prototype as never as { polluted: number }).polluted = 1;"],
];

describe("what a node leaves behind does not change exit code and document", () => {
  test.each(HARMLESS)("a node that %s", (_, body) => {
    const project = withNode(`${body}\n  ${CALM}`);
    const { status, document } = project.json(["run", "trap.ngraph", "--thread", "t"]);
    expect({ status, output: document.output }).toEqual({ status: 0, output: { text: "calm!1" } });
  });

  test("a rejection that no code handles is reported", () => {
    const project = withNode(`void Promise.reject(new Error("forgotten"));\n  ${CALM}`);
    // An error if the run is still in progress, else a warning.
    expect(project.ngc(["run", "trap.ngraph"]).stderr).toMatch(/(?:error|warning): .*forgotten.*\(nodes\.ts:3:\d+\)/);
  });
});

describe("modules that cannot be loaded", () => {
  const cases: readonly (readonly [name: string, top: string, status: number, message: string])[] = [
    ["an import of nothing", 'import "./nowhere.ts";', 64, 'nodes.ts:1:8: Could not resolve "./nowhere.ts"'],
    ["a package that is not installed", 'import "not-installed";', 64, 'Could not resolve "not-installed"'],
    ["a throw", 'throw new Error("not today");', 1, "could not be loaded: not today (nodes.ts:1:7)"],
    [
      "process.exit",
      "process.exit(0);",
      1,
      "an imported module ended the process (`process.exit(0)`) while it was loaded",
    ],
    ["an endless wait", "await new Promise(() => {});", 1, "an imported module waits for a promise that never settles"],
  ];
  test.each(cases)("%s", (_, top, expected, message) => {
    const project = withNode(CALM, top);
    const { status, document } = project.json(["run", "trap.ngraph"]);
    expect(status).toBe(expected);
    expect(document.error.message).toContain(message);
  });

  test("a syntax error of the module that a graph imports is found before the run, one of another module by the run", () => {
    const broken = withNode(CALM, "const = 1;");
    expect(broken.ngc(["run", "trap.ngraph"])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("cannot read `./nodes.ts`: syntax error at 1:7, unexpected token"),
    });
    const project = withNode(CALM, 'import "./other.ts";');
    project.write("other.ts", "const = 1;");
    const { status, document } = project.json(["run", "trap.ngraph"]);
    expect(status).toBe(64);
    expect(document.error.message).toContain("other.ts:1:7: Expected identifier");
  });

  test("enums, namespaces, parameter properties and decorators are TypeScript too", () => {
    const project = withNode(
      "return new A(Colour.Red).text + N.one;",
      'enum Colour { Red = "red" }\nnamespace N { export const one = 1; }\nclass A { constructor(readonly text: string) {} }',
    );
    expect(project.json(["run", "trap.ngraph"]).document.output).toEqual({ text: "red1!1" });
  });
});

test("prints the causes of a failure, without secrets", () => {
  const project = withNode(
    'throw new Error("outer", { cause: new Error("middle", { cause: new Error(`inner ${_key}`) }) });',
  );
  const text = project.read("trap.ngraph").replace("\n\ngraph", "\nsecret KEY\n\ngraph").replace("trap()", "trap(KEY)");
  project.write("trap.ngraph", text);
  const { stderr } = project.ngc(["run", "trap.ngraph"], { env: { KEY: "s3cret-value" } });
  expect(stderr).toMatch(
    /failed: outer \[NG_NODE_FAILED\]\n {2}caused by: middle\n {2}caused by: inner \[secret KEY\]\n/,
  );
});
