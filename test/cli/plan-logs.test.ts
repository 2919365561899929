/** `ngc logs`: what the tasks of a plan print is kept, and can be read while they run. */
import { describe, expect, test } from "vitest";
import { createProject, type Document } from "./project.ts";

const PLAN = `plan p {
  output text: string
  task a = shell("echo one; echo two >&2; printf three") { done when shell("echo checked") }
  task b = shell("for i in 1 2 3; do echo tick $i; sleep 0.3; done") for i in ["x"] after a
  task c = shell("printf '\\\\033[31mred\\\\n'; exit 3") after b into { stdout: text }
  task q = 1 into n
  state n: int
}
`;

test("prints what tasks and checks have printed, whole and escaped", () => {
  const project = createProject({ "p.ngraph": PLAN });
  const { status, stderr } = project.ngc(["run", "p.ngraph", "--thread", "t"]);
  expect(status).toBe(1);
  expect(stderr).toContain("all its attempts: ngc logs t c");

  const one = project.ngc(["logs", "t", "a"]);
  expect(one.status).toBe(0);
  expect(one.stdout.split("\n").sort()).toEqual(["", "checked", "one", "three", "two"]);
  expect(one.stderr).toBe("==> a, try 1 <==\n==> a, try 1, check 1 <==\n");
  expect(project.ngc(["logs", "t", "c"]).stdout).toBe("\\u{001b}[31mred\n");
  expect(project.ngc(["logs", "t", "c", "--raw"]).stdout).toBe("\u001b[31mred\n");
  // The name of a matrix task stands for all of its tasks.
  expect(project.ngc(["logs", "t", "b"]).stdout).toBe("tick 1\ntick 2\ntick 3\n");

  const { run, logs } = project.json(["logs", "t"]).document;
  expect(logs).toEqual([
    expect.objectContaining({ task: "a", attempt: 1, bytes: 14 }),
    expect.objectContaining({ task: "a", attempt: 1, check: 1, bytes: 8 }),
    expect.objectContaining({ task: "b[x]" }),
    expect.objectContaining({ task: "c" }),
  ]);
  expect(project.ngc(["logs", run, "c"]).stdout).toContain("red");
});

test("names what there is if a thread, a run or a task has no log", () => {
  const project = createProject({ "p.ngraph": PLAN });
  project.ngc(["run", "p.ngraph", "--thread", "t"]);
  const refused = (...args: string[]): string => {
    const { status, stderr } = project.ngc(["logs", ...args]);
    expect(status).toBe(64);
    return stderr;
  };
  expect(refused("nope")).toContain("no run of a plan with thread or run id `nope`");
  expect(refused("t", "q")).toContain("task `q` of thread `t` has printed nothing (there are logs of: a, b[x], c)");
  expect(refused("t", "A")).toContain("plan `p` has no task `A`\n  = help: did you mean `a`?");
  expect(refused("t", "nothing")).toContain(
    "plan `p` has no task `nothing`\n  = help: its tasks are `a`, `q`, `b[x]` and `c`",
  );
  expect(refused("t", "b[y]")).toContain("did you mean `b[x]`?");
  expect(refused("t", "--run", "zzz")).toContain("thread `t` has no run `zzz` (there are:");
  expect(refused("t", "--follow", "--json")).toContain("choose one of them");
});

test("long names of tasks and names in other scripts are whole, and do not share a log", () => {
  const value = "请修复登录页面的样式问题并添加测试用例";
  const long = "a".repeat(210);
  const plan = `plan p {
  task a = shell(\`echo ${"${v}"}\`) for v in ["${value}"] { done when shell("echo checked") }
  task ${long}_one = shell("echo 1") { done when shell("echo checked") }
  task ${long}_two = shell("echo 2")
}
`;
  const project = createProject({ "p.ngraph": plan });
  expect(project.ngc(["run", "p.ngraph", "--thread", "t"]).status).toBe(0);
  const names = project
    .json(["logs", "t"])
    .document.logs.map(({ task, check }: { task: string; check?: number }) =>
      check === undefined ? task : `${task}, check ${check}`,
    );
  const task = `a["${value}"]`;
  expect(names.sort()).toEqual([task, `${task}, check 1`, `${long}_one`, `${long}_one, check 1`, `${long}_two`].sort());
  expect(project.ngc(["logs", "t", task]).stdout).toBe(`${value}\nchecked\n`);
  expect(project.ngc(["logs", "t", `${long}_one`]).stdout).toBe("1\nchecked\n");
  expect(project.ngc(["logs", "t", `${long}_two`]).stdout).toBe("2\n");
});

