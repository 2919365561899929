import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createProject, FLOW, HELLO, PROGRAM, type Project } from "./project.ts";

const NODES = `export function double(n: number): number {
  console.log("noise on standard output");
  if (n < 0) throw new Error("negative");
  return n * 2;
}
`;

async function connect(project: Project, args: readonly string[]): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, "mcp", ...args],
      cwd: project.directory,
      stderr: "ignore",
    }),
  );
  return client;
}

test("serves all graphs of a file that no other graph of it calls", async () => {
  const project = createProject({
    "desk.ngraph": `graph inner {
  input n: int
  output m: int
  node a = n + 1 into m
  start -> a
}
graph first {
  input n: int
  output m: int
  node a = inner(n: n) into { m }
  start -> a
}
graph second {
  output text: string
  node a = "second" into text
  start -> a
}
plan third {
  task a = shell("true")
}
`,
  });
  const client = await connect(project, ["desk.ngraph", "--store", "memory"]);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["first", "second", "resume", "state"]);
  const { structuredContent } = await client.callTool({ name: "first", arguments: { n: 1 } });
  expect(structuredContent).toMatchObject({ status: "completed", output: { m: 2 } });
  expect((await client.callTool({ name: "second", arguments: {} })).structuredContent).toMatchObject({
    output: { text: "second" },
  });
});

test("serves graphs as tools, and continues and reads their runs", async () => {
  const project = createProject({ "flow.ngraph": FLOW, "hello.ngraph": HELLO, "nodes.ts": NODES });
  const client = await connect(project, ["flow.ngraph", "hello.ngraph"]);
  const { tools } = await client.listTools();
  expect(tools.map(({ name, description }) => [name, description])).toEqual([
    ["flow", "Doubles a number and asks whether that is right."],
    ["hello", "Runs the graph hello."],
    ["resume", expect.any(String)],
    ["state", expect.any(String)],
  ]);
  expect(tools[0]?.inputSchema).toEqual({
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  });
  expect(tools[1]?.inputSchema.required).toEqual([]);

  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args });
    return { ...(result.structuredContent as Record<string, unknown>), failed: result.isError === true, raw: result };
  };
  expect(await call("hello", { name: "Ada" })).toMatchObject({ status: "completed", output: { text: "hello Ada" } });
  const paused = await call("flow", { n: 4 });
  expect(paused).toMatchObject({
    status: "paused",
    pauses: [{ node: "sure", kind: "interrupt", payload: { question: "Is 8 right?", choices: ["yes", "no"] } }],
    failed: false,
  });
  const thread = (paused as { thread?: unknown }).thread;
  expect(await call("state", { thread })).toMatchObject({ status: "paused", values: { twice: 8 } });
  expect(await call("resume", { thread, answer: "maybe" })).toMatchObject({
    failed: true,
    raw: { content: [{ text: expect.stringContaining("maybe") }] },
  });
  expect(await call("resume", { thread, answer: "yes" })).toMatchObject({ status: "completed", output: { twice: 8 } });
  expect(await call("flow", { n: -1 })).toMatchObject({
    status: "failed",
    failed: true,
    error: { code: "NG_NODE_FAILED", message: expect.stringContaining("negative") },
  });
  expect(await call("flow", { n: "x" })).toMatchObject({ failed: true });
  expect(await call("state", { thread: "none" })).toMatchObject({
    failed: true,
    raw: { content: [{ text: "there is no thread `none`" }] },
  });
  // The runs are stored, so the command line shows them.
  expect(project.ngc(["threads"]).stdout).toContain(String(thread));
});

test("ends with 0 when standard input ends, and refuses graphs with one name", () => {
  const project = createProject({
    "a.ngraph": HELLO,
    "b.ngraph": HELLO,
    "c.ngraph": HELLO.replace("hello {", "state {"),
  });
  expect(project.ngc(["mcp", "a.ngraph", "--store", "memory"])).toMatchObject({ status: 0, stdout: "" });
  const twice = project.ngc(["mcp", "a.ngraph", "b.ngraph"]);
  expect(twice.status).toBe(64);
  expect(twice.stderr).toContain("a.ngraph and b.ngraph both have a graph `hello`");
  const reserved = project.ngc(["mcp", "c.ngraph", "--store", "memory"]);
  expect(reserved.status).toBe(64);
  expect(reserved.stderr).toContain("the graph `state` has the name of another tool");
});

test("a request that its client cancels, and the end of standard input, stop the run, which can be resumed", async () => {
  const project = createProject({
    "wait.ngraph": `import { wait } from "./wait.ts"
graph waits {
  output text: string
  node a = wait() into text
  start -> a
}
`,
    "wait.ts": `import { appendFileSync, existsSync } from "node:fs";
export async function wait({ signal }: { signal: AbortSignal }): Promise<string> {
  if (existsSync("go")) return "gone";
  appendFileSync("log", "begun\\n");
  await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  return "never";
}
`,
  });
  const client = await connect(project, ["wait.ngraph"]);
  const begun = () =>
    existsSync(join(project.directory, "log")) ? readFileSync(join(project.directory, "log"), "utf8") : "";
  const cancelled = new AbortController();
  const first = client.callTool({ name: "waits", arguments: {} }, undefined, { signal: cancelled.signal });
  await expect.poll(begun).toBe("begun\n");
  cancelled.abort("enough");
  await expect(first).rejects.toThrow("enough");
  const statuses = () => project.json(["threads"]).document["threads"].map(({ status }: { status: string }) => status);
  await expect.poll(statuses, { timeout: 10_000 }).toEqual(["cancelled"]);
  const second = client.callTool({ name: "waits", arguments: {} });
  await Promise.all([
    expect(second).rejects.toThrow("closed"),
    expect
      .poll(begun)
      .toBe("begun\nbegun\n")
      .then(() => client.close()),
  ]);
  expect(statuses()).toEqual(["cancelled", "cancelled"]);
  writeFileSync(join(project.directory, "go"), "");
  const { thread } = project.json(["threads"]).document["threads"][0];
  const again = await connect(project, ["wait.ngraph"]);
  expect((await again.callTool({ name: "resume", arguments: { thread } })).structuredContent).toMatchObject({
    status: "completed",
    output: { text: "gone" },
  });
});

test("`answer` takes a record and null, and `answers` the answers by the ids of pauses", async () => {
  const project = createProject({
    "form.ngraph": `graph form {
  output size: { a: int } | null = null
  node q = ask("Size?") into size
  start -> q
}
`,
  });
  const client = await connect(project, ["form.ngraph", "--store", "memory"]);
  const call = async (name: string, args: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: args })).structuredContent as {
      thread: string;
      pauses: { id: string }[];
      output: unknown;
    };
  for (const answer of [{ a: 1 }, null]) {
    const { thread } = await call("form", {});
    expect(await call("resume", { thread, answer })).toMatchObject({ status: "completed", output: { size: answer } });
  }
  const { thread, pauses } = await call("form", {});
  const answers = { [pauses[0]!.id]: { a: 2 } };
  expect(await call("resume", { thread, answers })).toMatchObject({ output: { size: { a: 2 } } });
});
