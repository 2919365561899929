import { expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

const graph = (name: string): string => `import { slow } from "./nodes.ts"

graph ${name} {
  output text: string

  node work = slow("${name}") into text

  start -> work
}
`;

const NODES = `import { appendFileSync, existsSync } from "node:fs";

export async function slow(name: string): Promise<string> {
  if (!existsSync("go")) {
    console.error("HERE");
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  }
  appendFileSync("ran.txt", name + "\\n");
  if (name === "broken") throw new Error("down");
  return name;
}
`;

/** Starts a run, and kills its process while its node runs. */
function kill(project: Project, args: readonly string[]): Promise<void> {
  const child = project.start(args);
  child.stderr.on("data", (chunk) => {
    if (String(chunk).includes("HERE")) child.kill("SIGKILL");
  });
  return new Promise((resolve) => child.once("close", () => resolve()));
}

function ended(project: Project, args: readonly string[]): Promise<{ status: number | null; stdout: string }> {
  const child = project.start(args);
  let stdout = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  return new Promise((resolve) => child.once("close", (status) => resolve({ status, stdout })));
}

interface Document {
  readonly resumed: readonly { readonly thread: string; readonly status: string }[];
}

test("resumes the runs that no process continues, of all graphs, each by one of several processes", async () => {
  const project = createProject({ "one.ngraph": graph("one"), "two.ngraph": graph("two"), "nodes.ts": NODES });
  const threads = ["a", "b", "c", "d"];
  for (const [index, thread] of threads.entries())
    await kill(project, ["run", index % 2 === 0 ? "one.ngraph" : "two.ngraph", "--thread", thread]);
  project.write("go", "");
  expect(project.json(["resume", "--interrupted", "--limit", "1"])).toMatchObject({
    status: 0,
    document: { resumed: [{ thread: "a", status: "completed" }], conflicts: [], failed: [] },
  });
  const args = ["resume", "--interrupted", "--json"];
  const both = await Promise.all([ended(project, args), ended(project, args)]);
  const documents = both.map(({ stdout }) => JSON.parse(stdout) as Document);
  const resumed = documents.flatMap((document) => document.resumed.map(({ thread }) => thread));
  expect(resumed.sort()).toEqual(["b", "c", "d"]);
  expect(project.read("ran.txt").trim().split("\n").sort()).toEqual(["one", "one", "two", "two"]);
  expect(project.json(["resume", "--interrupted"])).toMatchObject({ status: 0, document: { resumed: [] } });
});

test("reports runs that fail and threads that cannot be resumed, and goes through all of them", async () => {
  const project = createProject({ "broken.ngraph": graph("broken"), "gone.ngraph": graph("gone"), "nodes.ts": NODES });
  await kill(project, ["run", "broken.ngraph", "--thread", "b"]);
  await kill(project, ["run", "gone.ngraph", "--thread", "g"]);
  project.write("go", "");
  project.write("gone.ngraph", graph("gone").replaceAll("work", "other"));
  expect(project.json(["resume", "--interrupted"])).toMatchObject({
    status: 1,
    document: { resumed: [{ thread: "b", status: "failed" }], failed: [{ thread: "g", code: "NG_DRIFT" }] },
  });
});

test("refuses usage that means nothing", () => {
  const project = createProject({ "one.ngraph": graph("one"), "nodes.ts": NODES });
  for (const args of [[], ["t", "--interrupted"], ["t", "--limit", "1"], ["--interrupted", "--answer", "yes"]])
    expect(project.ngc(["resume", ...args]).status).toBe(64);
});
