import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProject } from "./project.ts";

const STUCK = readFileSync(join(import.meta.dirname, "../checks/fixtures/NG301-fires.ngraph"), "utf8");

const REVIEW = `graph review {
  state rounds: int = 0
  output done: string
  node draft = rounds + 1 into rounds
  node ok = ask("ok?", ["yes", "no"]) into done
  start -> draft
  draft -> draft when rounds < 3
  draft -> ok otherwise
  ok -> end
}
`;

test("ngc graph --trace draws the counterexample of an invalid graph", () => {
  const project = createProject({ "a.ngraph": STUCK });
  project.write("a.json", project.ngc(["check", "a.ngraph", "--json"]).stdout);
  const { status, stdout } = project.ngc(["graph", "a.ngraph", "--trace", "a.json"]);
  expect(status).toBe(0);
  expect(stdout).toContain("counterexample of NG301");
  expect(stdout).toContain("arrived: legal");
  expect(stdout).toMatch(/stuck: publish has 1 of 2 \(waits for rewrite\)\n$/);
  expect(project.ngc(["graph", "a.ngraph", "--trace", "a.json", "-o", "a.svg"]).status).toBe(0);
  expect(project.read("a.svg")).toContain("arrived: legal");
});

test("ngc graph --thread draws a run while it waits, and when it has ended", () => {
  const project = createProject({ "r.ngraph": REVIEW });
  project.ngc(["run", "r.ngraph", "--thread", "t1"]);
  const waiting = project.ngc(["graph", "r.ngraph", "--thread", "t1"]);
  expect(waiting.stdout).toContain("thread t1: paused");
  expect(waiting.stdout).toMatch(/draft {2}rounds \+ 1 {2}\[3× · steps 0, 1, 2 · /);
  expect(waiting.stdout).toContain("[waits for an answer]");
  project.ngc(["resume", "t1", "--answer", "yes"]);
  const ended = project.json(["graph", "r.ngraph", "--thread", "t1"]);
  expect(ended.document).toMatchObject({
    version: 1,
    run: {
      kind: "thread",
      title: "thread t1: completed",
      steps: [{ ran: ["draft"] }, { ran: ["draft"] }, { ran: ["draft"] }, { step: 3, ran: ["ok"] }],
    },
  });
  project.write("r.ngraph", REVIEW.replace("rounds < 3", "rounds < 4"));
  expect(project.ngc(["graph", "r.ngraph", "--thread", "t1"]).stdout).toContain("written by another version");
});

test("ngc graph refuses runs that it cannot draw, with exit code 64", () => {
  const project = createProject({
    "r.ngraph": REVIEW,
    "other.ngraph": REVIEW.replace("graph review", "graph other"),
    "p.ngraph": 'plan p {\n  task a = shell("true")\n}\n',
    "bad.json": '[{"ran": ["nowhere"]}]',
  });
  project.ngc(["run", "r.ngraph", "--thread", "t1"]);
  for (const [args, message] of [
    [["r.ngraph", "--thread", "none"], "there is no thread `none`"],
    [["other.ngraph", "--thread", "t1"], "is of graph `review`, not of `other`"],
    [["p.ngraph", "--thread", "t1"], "is a plan"],
    [["r.ngraph", "--thread", "t1", "--trace", "bad.json"], "cannot be combined"],
    [["r.ngraph", "--store", "memory"], "--store is used with --thread only"],
    [["r.ngraph", "--trace", "bad.json"], "`nowhere`"],
    [["r.ngraph", "--trace", "missing.json"], "no such file"],
  ] as const) {
    const { status, stderr } = project.ngc(["graph", ...args]);
    expect([args, status]).toEqual([args, 64]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  }
});
