import { describe, expect, test } from "vitest";
import { createProject, type Document, type Project } from "./project.ts";

const ASKING = `graph asking {
  output verdict: "yes" | "no"
  output size: int
  output why: string

  node sure = ask("sure?") into verdict
  node big  = ask("how big?") into size
  node note = ask("why?") into why

  start -> sure, big, note
}
`;

/** The ids of what waits, by node. */
function waiting(project: Project, thread = "t"): Record<string, string> {
  const [head] = project.json(["history", thread]).document.checkpoints;
  return Object.fromEntries(head.pauses.map((pause: Document) => [pause.node, pause.id]));
}

function asked(): { project: Project; ids: Record<string, string>; answer: (...values: string[]) => Answered } {
  const project = createProject({ "asking.ngraph": ASKING });
  expect(project.ngc(["run", "asking.ngraph", "--thread", "t"]).status).toBe(3);
  const answer = (...values: string[]): Answered => {
    const flags = values.flatMap((value) => ["--answer", value]);
    const { status, document } = project.json(["resume", "t", ...flags]);
    return { status, error: document.error?.message, output: document.output };
  };
  return { project, ids: waiting(project), answer };
}

interface Answered {
  readonly status: number | null;
  readonly error: string | undefined;
  readonly output: Document;
}

describe("6.2 ngc resume --answer", () => {
  test("answers several items by id; values are read as the expected type", () => {
    const { ids, answer } = asked();
    const { status, output } = answer(`${ids["sure"]}=yes`, `${ids["big"]}=12`, `${ids["note"]}=42`);
    expect({ status, output }).toEqual({ status: 0, output: { verdict: "yes", size: 12, why: "42" } });
  });

  test("answers one item, with an `=` in the answer; the others still wait", () => {
    const { project, ids, answer } = asked();
    expect(answer(`${ids["note"]}=a=b=c`)).toMatchObject({ status: 3 });
    expect(Object.keys(waiting(project))).toEqual(["sure", "big"]);
    expect(answer(`${ids["big"]}=1`).status).toBe(3);
    expect(answer("no").output).toEqual({ verdict: "no", size: 1, why: "a=b=c" });
  });

  test("repeating an answer has no effect; a different answer for the same id is an error, even after the run", () => {
    const { ids, answer } = asked();
    expect(answer(`${ids["big"]}=1`).status).toBe(3);
    expect(answer(`${ids["big"]}=1`)).toMatchObject({ status: 3, error: undefined });
    expect(answer(`${ids["big"]}=2`)).toMatchObject({
      status: 64,
      error: expect.stringContaining("answered already, with 1"),
    });
    expect(answer(`${ids["sure"]}=yes`, `${ids["note"]}=x`).status).toBe(0);
    expect(answer(`${ids["sure"]}=yes`)).toMatchObject({ status: 0, output: { verdict: "yes" } });
    expect(answer(`${ids["sure"]}=no`)).toMatchObject({ status: 64, error: expect.stringContaining('with "yes"') });
  });

  test("a refused answer leaves all items waiting", () => {
    const { project, ids, answer } = asked();
    const refused: readonly (readonly [values: string[], message: string])[] = [
      [["yes"], "3 items wait for an answer"],
      [[`${ids["sure"]}=maybe`], 'expected "yes" | "no", found "maybe"'],
      [[`${ids["big"]}=1.5`], "expected int, found 1.5"],
      [[`${ids["big"]}="1"`], 'expected int, found "1"'],
      [[`${ids["sure"]}=yes`, `${ids["sure"]}=no`], "two different answers"],
      [["other@7.0123456789ab=yes"], "no pause with the id `other@7.0123456789ab` waits"],
      [[`${ids["sure"]}=yes`, "no"], "3 items wait"],
    ];
    for (const [values, message] of refused) {
      expect(answer(...values), values.join(" ")).toMatchObject({
        status: 64,
        error: expect.stringContaining(message),
      });
    }
    expect(waiting(project)).toEqual(ids);
  });

  test("6.2: an answer to an older gate never reaches a later one", () => {
    const project = createProject({
      "loop.ngraph": `graph loop {
  output verdict: "again" | "stop"
  node gate = ask("on?") into verdict
  start -> gate -> match verdict { "again" -> gate  "stop" -> end }
}
`,
    });
    project.ngc(["run", "loop.ngraph", "--thread", "t"]);
    const first = waiting(project)["gate"];
    expect(project.ngc(["resume", "t", "--answer", `${first}=again`]).status).toBe(3);
    expect(waiting(project)["gate"]).not.toBe(first);
    expect(project.ngc(["resume", "t", "--answer", `${first}=again`]).status).toBe(3);
    const late = project.ngc(["resume", "t", "--answer", `${first}=stop`]);
    expect({ status: late.status, stderr: late.stderr }).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("answered already"),
    });
    expect(project.ngc(["resume", "t", "--answer", "stop"])).toMatchObject({ status: 0, stdout: "verdict: stop\n" });
  });

  test("the command that is printed can be copied: ids of called graphs are quoted", () => {
    const project = createProject({
      "calls.ngraph": `graph inner {
  input  topic: string
  output text: string
  node ok = ask(topic) into text
  start -> ok
}

graph outer {
  input  topics: string[] = ["a", "b"]
  output texts: string[]
  node every = inner(topic: topic) for topic in topics into { text: texts }
  start -> every
}
`,
    });
    const { stdout } = project.ngc(["run", "calls.ngraph", "--thread", "it's"]);
    expect(stdout).toMatch(
      /answer with: ngc resume 'it'\\''s' --answer 'every\[0\]#\w+@0\/ok@0\.\w+=VALUE' --answer 'every\[1\]#\w+@0/,
    );
  });
});

