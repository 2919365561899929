import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

/** Prints its position and waits until it receives a signal. */
const GRAPH = {
  "slow.ngraph": `import { quick, slow } from "./nodes.ts"

graph slow_graph {
  output text: string
  state first: string = ""

  node one = quick() into first
  node two = slow(first) into text

  start -> one -> two
}
`,
};

const NODES = `import { existsSync } from "node:fs";

export const quick = (): string => "1";

export async function slow(first: string): Promise<string> {
  if (existsSync("done")) return first + "2";
  console.error("HERE");
  await new Promise((resolve) => setTimeout(resolve, 600_000));
  return "never";
}
`;

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts a run. Sends each signal when the stderr of the run contains the text of this signal. */
function interrupt(
  project: Project,
  args: readonly string[],
  signals: readonly (readonly [string, NodeJS.Signals])[],
  onText: (stderr: string) => void = () => undefined,
): Promise<Ended> {
  const child: ChildProcessWithoutNullStreams = project.start(args);
  let stdout = "";
  let stderr = "";
  let sent = 0;
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
    onText(stderr);
    for (let next = signals[sent]; next !== undefined && stderr.includes(next[0]); next = signals[sent]) {
      sent++;
      child.kill(next[1]);
    }
  });
  return new Promise((resolve) => child.once("close", (status) => resolve({ status, stdout, stderr })));
}

test.each(["SIGINT", "SIGHUP"] as const)(
  "%s ends a run in order: exit 130, one document, and it can be resumed",
  async (signal) => {
    const project = createProject({ ...GRAPH, "nodes.ts": NODES });
    const ended = await interrupt(project, ["run", "slow.ngraph", "--thread", "t", "--json"], [["HERE", signal]]);
    expect(ended.status).toBe(130);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      status: "cancelled",
      steps: [["one"]],
      error: { code: "NG_CANCELLED" },
    });
    expect(ended.stderr).toContain("resume with: ngc resume t\n");
    project.write("done", "");
    expect(project.json(["resume", "t"])).toMatchObject({ status: 0, document: { output: { text: "12" } } });
  },
);

const STEPS = `import { existsSync, writeFileSync } from "node:fs";

export const quick = (): string => "1";

export async function slow(first: string): Promise<string> {
  console.error("HERE");
  while (!existsSync("done")) await new Promise((resolve) => setTimeout(resolve, 20));
  return first + "2";
}

export const third = (text: string): string => {
  writeFileSync("third", "");
  return text + "3";
};
`;

test("SIGTERM ends a run at its next step: the running node ends, exit 130, and the thread is interrupted", async () => {
  const source = GRAPH["slow.ngraph"]
    .replace("import { quick, slow }", "import { quick, slow, third }")
    .replace("  start ->", "  node three = third(text) into last\n\n  start ->")
    .replace("  state first", "  output last: string\n  state first")
    .replace("-> two", "-> two -> three");
  const project = createProject({ "slow.ngraph": source, "nodes.ts": STEPS });
  const running = interrupt(
    project,
    ["run", "slow.ngraph", "--thread", "t", "--json"],
    [["HERE", "SIGTERM"]],
    (stderr) => {
      if (stderr.includes("ending at the next step")) project.write("done", "");
    },
  );
  const ended = await running;
  expect(ended.status).toBe(130);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    status: "cancelled",
    steps: [["one"], ["two"]],
    error: { code: "NG_DRAINED" },
  });
  expect(project.json(["threads", "--status", "interrupted"]).document.threads).toMatchObject([{ thread: "t" }]);
  expect(project.json(["resume", "t"])).toMatchObject({
    status: 0,
    document: { steps: [["three"]], output: { last: "123" } },
  });
});

test.each([
  ["the deadline of --drain", ["--drain", "0"], [["HERE", "SIGTERM"]]],
  [
    "a further signal",
    [],
    [
      ["HERE", "SIGTERM"],
      ["ending at the next step", "SIGINT"],
    ],
  ],
] as const)("SIGTERM and %s end a node that does not", async (_, flags, signals) => {
  const project = createProject({ ...GRAPH, "nodes.ts": NODES });
  const ended = await interrupt(project, ["run", "slow.ngraph", "--thread", "t", "--json", ...flags], signals);
  expect(ended.status).toBe(130);
  expect(JSON.parse(ended.stdout)).toMatchObject({ status: "cancelled", error: { code: "NG_DRAINED" } });
  project.write("done", "");
  expect(project.json(["resume", "t"])).toMatchObject({ status: 0, document: { output: { text: "12" } } });
});

test("a signal while modules load ends the process at once", async () => {
  const top = 'console.error("LOADING");\nawait new Promise((resolve) => setTimeout(resolve, 600_000));\n';
  const project = createProject({ ...GRAPH, "nodes.ts": top + NODES });
  const ended = await interrupt(project, ["run", "slow.ngraph", "--thread", "t", "--json"], [["LOADING", "SIGINT"]]);
  expect(ended).toEqual({ status: null, stdout: "", stderr: "LOADING\n" });
  expect(project.ngc(["history", "t"]).status).toBe(64);
});
