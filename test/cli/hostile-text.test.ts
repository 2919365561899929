import { expect, test } from "vitest";
import { createProject } from "./project.ts";

const HOSTILE = "\u001b[2J\u001b[31mred\u0007\u009b1m\u202eright to left\rover";
const THREAD = "\u001b[31mthread";

/** Everything that a terminal would act on, but line breaks and tabs. */
// oxlint-disable-next-line no-control-regex -- these are what is looked for
const ACTIVE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

test("texts of nodes, people and names are printed escaped", () => {
  const project = createProject({
    "hostile.ngraph": `import { speak, fail } from "./nodes.ts"

graph hostile {
  output said: string
  output answer: string
  output never: string

  node says = speak() into said
  node asks = ask(said) into answer
  node prints = print(said)
  node fails = fail() into never { tries 2 backoff 1ms..1ms }

  start -> says -> asks -> prints -> fails
}
`,
    "nodes.ts": `const text = ${JSON.stringify(HOSTILE)};
export const speak = (): string => text;
export const fail = (): string => {
  throw new Error(text, { cause: new Error("below: " + text) });
};
`,
  });
  const commands = [
    ["run", "hostile.ngraph", "--thread", THREAD],
    ["resume", THREAD, "--answer", HOSTILE],
    ["history", THREAD],
    ["history", `${THREAD}s`],
    ["threads"],
    ["show", "nothing", "--thread", THREAD],
    ["run", `${HOSTILE}.ngraph`],
    ["threads", "--store", `${HOSTILE}/x`],
  ];
  for (const args of commands) {
    const { stdout, stderr } = project.ngc(args);
    expect(stdout + stderr, args.join(" ")).not.toMatch(ACTIVE);
  }
  const [head] = project.json(["history", THREAD]).document.checkpoints;
  const shown = project.ngc(["show", head.id]);
  expect(shown.stdout).not.toMatch(ACTIVE);
  expect(shown.stdout).toContain("said: \\u{001b}[2J\\u{001b}[31mred\\u{0007}");
  // The document is JSON, where a program reads the text as it is.
  expect(project.json(["show", head.id]).document.values.answer).toBe(HOSTILE);
});

test("a printed command for such a thread can be copied into a shell", () => {
  const project = createProject({
    "ask.ngraph": `graph g { output t: string  node a = ask("?") into t  start -> a }\n`,
  });
  const { stdout } = project.ngc(["run", "ask.ngraph", "--thread", THREAD]);
  expect(stdout).toContain("ngc resume $'\\x1b[31mthread' --answer VALUE");
});
