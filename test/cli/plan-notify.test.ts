import { describe, expect, test } from "vitest";
import { createProject } from "./project.ts";

const PLAN = `plan ship {
  input ok: bool = true
  task build = shell("true")
  task test  = shell("echo 'bad $(touch PWNED)'; exit 3") after build when !ok
  task ask_b = ask("go on?") after done test when !ok
}
`;
/** Prints the facts of a run to a file. */
const TELL =
  'printf "%s|%s|%s|%s|%s|%s" "$NGRAPH_PLAN" "$NGRAPH_STATUS" "$NGRAPH_OUTCOME" "$NGRAPH_EXIT_CODE" "$NGRAPH_FAILED" "$NGRAPH_WAITING" > told';

describe("--notify", () => {
  test("runs when a plan has ended, with the facts in its environment", () => {
    const project = createProject({ "p.ngraph": PLAN });
    const { status, document } = project.json(["run", "p.ngraph", "--notify", "echo printed", "--notify", TELL]);
    expect(status).toBe(0);
    expect(document.outcome).toBe("clean");
    expect(project.read("told")).toBe("ship|completed|clean|0||");
  });

  test("runs when a plan waits, and when a resume ends; what tasks print is never a command", () => {
    const project = createProject({ "p.ngraph": PLAN });
    const save = `${TELL}; printf %s "$NGRAPH_ERROR" > error; cp "$NGRAPH_SUMMARY" summary || true`;
    const first = project.ngc(["run", "p.ngraph", "--thread", "t", "--input", '{"ok": false}', "--notify", save]);
    expect(first.status).toBe(3);
    expect(project.read("told")).toBe("ship|paused|partial|3|test|ask_b");
    expect(project.read("error")).toContain("bad $(touch PWNED)");
    expect(JSON.parse(project.read("summary"))).toMatchObject({ version: 1, status: "paused" });
    expect(project.has("PWNED")).toBe(false);
    const second = project.ngc(["resume", "t", "--answer", '"yes"', "--notify", TELL]);
    expect(second.status).toBe(1);
    expect(project.read("told")).toContain("|1|test|");
  });

  test("one that fails is printed, and changes nothing", () => {
    const project = createProject({ "p.ngraph": PLAN });
    const { status, stderr } = project.ngc(["run", "p.ngraph", "--notify", "exit 5", "--notify", TELL]);
    expect(status).toBe(0);
    expect(stderr).toContain('--notify "exit 5": it ended with exit code 5');
    expect(project.has("told")).toBe(true);
    expect(project.ngc(["run", "p.ngraph", "--notify", " "]).status).toBe(64);
  });
});
