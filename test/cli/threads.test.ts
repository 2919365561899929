import { describe, expect, test } from "vitest";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { createProject, FLOW, FLOW_NODES, type Project } from "./project.ts";

function done(): Project {
  const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
  project.ngc(["run", "flow.ngraph", "--input", '{"n": 21}', "--thread", "t"]);
  expect(project.ngc(["resume", "t", "--answer", "yes"]).status).toBe(0);
  return project;
}

describe("threads of a store", () => {
  test("an item whose answer was stored before a crash no longer waits", async () => {
    const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
    const paused = project.json(["run", "flow.ngraph", "--input", '{"n": 21}', "--thread", "t"]).document;
    const store = new SqliteStore(`${project.directory}/.ngraph/runs.db`);
    const claim = store.claim("t", { owner: "dead", leaseMs: 1 });
    const [pause] = paused.pauses;
    store.putWrites(claim, paused.checkpoint, [{ taskId: `answer:${pause.id}`, node: pause.node, result: "yes" }]);
    store.release(claim);
    store.close();
    expect(project.json(["show", paused.checkpoint]).document).toMatchObject({ status: "running", pauses: [] });
    expect(project.json(["history", "t"]).document.checkpoints[0]).toMatchObject({ status: "running", pauses: [] });
    expect(project.json(["threads"]).document.threads).toMatchObject([{ thread: "t", status: "interrupted" }]);
    expect(project.ngc(["resume", "t", "--answer", "no"]).stderr).toContain("answered already");
    expect(project.ngc(["resume", "t", "--answer", "yes"]).status).toBe(0);
  });

  test("ngc threads filters them, and continues a listing", () => {
    const project = done();
    for (const args of [
      ["--status", "completed"],
      ["--graph", "flow"],
      ["--metadata", "graph=flow"],
    ]) {
      expect(project.json(["threads", ...args]).document.threads).toHaveLength(1);
    }
    for (const args of [
      ["--status", "paused"],
      ["--graph", "x"],
      ["--label", "x"],
      ["--metadata", "graph=1"],
    ]) {
      expect(project.json(["threads", ...args]).document.threads).toEqual([]);
    }
    const [{ position }] = project.json(["threads", "--limit", "1"]).document.threads;
    expect(project.json(["threads", "--after", String(position)]).document.threads).toEqual([]);
    for (const args of [
      ["--status", "done"],
      ["--metadata", "x"],
    ]) {
      expect(project.ngc(["threads", ...args]).status).toBe(64);
    }
  });

  test("ngc run and ngc resume store metadata and an expiry", () => {
    const project = createProject({ "flow.ngraph": FLOW, "nodes.ts": FLOW_NODES });
    const run = ["run", "flow.ngraph", "--input", '{"n": 21}', "--thread", "t"];
    project.ngc([...run, "--metadata", "tenant=acme", "--metadata", 'tags=["a"]', "--ttl", "12h"]);
    const listed = () => project.json(["threads", "--metadata", "tenant=acme"]).document.threads[0];
    const first = listed();
    expect(first).toMatchObject({ graph: "flow", metadata: { tenant: "acme", tags: ["a"], graph: "flow" } });
    expect(first.expires).toBe(first.timestamp + 12 * 3_600_000);
    expect(project.ngc(["resume", "t", "--answer", "yes", "--metadata", "by=me", "--ttl", "never"]).status).toBe(0);
    expect(listed()).toMatchObject({ status: "completed", expires: null, metadata: { tenant: "acme", by: "me" } });
    for (const [args, message] of [
      [["--metadata", "graph=x"], "--metadata graph: ngc itself writes this key; use another name"],
      [["--metadata", "a=1", "--metadata", "a=2"], "--metadata gives `a` twice"],
      [["--metadata", "a"], "--metadata takes KEY=VALUE, not `a`"],
      [["--ttl", "5"], "--ttl takes a duration above 0 such as 30d, 12h or 90m, or `never`, not `5`"],
      [["--ttl", "0s"], "--ttl takes a duration above 0 such as 30d, 12h or 90m, or `never`, not `0s`"],
    ] as const) {
      const { status, stderr } = project.ngc(["run", "flow.ngraph", ...args]);
      expect({ status, stderr: stderr.split("\n")[0] }).toEqual({ status: 64, stderr: `error: ${message}` });
    }
  });

  test("ngc threads lists them", () => {
    const project = done();
    expect(project.ngc(["threads"]).stdout).toMatch(/^thread +status.*\nt +completed +\d+ +\d+ +flow /);
    expect(project.json(["threads"]).document).toMatchObject({
      version: 1,
      threads: [{ thread: "t", status: "completed", metadata: { graph: "flow" } }],
    });
  });

  test("ngc history shows the chain, newest first", () => {
    const project = done();
    const { document } = project.json(["history", "t"]);
    const [newest] = document.checkpoints;
    const oldest = document.checkpoints.at(-1);
    expect(newest).toMatchObject({ thread: "t", status: "completed", ran: ["sure"] });
    expect(oldest).toMatchObject({ step: -1, phase: "input", parent: null });
    for (let index = 1; index < document.checkpoints.length; index++) {
      expect(document.checkpoints[index - 1].parent).toBe(document.checkpoints[index].id);
    }
    const { stdout } = project.ngc(["history", "t", "--limit", "1"]);
    expect(stdout.trim().split("\n")).toHaveLength(2);
    expect(stdout).toContain(newest.id);
  });

  test("ngc show prints one checkpoint with its values", () => {
    const project = done();
    const { checkpoints } = project.json(["history", "t"]).document;
    const { stdout, status } = project.ngc(["show", checkpoints[0].id]);
    expect(status).toBe(0);
    expect(stdout).toContain("thread: t");
    expect(stdout).toContain("twice: 42");
    expect(project.json(["show", checkpoints[0].id, "--thread", "t"]).document).toMatchObject({
      version: 1,
      id: checkpoints[0].id,
      values: { n: 21, twice: 42, verdict: "yes" },
    });
    const unknown = project.ngc(["show", "00000000-0000-4000-8000-000000000000"]);
    expect(unknown.status).toBe(64);
    expect(unknown.stderr).toContain("there is no checkpoint");
  });

  test("5.9: ngc fork starts a new thread from an old checkpoint, and runs nothing", () => {
    const project = done();
    const { checkpoints } = project.json(["history", "t"]).document;
    const waiting = checkpoints.find((item: { pauses: unknown[] }) => item.pauses.length > 0);
    const { status, stdout, stderr } = project.ngc(["fork", "t", "--from", waiting.id, "--as", "t2"]);
    expect(status).toBe(0);
    expect(stdout).toContain("forked to thread t2");
    expect(stderr).toContain("ngc resume t2");
    expect(project.ngc(["resume", "t2", "--answer", "yes"]).status).toBe(0);
    expect(project.json(["threads"]).document.threads).toHaveLength(2);
    expect(project.ngc(["fork", "t", "--as", "t2"]).status).toBe(1);
  });

  test("read-only commands never create a store", () => {
    const project = createProject();
    for (const args of [["threads"], ["history", "t"], ["show", "x"], ["fork", "t"], ["resume", "t"]]) {
      const { status, stderr } = project.ngc(args);
      expect(status, args.join(" ")).toBe(64);
      expect(stderr).toContain("there is no store at .ngraph/runs.db");
    }
    expect(project.has(".ngraph")).toBe(false);
  });
});
