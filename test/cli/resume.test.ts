import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { describe, expect, test } from "vitest";
import { createProject, FLOW, FLOW_NODES, type Project } from "./project.ts";

/** Three nodes in a row that leave a line each; the middle one never ends while the file `hang` exists. */
const CHAIN = {
  "chain.ngraph": `import { first, second, third } from "./nodes.ts"

graph chain {
  output text: string
  state a: string = ""
  state b: string = ""

  node one   = first() into a
  node two   = second(a) into b
  node three = third(b) into text

  start -> one -> two -> three
}
`,
  "nodes.ts": `import { appendFileSync, existsSync } from "node:fs";

const mark = (name: string): void => appendFileSync("ran.txt", \`\${name}\\n\`);

export function first(): string {
  mark("one");
  return "1";
}

export async function second(a: string): Promise<string> {
  mark("two");
  if (existsSync("hang")) {
    console.error("two is hanging");
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  }
  return \`\${a}2\`;
}

export function third(b: string): string {
  mark("three");
  return \`\${b}3\`;
}
`,
};

/** Until the program has written this. */
function output(child: ChildProcessWithoutNullStreams, text: string): Promise<void> {
  let seen = "";
  return new Promise((resolve, reject) => {
    child.stderr.on("data", (chunk) => {
      seen += chunk;
      if (seen.includes(text)) resolve();
    });
    child.once("close", (status) => reject(new Error(`ended with ${status} before it said ${text}:\n${seen}`)));
  });
}

function ended(child: ChildProcessWithoutNullStreams): Promise<{ status: number | null; signal: string | null }> {
  return new Promise((resolve) => child.once("close", (status, signal) => resolve({ status, signal })));
}

function paused(thread = "t"): Project {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
  expect(project.ngc(["run", "flow.ngraph", "--input", '{"n": 21}', "--thread", thread]).status).toBe(3);
  return project;
}

describe("ngc resume", () => {
  test("5.4, 5.5: after kill -9 no finished node runs again", async () => {
    const project = createProject({ ...CHAIN, hang: "" });
    const child = project.start(["run", "chain.ngraph", "--thread", "t"]);
    const end = ended(child);
    await output(child, "two is hanging");
    child.kill("SIGKILL");
    expect(await end).toEqual({ status: null, signal: "SIGKILL" });
    expect(project.read("ran.txt")).toBe("one\ntwo\n");

    project.remove("hang");
    const { status, document } = project.json(["resume", "t"]);
    expect(status).toBe(0);
    expect(document).toMatchObject({ status: "completed", output: { text: "123" } });
    expect(project.read("ran.txt")).toBe("one\ntwo\ntwo\nthree\n");
  });

  test("an interrupted run exits with 130 and can be resumed", async () => {
    const project = createProject({ ...CHAIN, hang: "" });
    const child = project.start(["run", "chain.ngraph", "--thread", "t"]);
    const end = ended(child);
    let stderr = "";
    child.stderr.on("data", (chunk) => (stderr += chunk));
    await output(child, "two is hanging");
    child.kill("SIGINT");
    expect(await end).toEqual({ status: 130, signal: null });
    expect(stderr).toContain("resume with: ngc resume t");
    project.remove("hang");
    expect(project.ngc(["resume", "t"])).toMatchObject({ status: 0, stdout: "text: 123\n" });
    expect(project.read("ran.txt")).toBe("one\ntwo\ntwo\nthree\n");
  });

  test("5.6: a thread that another process runs is not changed", async () => {
    const project = createProject({ ...CHAIN, hang: "" });
    const child = project.start(["run", "chain.ngraph", "--thread", "t"]);
    const end = ended(child);
    await output(child, "two is hanging");
    const second = project.ngc(["resume", "t"]);
    expect(second.status).toBe(1);
    expect(second.stderr).toContain("NG_THREAD_CONFLICT");
    expect(project.read("ran.txt")).toBe("one\ntwo\n");
    child.kill("SIGKILL");
    await end;
  });

  test("a bare answer is enough if one item waits; JSON is parsed", () => {
    const project = paused();
    const { status, stdout } = project.ngc(["resume", "t", "--answer", "yes"]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: "twice: 42\n" });
  });

  test("an answer by id; a wrong answer is refused and the item still waits", () => {
    const project = paused();
    const refused = project.ngc(["resume", "t", "--answer", "maybe"]);
    expect(refused.status).toBe(64);
    expect(refused.stderr).toContain("NG_BAD_ANSWER");
    const { document } = project.json(["history", "t"]);
    const id = document.checkpoints[0].pauses[0].id;
    expect(project.ngc(["resume", "t", "--answer", `${id}=yes`]).status).toBe(0);
  });

  test("without an answer the run pauses again", () => {
    const project = paused();
    expect(project.ngc(["resume", "t"]).status).toBe(3);
  });

  test("reports a missing thread, store or file", () => {
    const project = paused("ticket-1");
    const unknown = project.ngc(["resume", "ticket-2"]);
    expect(unknown.status).toBe(64);
    expect(unknown.stderr).toMatch(/there is no thread `ticket-2`[\s\S]*`ticket-1`/);
    expect(project.ngc(["resume", "ticket-1", "--store", "sqlite:none.db"]).stderr).toContain(
      "there is no store at none.db",
    );
    expect(project.has("none.db")).toBe(false);

    project.write("moved.ngraph", project.read("flow.ngraph"));
    project.remove("flow.ngraph");
    const gone = project.ngc(["resume", "ticket-1", "--answer", "yes"]);
    expect(gone.status).toBe(64);
    expect(gone.stderr).toMatch(/flow\.ngraph, which no longer exists[\s\S]*--file/);
    expect(project.ngc(["resume", "ticket-1", "--answer", "yes", "--file", "moved.ngraph"]).status).toBe(0);
  });

  test("5.7: a graph that has changed too much is refused, with the missing parts", () => {
    const project = paused();
    project.write("flow.ngraph", FLOW.replaceAll("sure", "confirm"));
    const { status, stderr } = project.ngc(["resume", "t", "--answer", "yes"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/NG_DRIFT/);
    expect(stderr).toContain("sure");
  });

  test("5.9: --from resumes from an older checkpoint", () => {
    const project = paused();
    expect(project.ngc(["resume", "t", "--answer", "yes"]).status).toBe(0);
    const { checkpoints } = project.json(["history", "t"]).document;
    // The newest one with a pause has its answer already.
    const waiting = checkpoints.findLast((item: { pauses: unknown[] }) => item.pauses.length > 0);
    const again = project.ngc(["resume", "t", "--from", waiting.id]);
    expect(again.status).toBe(3);
  });
});
