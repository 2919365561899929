/** Random plans: a plan is refused exactly if a task could never start, and compilation never throws. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { loadPlanTable } from "../../compiler/index.ts";
import { parse } from "../../grammar/parse.ts";
import { toYaml } from "../../grammar/yaml/to-yaml.ts";
import { compilePlan } from "./compile-plan.ts";
import { EVERYTHING } from "./everything.ts";
import { numRuns } from "../support/depth.ts";

interface RandomTask {
  readonly after: readonly number[];
  readonly trigger: "" | "any " | "done " | "failed " | "mixed";
  readonly values: readonly string[];
  readonly touches: readonly string[];
}

const tasks: fc.Arbitrary<readonly RandomTask[]> = fc.integer({ min: 1, max: 12 }).chain((count) =>
  fc.array(
    fc.record({
      after: fc.uniqueArray(fc.integer({ min: 0, max: count - 1 }), { maxLength: 3 }),
      trigger: fc.constantFrom("" as const, "any " as const, "done " as const, "failed " as const, "mixed" as const),
      values: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 }),
      touches: fc.uniqueArray(fc.constantFrom("src/**", "src/a.ts", "b.ts", "?.ts"), { maxLength: 2 }),
    }),
    { minLength: count, maxLength: count },
  ),
);

/** Without self-dependencies, which have their own error. */
const withoutSelf = (list: readonly RandomTask[]): readonly RandomTask[] =>
  list.map((task, at) => ({ ...task, after: task.after.filter((before) => before !== at) }));

const write = (list: readonly RandomTask[]): string =>
  `plan random {\n${list
    .map(({ after, trigger, values, touches }, at) => {
      const each = values.length === 0 ? "" : ` for v in ${JSON.stringify(values)}`;
      const words = ["", "done ", "failed "];
      const names = after.map((task, position) => `${trigger === "mixed" ? words[position] : ""}t${task}`);
      const before = after.length === 0 ? "" : ` after ${trigger === "mixed" ? "" : trigger}${names.join(", ")}`;
      const paths =
        touches.length === 0 ? "" : ` { touches ${touches.map((path) => JSON.stringify(path)).join(", ")} }`;
      return `  task t${at} = print(${values.length === 0 ? at : "v"})${each}${before}${paths}`;
    })
    .join("\n")}\n}`;

/** Tasks that can never start because of a dependency. */
function stuck(list: readonly RandomTask[]): number {
  const started = new Set<number>();
  for (let before = -1; before < started.size;) {
    before = started.size;
    for (const [at, task] of list.entries()) if (task.after.every((index) => started.has(index))) started.add(at);
  }
  return list.length - started.size;
}

describe("9.9", () => {
  test("a plan is refused exactly if a task could never start", () => {
    fc.assert(
      fc.property(tasks.map(withoutSelf), (list) => {
        const { diagnostics, tables } = compilePlan(write(list));
        const codes = new Set(diagnostics.filter(({ severity }) => severity === "error").map(({ code }) => code));
        const hasRoot = list.some(({ after }) => after.length === 0);
        expect([...codes]).toEqual(stuck(list) === 0 ? [] : hasRoot ? ["NG702"] : ["NG701"]);
        expect(tables.size).toBe(stuck(list) === 0 ? 1 : 0);
      }),
      { seed: 21, numRuns: numRuns(300) },
    );
  });

  test("an accepted plan loads, and is the same plan in YAML", () => {
    fc.assert(
      fc.property(tasks.map(withoutSelf), (list) => {
        const acyclic = list.map((task, at) => ({ ...task, after: task.after.filter((before) => before < at) }));
        const text = write(acyclic);
        const table = compilePlan(text).tables.get("random");
        expect(table?.kind).toBe("plan");
        expect(loadPlanTable(JSON.stringify(table))).toEqual(table);
        const yaml = toYaml(parse(text, { path: "plan.ngraph" }).file).text;
        expect(compilePlan(yaml, "plan.yaml").tables.get("random")?.digest).toBe(table?.digest);
        // Each value of a matrix has its own task, with the same dependencies.
        const sizes = acyclic.map(({ values }) => Math.max(1, values.length));
        if (table?.kind !== "plan") return;
        expect(table.tasks).toHaveLength(sizes.reduce((sum, size) => sum + size, 0));
        const own = acyclic.flatMap((task) => Array.from({ length: Math.max(1, task.values.length) }, () => task));
        for (const [at, task] of table.tasks.entries()) {
          expect(task.after).toHaveLength(
            (own[at]?.after ?? []).reduce((sum, before) => sum + (sizes[before] ?? 0), 0),
          );
        }
      }),
      { seed: 22, numRuns: numRuns(120) },
    );
  });
});

test("compilation never throws, whatever is removed from a plan or inserted", () => {
  const words = EVERYTHING.split(/(\s+|[{}(),])/);
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: words.length - 1 }),
      fc.integer({ min: 0, max: 6 }),
      fc.constantFrom("", "after", "{", "}", "into", "alone", '"x"', "done when", "0", "a", "for v in", "task", "pool"),
      (at, count, insert) => {
        const text = [...words.slice(0, at), insert, ...words.slice(at + count)].join(" ");
        const { diagnostics, tables } = compilePlan(text);
        for (const { span, file } of diagnostics) expect(span.end).toBeLessThanOrEqual(file.text.length);
        for (const table of tables.values()) if (table.kind === "plan") loadPlanTable(table);
      },
    ),
    { seed: 23, numRuns: numRuns(400) },
  );
});
