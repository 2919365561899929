import { describe, expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

const NODES = `export function boom(): string { throw new Error("kaputt"); }
export function leave(): string { process.exit(0); }
export function hang(): Promise<string> { return new Promise(() => {}); }
export function add(text: string): string { return text; }
`;

function graph(call: string): string {
  return `import { ${call} } from "./nodes.ts"
graph g { output text: string  node b = ${call}() into text  start -> b -> end }
`;
}

function project(call: string): Project {
  return createProject({ "g.ngraph": graph(call), "nodes.ts": NODES });
}

describe("a run that does not complete", () => {
  test("a failed run prints no unwritten outputs", () => {
    const { status, stdout, stderr } = project("boom").ngc(["run", "g.ngraph", "--thread", "t"]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain("✗ b: kaputt");
    expect(stderr.match(/NG_NODE_FAILED/g)).toHaveLength(1);
  });

  test.each([
    ["leave", "process.exit(0)"],
    ["hang", "never settles"],
  ])("a node that takes the process down (%s) leaves the thread's id, and one document", (call, message) => {
    const { ngc, json } = project(call);
    const text = ngc(["run", "g.ngraph"]);
    const thread = /^running as thread (\S+)$/m.exec(text.stderr)?.[1];
    expect(thread).toMatch(/^[0-9a-f-]{36}$/);
    expect(text.stderr).toContain(`ngc resume ${thread}`);
    const { status, document } = json(["run", "g.ngraph", "--thread", "t7"]);
    expect(status).toBe(1);
    expect(document).toMatchObject({ version: 1, ok: false, thread: "t7", error: { code: "user_code" } });
    expect(document.error.message).toContain(message);
    expect(document.error.help).toContain("ngc resume t7");
  });

  test("--quiet does not print the thread", () => {
    expect(project("boom").ngc(["run", "g.ngraph", "-q"]).stderr).not.toContain("thread");
  });
});

test("the default graph is the one that no other of the file calls", () => {
  const two = `graph inner { output n: int  node one = 1 into n  start -> one -> end }
graph outer { output n: int  node call = inner() into { n }  node more = n + 1 into n  start -> call -> more -> end }
`;
  const { ngc } = createProject({ "two.ngraph": two });
  expect(ngc(["run", "two.ngraph", "-q"])).toMatchObject({ status: 0, stdout: "n: 2\n" });
  expect(ngc(["graph", "two.ngraph", "--format", "mermaid"]).stdout).toContain("call");
});

describe("threads", () => {
  const ASKS = `graph g {
  output text: string
  state  log: string[] = [] reduce append
  node first = "began" into log
  node a = ask("what?") into text
  node then = text into log
  start -> first -> a -> then -> end
}
`;

  test("fork without --as generates a thread id and prints it", () => {
    const { ngc, json } = createProject({ "g.ngraph": ASKS });
    ngc(["run", "g.ngraph", "--thread", "t"]);
    const { status, document } = json(["fork", "t"]);
    expect(status).toBe(0);
    expect(document.thread).toMatch(/^[0-9a-f-]{36}$/);
    expect(ngc(["resume", document.thread, "--answer", "x", "-q"]).stdout).toBe("text: x\n");
    const { threads } = json(["threads"]).document;
    expect(threads.map((item: { thread: string; status: string }) => [item.thread, item.status]).toSorted()).toEqual(
      [
        ["t", "paused"],
        [document.thread, "completed"],
      ].toSorted(),
    );
  });

  test("show prints the changes since the parent", () => {
    const { ngc, json } = createProject({ "g.ngraph": ASKS });
    ngc(["run", "g.ngraph", "--thread", "t"]);
    ngc(["resume", "t", "--answer", "hi = there"]);
    const [head] = json(["history", "t"]).document.checkpoints;
    expect(ngc(["show", head.id]).stdout).toContain('since the parent:\n  log: + "hi = there"');
    expect(json(["show", head.id]).document.changes).toEqual({
      log: { before: ["began"], after: ["began", "hi = there"] },
    });
  });

  test("an answer for an id that does not wait is refused, with the ids that wait", () => {
    const { ngc, json } = createProject({ "g.ngraph": ASKS });
    const { document } = json(["run", "g.ngraph", "--thread", "t"]);
    const [{ id }] = document.pauses;
    const wrong = ngc(["resume", "t", "--answer", "b@9.123abc=x"]);
    expect(wrong).toMatchObject({ status: 64, stderr: expect.stringContaining(id) });
    expect(ngc(["resume", "t", "--answer", `${id}=x`, "-q"])).toMatchObject({ status: 0, stdout: "text: x\n" });
    const late = ngc(["resume", "t", "--answer", "y"]);
    expect(late.status).not.toBe(0);
    expect(late.stderr).not.toContain("    at ");
  });
});