test("follows a run until it ends", async () => {
  const project = createProject({ "p.ngraph": PLAN });
  const run = project.start(["run", "p.ngraph", "--thread", "t"]);
  await new Promise<void>((resolve) => run.stderr.on("data", (chunk) => String(chunk).includes("▸ b") && resolve()));
  const follow = project.start(["logs", "t", "--follow"]);
  let text = "";
  follow.stdout.on("data", (chunk) => (text += String(chunk)));
  expect(await new Promise((resolve) => follow.once("close", resolve))).toBe(0);
  expect(text.split("\n")).toEqual(expect.arrayContaining(["one", "tick 1", "tick 3", "\\u{001b}[31mred"]));
});

test("refuses to follow a task that the running plan does not have", async () => {
  const project = createProject({
    "p.ngraph": 'plan p { task slow = shell("while [ ! -f go ]; do sleep 0.05; done; echo gone") }',
  });
  const run = project.start(["run", "p.ngraph", "--thread", "t"]);
  await new Promise<void>((resolve) => run.stderr.on("data", (chunk) => String(chunk).includes("▸ slow") && resolve()));
  const refused = project.ngc(["logs", "t", "slwo", "--follow"]);
  project.write("go", "");
  expect(refused).toMatchObject({
    status: 64,
    stdout: "",
    stderr: "error: plan `p` has no task `slwo`\n  = help: did you mean `slow`?\n",
  });
  await new Promise((resolve) => run.once("close", resolve));
});

test("tasks of a matrix over a list that is known at run time, and of plans that they call, have their names", () => {
  const project = createProject({
    "p.ngraph": `plan p {
  input values: string[]
  task dyn = inner(v: v) for v in values
  task own = shell(\`echo own \${v}; exit 1\`) for v in values
}
plan inner { input v: string  task t = shell(\`echo \${v}\`) { done when shell("echo checked") } }
`,
  });
  const { stderr } = project.ngc(["run", "p.ngraph", "--thread", "t", "--input", '{"values": ["x", "y"]}']);
  expect(stderr).toContain("▸ dyn[x]/t\n");
  expect(project.ngc(["logs", "t", "dyn[x]"]).stdout).toBe("x\nchecked\n");
  expect(project.ngc(["logs", "t", "dyn[y]/t"]).stdout).toBe("y\nchecked\n");
  expect(project.ngc(["logs", "t", "own[x]"]).stdout).toBe("own x\n");
  // The summary has the output of each of its tasks.
  expect(stderr).toContain("==> own[x], try 1 <==\nown x\n");
  expect(stderr).toContain("==> own[y], try 1 <==\nown y\n");
  expect(stderr).toContain("all its attempts: ngc logs t own\n");
});

test("no log is offered of a failed task that has printed nothing", () => {
  const project = createProject({
    "p.ngraph": 'plan p { task quiet = shell("exit 3")  task loud = shell("echo why; exit 3") }',
  });
  const { stderr } = project.ngc(["run", "p.ngraph", "--thread", "t"]);
  expect(stderr).toContain("failed: quiet");
  expect(stderr).not.toContain("ngc logs t quiet");
  expect(stderr).toContain("ngc logs t loud");
});

test("a task may print any amount that the plan does not store; secrets are replaced", () => {
  const project = createProject({
    "p.ngraph": `secret KEY
plan p {
  task much = shell("yes | head -c 30000000")
  task keep = shell("yes | head -c 30000000") into { stdout: text }
  state text: string
  task leak = shell("printf begin; printf $KEY; sleep 0.2; echo -end", env: { KEY: KEY })
}
`,
  });
  const ran = project.ngc(["run", "p.ngraph", "--thread", "t", "--json"], { env: { KEY: "hush-hush-123" } });
  const document = JSON.parse(ran.stdout) as Document;
  expect(document.tasks.map((task: { status: string }) => task.status)).toEqual(["done", "failed", "done"]);
  expect(document.tasks[1].error).toContain("wrote more than 10 MiB to stdout, which the graph stores");
  expect(project.json(["logs", "t", "much"]).document.logs[0].bytes).toBe(30_000_000);
  expect(project.ngc(["logs", "t", "leak"]).stdout).toBe("begin[secret KEY]-end\n");
});

