/** Generated modules of plans: typed, checked by `tsc`, and the same runs as the table's. */
import { describe, expect, test } from "vitest";
import type { PlanRunner, PlanRunResult } from "../../runtime/plan/plan-options.ts";
import { createPlanRunner } from "../../runtime/plan/plan-runner.ts";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { createProject } from "./project.ts";

const NODES = `
export function build(name: string): { path: string; size: number } { return { path: "dist/" + name, size: name.length } }
export function test(path: string, version: string): string { return path + " on " + version }
export const isDone = (size: number): boolean => size > 2;
`;

const PLAN = `
import { build, test, isDone } from "./nodes.ts"
graph shout { input text: string  output loud: string  node up = upper(text) into loud  start -> up -> end }
plan pack { input path: string  output archive: string  task zip = \`\${path}.zip\` into archive }

/// Builds, tests, and packs.
plan release {
  input  name: string
  input  extra: int = 1
  output log: string[] reduce append
  output archive: string
  output title: string
  output size: int
  state  path: string
  task make = build(name) into { path, size } { touches "dist/**" done when isDone(size) }
  task try  = test(path, v) for v in ["20", "22"] after make into log
  task pack_it = pack(path: path) after try when size + extra > 3 into { archive }
  task say  = shout(text: name) after make into { loud: title }
}
`;

type Make = (options?: object) => PlanRunner;

const shown = ({ status, outcome, batches, tasks, output }: PlanRunResult): object => ({
  status,
  outcome,
  batches,
  tasks: tasks.map(({ id, status: own, attempts, reason }) => ({ id, status: own, attempts, reason })),
  output,
});

describe.each(["ts", "js"] as const)("as %s", (target) => {
  test("runs as the table does", async () => {
    const project = createProject({ "release.ngraph": PLAN, "nodes.ts": NODES }, target);
    if (target === "js") return expect(await project.typeCheck()).toEqual([]);
    const { release } = await project.load("release.ngraph.ts");
    const functions = (await project.load("nodes.ts")) as Record<string, () => unknown>;
    const table = project.compiled["release.ngraph"]!.tables.get("release")!;
    if (table.kind !== "plan") throw new Error("no plan");
    const generated = (release as Make)();
    expect(generated.table.digest).toBe(table.digest);
    const interpreted = createPlanRunner(table, { functions, builtins: builtinNodes });
    for (const input of [{ name: "core" }, { name: "abc", extra: 0 }, { name: "abc", extra: 2 }]) {
      const [one, other] = [await generated.run(input), await interpreted.run(input)];
      expect(shown(one)).toEqual(shown(other));
      expect(one.outcome).toBe("clean");
      expect(one.output["log"]).toEqual([`dist/${input.name} on 20`, `dist/${input.name} on 22`]);
    }
  });
});

const USE = `
import { release } from "./release.ngraph.ts";
const result = await release().run({ name: "core" }, { only: ["make", "try", "try[20]"] });
const size: number | null = result.output.size;
const log: readonly string[] = result.output.log;
const id: "make" | "try[20]" | "try[22]" | "pack_it" | "say" = result.tasks[0]!.id;
export { size, log, id };
`;

test("is typed by inputs, outputs and the names of tasks", async () => {
  const files = { "release.ngraph": PLAN, "nodes.ts": NODES };
  expect(await createProject({ ...files, "use.ts": USE }).typeCheck()).toEqual([]);
  const wrong = `
import { release } from "./release.ngraph.ts";
await release().run({ name: 1 });
await release().run({ name: "core" }, { only: ["trie"] });
`;
  const found = await createProject({ ...files, "use.ts": wrong }).typeCheck();
  expect(found.map((line) => line.slice(0, 6))).toEqual(["use.ts", "use.ts"]);
});

test("tsc finds a function that does not fit its task", async () => {
  // A type parameter is opaque to the compiler.
  const nodes = NODES.replace("build(name: string)", "build<T extends Uppercase<string>>(name: T)");
  const found = await createProject({ "release.ngraph": PLAN, "nodes.ts": nodes }).typeCheck();
  expect(found.join("\n")).toContain("release.ngraph.ts");
});
