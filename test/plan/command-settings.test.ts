import { describe, expect, test } from "vitest";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { format } from "../../grammar/format/format.ts";
import { findingsOf, planTable } from "./compile-plan.ts";

/** By command of the first task, its arguments. */
function argumentsOf(text: string, path?: string): readonly Readonly<Record<string, unknown>>[] {
  const { tasks, expressions } = planTable(text, path);
  const { call, checks } = tasks[0]!;
  return [call, ...checks].map((each) =>
    each.kind === "builtin"
      ? Object.fromEntries(each.args.map(({ name, expression }) => [name, expressions[expression]]))
      : {},
  );
}
const constant = (value: unknown): unknown => ({ op: "const", value });
const CI = { op: "record", fields: [{ name: "CI", value: constant("1") }] };

describe("`cwd` and `env` of a task", () => {
  test("are arguments of its command and of its checks, which keep their own", () => {
    const [command, check, other] = argumentsOf(
      `plan p { task a = shell("build") { cwd "web" env { CI: "1" } done when shell("test") done when shell("x", cwd: ".") } }`,
    );
    expect(command).toEqual({ command: constant("build"), cwd: constant("web"), env: CI });
    expect(check).toEqual({ command: constant("test"), cwd: constant("web"), env: CI });
    expect(other).toEqual({ command: constant("x"), cwd: constant("."), env: CI });
  });

  test("read the variables of a matrix, and channels of these names", () => {
    const text = `plan p {
      input env: string = "x"
      input cwd: string = "sub"
      task a = shell(\`x \${env}\`) for d in ["a", "b"], n in [1] when cwd == "sub" && env != "" { cwd d env { N: \`\${n}\` } }
    }`;
    expect(findingsOf(text)).toEqual([]);
    expect(planTable(text).tasks.map(({ name }) => name)).toEqual(["a[a,1]", "a[b,1]"]);
  });

  test("are the same in YAML and after formatting", async () => {
    const text = `plan p { task a = shell("build") { worktree cwd "web" env { CI: "1" } } task b = shell("b") after a { env { A: \`\${1}\` } } }`;
    const { digest } = planTable(text);
    expect(planTable(toYaml(parse(text).file).text, "p.ngraph.yaml").digest).toBe(digest);
    expect(planTable(await format(text)).digest).toBe(digest);
    const yaml = `plan: p\ntasks:\n  a:\n    call: shell\n    args: ['"build"']\n    cwd: '"web"'\n    env: { CI: "1" }\n`;
    expect(argumentsOf(yaml, "p.ngraph.yaml")).toEqual(argumentsOf(text));
  });

  test.each([
    ['task a = print("x") { worktree }', "NG117: `worktree` on a task that runs no command is not supported"],
    ['task a = shell("x") { worktree worktree }', "NG102: `worktree` is stated twice"],
    ['task a = print("x") { cwd "web" }', "NG117: `cwd` is for commands, and `a` has none"],
    ['task a = shell("x") { cwd "a" cwd "b" }', "NG102: `cwd` is stated twice"],
    ['task a = shell("x") { cwd 5 }', "NG408: argument `cwd` of `shell` does not accept this value"],
    ['task a = shell("x") { env "A=1" }', "NG408: argument `env` of `shell` does not accept this value"],
  ])("%s", (task, message) => {
    expect(findingsOf(`plan p { ${task} }`)).toContain(message);
  });

  test("belong to tasks, not to nodes", () => {
    expect(findingsOf('graph g { node a = shell("x") { cwd "a" timeout 1s } start -> a }')).toContain(
      "NG117: `cwd` is for tasks of a plan, not for nodes of a graph",
    );
    expect(findingsOf('graph g { node a = shell("x") { worktree timeout 1s } start -> a }')).toContain(
      "NG117: `worktree` is for tasks of a plan, not for nodes of a graph",
    );
  });
});
