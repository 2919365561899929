/** 9.3, 9.4: paths, `alone`, pools and `max parallel` hold across all plans of a run, however they call each other. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { numRuns } from "../support/depth.ts";
import { textRunner } from "./run-text.ts";

const TWICE = (inner: string, outer = ""): string => `
plan main {
  max parallel 3
  ${outer}
  task first  = inner()
  task second = inner()
}
plan inner {
  ${inner}
}`;

const clean = { status: "completed", outcome: "clean" };

describe("two calls of one plan", () => {
  test("never use a path at the same time", async () => {
    const { run, together } = textRunner(TWICE(`task a = shell("a") { touches "out" }\n  task b = shell("b")`));
    expect(await run()).toMatchObject(clean);
    expect(together.filter((commands) => commands.filter((name) => name === "a").length > 1)).toEqual([]);
  });

  test("an `alone` task runs beside no task of any plan", async () => {
    const { run, together } = textRunner(
      TWICE(`task a = shell("a") { alone }\n  task b = shell("b")`, `task other = shell("other")`),
    );
    expect(await run()).toMatchObject(clean);
    expect(together.filter((commands) => commands.includes("a") && commands.length > 1)).toEqual([]);
  });

  test("no more tasks run than `max parallel` of the outermost plan allows", async () => {
    const { run, together } = textRunner(
      TWICE(`max parallel 3\n  task t = shell("t") for i in ["1", "2", "3", "4", "5"]`),
    );
    expect(await run()).toMatchObject(clean);
    expect(Math.max(...together.map((commands) => commands.length))).toBe(3);
  });

  test("share the places of its pools", async () => {
    const { run, together } = textRunner(
      TWICE(`pool gpu 1\n  task t = shell("t") for i in ["1", "2", "3"] { pool gpu }`),
    );
    expect(await run()).toMatchObject(clean);
    expect(Math.max(...together.map((commands) => commands.length))).toBe(1);
  });
});

test("a path of a calling task is free for the tasks of the called plan, and for no other task", async () => {
  const { run, together } = textRunner(`
plan main {
  task call = inner() { touches "src" }
  task edit = shell("edit") { touches "src/a.ts" }
}
plan inner {
  task a = shell("a") { touches "src/a.ts" }
  task b = shell("b") after a
}`);
  expect(await run()).toMatchObject(clean);
  expect(together.filter((commands) => commands.includes("edit") && commands.length > 1)).toEqual([]);
});

test("two calls whose paths cross do not wait for each other for ever", async () => {
  const { run, started } = textRunner(`
plan main {
  task one = left() { touches "x" }
  task two = right() { touches "y" }
}
plan left  { task l = shell("l") { touches "y" } }
plan right { task r = shell("r") { touches "x" } }`);
  expect(await run()).toMatchObject(clean);
  expect(started.sort()).toEqual(["l", "r"]);
});

test("a plan whose paths a waiting task keeps pauses with it, and goes on after the answer", async () => {
  const { run, resume, started } = textRunner(
    `
plan main {
  task review = waits()
  task write  = writes()
}
plan waits  { state a: string  task q = ask("ok?") into a { touches "out" } }
plan writes { task w = shell("w") { touches "out" } }`,
    {},
    { store: new MemoryStore(), builtins: { ask } },
  );
  const paused = await run({ thread: "t" });
  expect([paused.status, paused.pauses.length, started]).toEqual(["paused", 1, []]);
  expect(await resume("t", { answer: "yes" })).toMatchObject(clean);
  expect(started).toEqual(["w"]);
});

describe("random plans that call each other", () => {
  const task = fc.record({
    touches: fc.array(fc.constantFrom("x", "y", "z/a", "z"), { maxLength: 2 }),
    alone: fc.integer({ min: 0, max: 5 }).map((die) => die === 0),
    pool: fc.integer({ min: 0, max: 3 }).map((die) => die === 0),
    after: fc.boolean(),
    call: fc.integer({ min: 0, max: 2 }),
  });
  const plan = fc.array(task, { minLength: 1, maxLength: 4 });
  const policies = ({ touches, alone, pool }: { touches: string[]; alone: boolean; pool: boolean }): string =>
    [
      touches.length === 0 ? "" : `touches ${[...new Set(touches)].map((path) => `"${path}"`).join(", ")}`,
      alone ? "alone" : "",
      pool ? "pool gpu" : "",
    ]
      .filter((policy) => policy !== "")
      .join(" ");

  test("all end, and no two tasks that exclude each other run together", async () => {
    await fc.assert(
      fc.asyncProperty(plan, plan, plan, fc.integer({ min: 1, max: 4 }), async (...[outer, middle, inner, slots]) => {
        const text = [outer, middle, inner]
          .map((tasks, level) => {
            const lines = tasks.map((each, index) => {
              // A command names what its task needs, so that the log of the commands can be checked.
              const own = policies(each);
              const calls = level < 2 && each.call > 0;
              const call = calls ? `p${level + 1}()` : `shell("p${level} ${own.replaceAll('"', "'")}")`;
              const after = each.after && index > 0 ? ` after t${index - 1}` : "";
              return `  task t${index} = ${call}${after} { ${own} }`.replace(" {  }", "");
            });
            return `plan p${level} {\n  max parallel ${level === 0 ? slots : 4}\n  pool gpu 1\n${lines.join("\n")}\n}`;
          })
          .join("\n");
        const { run, together } = textRunner(text);
        expect(await run(), text).toMatchObject(clean);
        for (const commands of together) {
          expect(commands.length, text).toBeLessThanOrEqual(slots);
          if (commands.some((each) => each.includes("alone"))) expect(commands, text).toHaveLength(1);
          const used = commands.map((each) => [...each.matchAll(/'([^']+)'/g)].map(([, path = ""]) => path));
          const pools = commands.filter((each) => each.includes("pool")).map((each) => each.slice(0, 2));
          expect(new Set(pools).size, text).toBe(pools.length);
          for (const [index, paths] of used.entries())
            for (const others of used.slice(index + 1))
              for (const path of paths)
                for (const other of others)
                  expect(path === other || path.startsWith(`${other}/`) || other.startsWith(`${path}/`), text).toBe(
                    false,
                  );
        }
      }),
      { numRuns: numRuns(600), seed: 92 },
    );
  });
});
