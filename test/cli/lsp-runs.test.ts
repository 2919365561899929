/** The request `ngraph/run`: what the newest run in the store of the workspace does, while other processes execute it. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import type { WatchedRun } from "../../editor/previews.ts";
import { createProject, PROGRAM, type Project } from "./project.ts";

const TEXT = `graph trip {
  output o: string = ""
  state round: int = 0
  node wait = shell("until test -e go; do sleep 0.05; done")
  node again = round + 1 into round
  node choose = ask("Which car?", choices: ["a", "b"], details: { seats: 4 }) into o
  node fails = shell("exit 3")
  start -> wait -> again
  again -> again when round < 3
  again -> choose otherwise
  choose -> fails when o == "a"
  choose -> end otherwise
}

plan ship {
  task build = shell("until test -e go; do sleep 0.05; done")
  task check = shell("false") after build
  task send = shell("true") after check
}
`;
const WAIT = { timeout: 60_000, interval: 100 };

async function start(project: Project): Promise<(name: string) => Promise<WatchedRun | null>> {
  const server = spawn(process.execPath, [PROGRAM, "lsp", "--stdio"], { cwd: project.directory });
  const client = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  client.listen();
  onTestFinished(() => {
    client.dispose();
    server.kill("SIGKILL");
  });
  const folder = { uri: pathToFileURL(project.directory).href, name: "p" };
  await client.sendRequest("initialize", {
    processId: null,
    rootUri: null,
    capabilities: {},
    workspaceFolders: [folder],
  });
  await client.sendNotification("initialized", {});
  const uri = pathToFileURL(join(project.directory, "graphs/trip.ngraph")).href;
  await client.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "ngraph", version: 1, text: TEXT },
  });
  return (name) => client.sendRequest("ngraph/run", { uri, name });
}

test("the answers follow the run of a graph: it runs, waits, continues and fails", { timeout: 300_000 }, async () => {
  const project = createProject({ "graphs/trip.ngraph": TEXT });
  const look = await start(project);
  expect(await look("trip")).toBeNull();
  await expect(look("none")).rejects.toThrow("no such graph");
  const run = project.start(["run", "graphs/trip.ngraph", "--graph", "trip", "--thread", "t1"]);
  const ended = new Promise((resolve) => run.on("exit", resolve));
  await vi.waitFor(
    async () =>
      expect(await look("trip")).toMatchObject({
        thread: "t1",
        status: "running",
        isOver: false,
        nodes: [{ name: "wait", state: "running", count: 0 }],
        questions: [],
      }),
    WAIT,
  );
  project.write("go", "");
  expect(await ended).toBe(3);
  const paused = await look("trip");
  expect(paused).toMatchObject({ status: "paused", text: "paused", isOver: false });
  expect(paused?.nodes).toEqual([
    { name: "wait", state: "done", count: 1 },
    { name: "again", state: "done", count: 3 },
    { name: "choose", state: "waits", count: 0 },
  ]);
  expect(paused?.questions).toMatchObject([
    { node: "choose", question: 'Which car? {"seats":4}', choices: ["a", "b"] },
  ]);
  // The answer of a picture names its question.
  expect(project.ngc(["resume", `--answer=${paused?.questions[0]?.id}=a`, "--", "t1"]).status).toBe(1);
  const failed = await look("trip");
  expect(failed).toMatchObject({ thread: "t1", status: "failed", isOver: true, questions: [] });
  expect(failed?.text).toContain("failed: node `fails` failed");
  expect(failed?.nodes).toContainEqual({ name: "choose", state: "done", count: 1 });
  expect(failed?.nodes).toContainEqual(expect.objectContaining({ name: "fails", state: "failed" }));
  // A further thread is the newest one; runs of other files are not those of this one.
  project.write("other.ngraph", 'graph trip {\n  node a = shell("true")\n  start -> a -> end\n}\n');
  expect(project.ngc(["run", "other.ngraph", "--thread", "other"]).status).toBe(0);
  expect((await look("trip"))?.thread).toBe("t1");
  expect(project.ngc(["run", "graphs/trip.ngraph", "--graph", "trip", "--thread", "t2"]).status).toBe(3);
  expect(await look("trip")).toMatchObject({ thread: "t2", status: "paused" });
});

test("a process that dies leaves an interrupted run", { timeout: 300_000 }, async () => {
  const project = createProject({ "graphs/trip.ngraph": TEXT });
  const look = await start(project);
  const run = project.start(["run", "graphs/trip.ngraph", "--graph", "trip", "--thread", "t1"]);
  await vi.waitFor(async () => expect(await look("trip")).toMatchObject({ status: "running" }), WAIT);
  run.kill("SIGKILL");
  project.write("go", "");
  await vi.waitFor(
    async () =>
      expect(await look("trip")).toMatchObject({
        status: "interrupted",
        isOver: true,
        nodes: [{ name: "wait", state: "next", count: 0 }],
      }),
    WAIT,
  );
});

test("the answers follow the tasks of a plan", { timeout: 300_000 }, async () => {
  const project = createProject({ "graphs/trip.ngraph": TEXT });
  const look = await start(project);
  expect(await look("ship")).toBeNull();
  const run = project.start(["run", "graphs/trip.ngraph", "--graph", "ship"]);
  const ended = new Promise((resolve) => run.on("exit", resolve));
  await vi.waitFor(
    async () =>
      expect(await look("ship")).toMatchObject({
        status: "running",
        isOver: false,
        nodes: [{ name: "build", state: "running" }],
      }),
    WAIT,
  );
  project.write("go", "");
  expect(await ended).toBe(1);
  const after = await look("ship");
  expect(after).toMatchObject({ isOver: true, questions: [] });
  expect(after?.nodes.map(({ name, state }) => `${name} ${state}`).sort()).toEqual([
    "build done",
    "check failed",
    "send next",
  ]);
});
