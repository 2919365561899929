import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProject, HELLO } from "./project.ts";

const read = (code: string): string =>
  readFileSync(join(import.meta.dirname, `../checks/fixtures/${code}-fires.ngraph`), "utf8");

test("ngc run --replay-trace shows the failures of a check's document, and exits with 1", () => {
  const project = createProject({ "a.ngraph": read("NG301"), "b.ngraph": read("NG401") });
  for (const name of ["a", "b"])
    project.write(`${name}.json`, project.ngc(["check", `${name}.ngraph`, "--json"]).stdout);
  const stuck = project.ngc(["run", "a.ngraph", "--replay-trace", "a.json"]);
  expect(stuck.status).toBe(1);
  expect(stuck.stdout).toContain('chosen: start · triage ("ok") · legal');
  expect(stuck.stdout).toMatch(/shown: the run ends while the barrier in front of `publish` still waits for `rewrite`/);
  const race = project.json(["run", "b.ngraph", "--replay-trace", "b.json"]);
  expect(race.status).toBe(1);
  expect(race.document).toMatchObject({
    version: 1,
    ok: false,
    replays: [{ code: "NG401", shown: true, status: "failed", error: { code: "NG_CONCURRENT_WRITE" } }],
  });
  expect(project.has(".ngraph")).toBe(false);
});

test("a trace that does not fit is wrong usage; a trace of a sound graph shows no failure", () => {
  const project = createProject({ "hello.ngraph": HELLO, "bad.json": "{", "none.json": '{"diagnostics": []}' });
  const run = (trace: string): { status: number | null; stdout: string; stderr: string } => {
    if (!trace.endsWith(".json")) project.write("trace.json", trace);
    return project.ngc(["run", "hello.ngraph", "--replay-trace", trace.endsWith(".json") ? trace : "trace.json"]);
  };
  for (const [trace, message] of [
    ["nowhere.json", "no such file"],
    ["bad.json", "is not valid JSON"],
    ["none.json", "no finding with a trace"],
    ["[]", "no finding with a trace"],
    ['[{"ran": 7}]', "step 0 of the trace"],
    ['[{"ran": ["other"]}]', "`other`"],
    ['[{"ran": ["greet"], "chose": {"greet": "x"}}]', "no such edge"],
  ] as const) {
    const { status, stderr } = run(trace);
    expect([trace, status]).toEqual([trace, 64]);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain("    at ");
  }
  expect(run('[{"ran": ["greet"]}]')).toMatchObject({ status: 0, stdout: expect.stringContaining("not shown") });
});
