/** Execution, 2.8, 6.2 and 7.2: limits and tries of called graphs over resumes. */
import { describe, expect, test } from "vitest";
import { createPlanRunner, type NodeContext } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { planTable } from "../plan/compile-plan.ts";
import { engineOf } from "../support/graph.ts";

describe("2.8, 7.2: a called graph that has reached its own limit", () => {
  const LOOP = `graph child { output n: int = 0  limit steps 3  node more = more(n) into n
      start -> more  more -> more when n < 5  more -> end otherwise }
    graph parent { output n: int = 0  limit steps 10  node call = child() into { n }  start -> call }
    graph outer { output n: int = 0  node inner = parent() into { n }  start -> inner }`;

  const start = async () => {
    const ran: number[] = [];
    const more = (n: number): number => {
      ran.push(n);
      return n + 1;
    };
    const engine = engineOf(LOOP, { more }, { store: new MemoryStore() });
    const first = await engine.run({}, { thread: "t" });
    expect(first).toMatchObject({ status: "failed", error: { code: "NG_NODE_FAILED" } });
    expect(first.error?.message).toContain("maxSteps: { child: … }");
    expect(ran).toEqual([0, 1, 2]);
    return { engine, ran };
  };

  test("fails its caller, and a resume with the same limit fails again without running anything", async () => {
    const { engine, ran } = await start();
    expect(await engine.resume("t")).toMatchObject({ status: "failed" });
    expect(await engine.resume("t", { maxSteps: 3 })).toMatchObject({ status: "failed" });
    expect(ran).toEqual([0, 1, 2]);
  });

  test.each([{ maxSteps: 20 }, { maxSteps: null }, { maxSteps: { child: 5 } }, { maxSteps: { child: null } }])(
    "goes on inside with %j",
    async (options) => {
      const { engine, ran } = await start();
      expect(await engine.resume("t", options)).toMatchObject({ status: "completed", output: { n: 5 } });
      expect(ran).toEqual([0, 1, 2, 3, 4]);
    },
  );

  test("a limit that is still too low stops it again at the same step", async () => {
    const { engine, ran } = await start();
    expect(await engine.resume("t", { maxSteps: 4 })).toMatchObject({ status: "failed" });
    expect(ran).toEqual([0, 1, 2, 3]);
    expect(await engine.resume("t", { maxSteps: 5 })).toMatchObject({ status: "completed" });
  });

  test("a number is for a graph that has stopped at its limit, and no other", async () => {
    const engine = engineOf(
      `graph child { output n: int = 0  limit steps 3  node ask = wait() into n  node more = n + 1 into n
         start -> ask -> more  more -> more when n < 9  more -> end otherwise }
       graph parent { output n: int = 0  node call = child() into { n }  start -> call }`,
      { wait: (context: NodeContext) => context.interrupt() },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    expect(await engine.resume("t", { answer: 1, maxSteps: 50 })).toMatchObject({ status: "failed" });
    expect(await engine.resume("t", { maxSteps: 50 })).toMatchObject({ status: "completed", output: { n: 9 } });
  });

  test("a run may name the limits of the graphs it calls, its own too", async () => {
    const more = (n: number): number => n + 1;
    const engine = engineOf(LOOP, { more }, { maxSteps: { child: 4 } });
    expect(await engine.run({})).toMatchObject({ status: "failed" });
    expect(await engine.run({}, { maxSteps: { child: 5 } })).toMatchObject({ status: "completed", output: { n: 5 } });
    expect(await engine.run({}, { maxSteps: { child: 5, outer: 0 } })).toMatchObject({ status: "limit" });
    await expect(engine.run({}, { maxSteps: { kid: 5 } })).rejects.toMatchObject({
      code: "NG_BAD_INPUT",
      message: "`maxSteps` names `kid`, which is not a graph of this run; its graphs are `outer`, `parent`, `child`",
    });
    await expect(engine.run({}, { maxSteps: { child: -1 } })).rejects.toThrow("`maxSteps.child` is a whole number");
  });

  test("items of a `for` have their own, each raised by the resume", async () => {
    const engine = engineOf(
      `graph child { input n: int  output m: int = 0  limit steps 2  node more = m + 1 into m
         start -> more  more -> more when m < n  more -> end otherwise }
       graph parent { output all: int[] = []  node call = child(n: i) for i in [1, 3, 2, 4] into { m: all }  start -> call }`,
      {},
      { store: new MemoryStore() },
    );
    expect(await engine.run({}, { thread: "t" })).toMatchObject({ status: "failed", error: { items: [1, 3] } });
    expect(await engine.resume("t", { maxSteps: 3 })).toMatchObject({ status: "failed", error: { items: [3] } });
    expect(await engine.resume("t", { maxSteps: 4 })).toMatchObject({ output: { all: [1, 3, 2, 4] } });
  });

  test("called by a task of a plan", async () => {
    const table = planTable(`graph child { output n: int = 0  limit steps 3  node more = n + 1 into n
        start -> more  more -> more when n < 5  more -> end otherwise }
      plan p { output n: int = 0  task call = child() into { n } { tries 1 } }`);
    const runner = createPlanRunner(table, { store: new MemoryStore() });
    await expect(runner.run({}, { maxSteps: 5 })).rejects.toMatchObject({ code: "NG_BAD_INPUT" });
    expect(await runner.run({}, { thread: "a", maxSteps: { child: 5 } })).toMatchObject({ outcome: "clean" });
    expect(await runner.run({}, { thread: "t" })).toMatchObject({ outcome: "catastrophic" });
    expect(await runner.resume("t")).toMatchObject({ outcome: "catastrophic" });
    expect(await runner.resume("t", { maxSteps: 5 })).toMatchObject({ outcome: "clean", output: { n: 5 } });
  });
});

describe("6.2, 7.2: a further try of a called graph", () => {
  test("starts all nested calls again, and pauses again", async () => {
    const ran: string[] = [];
    const keys = new Set<string>();
    const engine = engineOf(
      `graph inner { output n: int = 0  node a = work("a") into n  start -> a }
       graph child { output n: int = 0  node call = inner() into { n }  node check = check() into n { pause before }
         node broken = work("broken") into n  start -> call -> check -> broken }
       graph parent { output n: int = 0  node call = child() into { n } { tries 2 backoff 1ms..1ms }  start -> call }`,
      {
        check: (context: NodeContext) => context.interrupt("good?"),
        work: (name: string, context: NodeContext) => {
          ran.push(name);
          keys.add(`${name} ${context.idempotencyKey}`);
          if (name === "broken" && ran.length < 4) throw new Error("no");
          return ran.length;
        },
      },
      { store: new MemoryStore() },
    );
    const seen: string[] = [];
    let result = await engine.run({}, { thread: "t" });
    while (result.status === "paused" && seen.length < 9) {
      const [pause] = result.pauses;
      seen.push(`${pause?.kind} ${pause?.id.replace(/\.[^.]*$/, "")}`);
      result = await engine.resume("t", pause?.kind === "before" ? { answers: { [pause.id]: true } } : { answer: 1 });
    }
    expect(result).toMatchObject({ status: "completed", output: { n: 4 } });
    // Approvals of the first try do not apply to the second. Keys are equal on every re-execution (5.5).
    expect(seen).toEqual([
      "before call@0/before:check@1",
      "interrupt call@0/check@1",
      "before call@0.2/before:check@1",
      "interrupt call@0.2/check@1",
    ]);
    expect(ran).toEqual(["a", "broken", "a", "broken"]);
    expect(keys.size).toBe(2);
  });

  test("a resume after the last try starts with all tries again, and pauses with new ids", async () => {
    let fails = 3;
    const engine = engineOf(
      `graph child { output n: int = 0  node ask = wait() into n  node broken = broken() into n  start -> ask -> broken }
       graph parent { output n: int = 0  node call = child() into { n } { tries 2 backoff 1ms..1ms }  start -> call }`,
      {
        wait: (context: NodeContext) => context.interrupt(),
        broken: () => {
          if (fails-- > 0) throw new Error("no");
          return 7;
        },
      },
      { store: new MemoryStore() },
    );
    const ids = new Set<string>();
    let result = await engine.run({}, { thread: "t" });
    let failures = 0;
    for (let left = 10; left > 0 && result.status !== "completed"; left--) {
      for (const { id } of result.pauses) {
        expect(ids.has(id)).toBe(false);
        ids.add(id);
      }
      if (result.status === "failed") failures++;
      result = await engine.resume("t", result.status === "paused" ? { answer: 1 } : {});
    }
    expect(result).toMatchObject({ status: "completed", output: { n: 7 } });
    expect([failures, ids.size]).toEqual([1, 3]);
  });

  test("of a plan called as a task counts over pauses too", async () => {
    const ran: string[] = [];
    const table = planTable(
      `import { work, wait } from "./nodes.ts"
      plan outer { output n: int = 0  task call = inner() into { n } { tries 2 backoff 0s } }
      plan inner { output n: int = 0  task a = work("a") into n { tries 1 }  task q = wait() after a { tries 1 }
        task broken = work("broken") after q { tries 1 } }
      `,
      undefined,
      { "nodes.ts": "export const work = (n: string): number => 1; export const wait = (): void => {};" },
    );
    const runner = createPlanRunner(table, {
      functions: {
        work: (name: string) => {
          ran.push(name);
          if (name === "broken") throw new Error("no");
          return 1;
        },
        wait: (context: NodeContext) => void context.interrupt(),
      },
      store: new MemoryStore(),
    });
    let result = await runner.run({}, { thread: "t" });
    let rounds = 0;
    while (result.status === "paused" && rounds++ < 9) result = await runner.resume("t", { answer: 1 });
    expect(result).toMatchObject({ outcome: "catastrophic", tasks: [{ id: "call", status: "failed", attempts: 2 }] });
    expect(ran).toEqual(["a", "broken", "a", "broken"]);
    expect(rounds).toBe(2);
  });
});