test("in GitHub Actions, what a task printed follows its end: in a group, or open if it has failed", () => {
  const plan = 'plan p { task a = shell("echo one; echo two >&2")  task b = shell("echo broken; exit 3") after a }';
  const project = createProject({ "p.ngraph": plan });
  const { stderr } = project.ngc(["run", "p.ngraph"], { env: { GITHUB_ACTIONS: "true" } });
  expect(stderr).toMatch(/✓ a .*\n::group::output of a\n==> a, try 1 <==\n(one\ntwo|two\none)\n::endgroup::\n/);
  expect(stderr).toMatch(/✗ b .*\noutput of b:\n==> b, try 1 <==\nbroken\n/);
  const { stderr: plain } = project.ngc(["run", "p.ngraph"], { env: { GITHUB_ACTIONS: "" } });
  expect(plain).not.toContain("::group::");
});

describe("what failed tasks have printed follows in the summary", () => {
  const PLAN = `plan p {
  task good = shell("echo unmentioned; seq 1 3")
  task bad  = shell("echo try $NGRAPH_ATTEMPT; seq 1 5000; printf 'no end \\\\033[31m'; exit 3") after good { tries 2 backoff 1s..1s idempotent }
  task held = shell("echo built") after good { done when shell("echo checked; exit 1") tries 1 }
  task call = inner() after good
}
plan inner {
  task fine = shell("echo inner unmentioned")
  task hurt = shell("echo inner hurt; exit 1")
}
`;

  test("whole, escaped, of the last attempt, of its checks and of called plans", () => {
    const project = createProject({ "p.ngraph": PLAN });
    const { status, stderr } = project.ngc(["run", "p.ngraph", "--thread", "t", "--quiet"]);
    expect(status).toBe(1);
    const titles = stderr.split("\n").filter((line) => line.startsWith("==>"));
    expect(titles).toEqual([
      "==> bad, try 2 <==",
      "==> held, try 1 <==",
      "==> held, try 1, check 1 <==",
      "==> call/hurt, try 1 <==",
    ]);
    const numbers = Array.from({ length: 5000 }, (_, at) => `${at + 1}\n`).join("");
    expect(stderr).toContain(`==> bad, try 2 <==\ntry 2\n${numbers}no end \\u{001b}[31m\nfailed: held`);
    expect(stderr).toContain("==> held, try 1 <==\nbuilt\n==> held, try 1, check 1 <==\nchecked\n");
    expect(stderr).toContain("==> call/hurt, try 1 <==\ninner hurt\n");
    expect(stderr).not.toContain("unmentioned");
  });

  test("not between the lines of --events, and beside the document of --json", () => {
    const project = createProject({ "p.ngraph": PLAN });
    expect(project.ngc(["run", "p.ngraph", "--events"]).stderr).not.toContain("==>");
    const { stdout, stderr } = project.ngc(["run", "p.ngraph", "--json"]);
    expect((JSON.parse(stdout) as Document).outcome).toBe("partial");
    expect(stderr).toContain("==> held, try 1 <==\nbuilt\n");
  });

  test("one line of many megabytes is whole, and secrets are replaced", () => {
    const project = createProject({
      "p.ngraph": `secret KEY
plan p {
  task long = shell("head -c 20000000 /dev/zero | tr '\\\\0' x; exit 1")
  task leak = shell("echo $KEY; exit 1", env: { KEY: KEY })
}
`,
    });
    const { stderr } = project.ngc(["run", "p.ngraph"], { env: { KEY: "hush-hush-123" } });
    expect(stderr).toContain(`==> long, try 1 <==\n${"x".repeat(20_000_000)}\n`);
    expect(stderr).toContain("==> leak, try 1 <==\n[secret KEY]\n");
    expect(stderr).not.toContain("hush");
  });

  test("a task that removes the logs of its run", () => {
    const project = createProject({ "p.ngraph": 'plan p { task a = shell("echo x; rm -rf .ngraph/runs; exit 1") }' });
    const { status, stderr } = project.ngc(["run", "p.ngraph", "--thread", "t"]);
    expect(status).toBe(1);
    expect(stderr).toContain("failed: a: task_failed after 1 attempt");
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