test("a question is printed with what a person has to know: the call to approve, details, and the type of the answer", () => {
  const project = createProject({
    "flow.ngraph": `import { pay } from "./nodes.ts"
type Form = { name: string, age: int }
graph approval {
  output said: string
  node refund = pay() into said
  start -> refund
}
graph form {
  output given: Form
  node who = ask("Who?", details: { ticket: 7 }) into given
  start -> who
}
`,
    // The payload of \`llm\` for a tool that needs an approval.
    "nodes.ts": `import type { NodeContext } from "ngraph";
export function pay(context: NodeContext): string {
  const call = { tool: "refund", arguments: { order: "7", amount: 30 } };
  return context.interrupt<string>({ question: "Allow the call?", choices: ["approve", "deny"], ...call });
}
`,
  });
  const approval = project.ngc(["run", "flow.ngraph", "--graph", "approval"]);
  expect(approval.status).toBe(3);
  expect(approval.stdout).toContain(
    '  Allow the call?\n  {"tool":"refund","arguments":{"order":"7","amount":30}}\n  one of: approve | deny\n',
  );
  const form = project.ngc(["run", "flow.ngraph", "--graph", "form"]);
  expect(form.stdout).toContain('  Who?\n  {"ticket":7}\n  of the type: { name: string, age: int }\n');
});

test("6.3: several gates are released by id, and the hint names each of them; the same gates and a question, too", () => {
  const project = createProject({
    "gates.ngraph": `graph gates {
  output said: string = ""
  node a = print("a") { pause before }
  node b = print("b") { pause before }
  node q = ask("go?") into said
  start -> a, b
  any(a, b) -> q
}
`,
  });
  const hint = (stdout: string): string[] =>
    /answer with: ngc (resume t --answer .*)/.exec(stdout)?.[1]?.replaceAll("'", "").split(" ") ?? [];
  const asked = project.ngc(["run", "gates.ngraph", "--thread", "t"]);
  expect(hint(asked.stdout).filter((word) => word.endsWith("=true"))).toHaveLength(2);
  const bare = project.ngc(["resume", "t", "--answer", "true"]);
  expect(bare.stderr).toMatch(/help: --answer before:a@\S+=true {2}--answer before:b@\S+=true/);
  const released = project.ngc(hint(asked.stdout));
  expect(released.status).toBe(3);
  expect(released.stdout).toContain("q waits for an answer");
});

test("5.9: --from accepts a prefix of an id, answers use the ids of that checkpoint, and a wrong answer changes nothing", () => {
  const { project, ids, answer } = asked();
  answer(`${ids["sure"]}=yes`, `${ids["big"]}=1`, `${ids["note"]}=x`);
  const chain = (): string[] => project.json(["history", "t"]).document.checkpoints.map(({ id }: Document) => id);
  const before = chain();
  const paused = project
    .json(["history", "t"])
    .document.checkpoints.findLast((item: Document) => item.pauses.length > 0);
  const from = ["resume", "t", "--from", paused.id.slice(0, 13)];
  expect(project.ngc([...from, "--answer", `${ids["sure"]}=maybe`]).status).toBe(64);
  expect(project.ngc([...from, "--answer", "no"]).status).toBe(64);
  expect(chain()).toEqual(before);
  const again = project.json([...from, "--answer", `${ids["sure"]}=no`, "--answer", `${ids["big"]}=2`]);
  expect(again).toMatchObject({ status: 3, document: { pauses: [{ node: "note" }] } });
  expect(project.json(["resume", "t", "--answer", "y"]).document.output).toEqual({ verdict: "no", size: 2, why: "y" });
});
