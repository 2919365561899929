/** Execution, rule 2.10: the part of a graph that `finally` leads to. */
import { describe, expect, test } from "vitest";
import { MemoryStore, type NodeContext, type RunEvent } from "../../runtime/index.ts";
import type { Claim, SaveRequest } from "../../runtime/interface/store.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { engineOf } from "../support/graph.ts";

const CLEANUP = `graph g { input job: string  output report: string | null  state room: string | null
  node book = reserve(job) into room
  node cleanup = tidy(room, outcome.status, outcome.error?.message ?? "none") into report
  start -> book -> end
  finally -> cleanup -> end }`;

/** The functions of `CLEANUP`, with their calls. */
function functionsOf(reserve: (job: string) => unknown = () => "r1") {
  const calls: unknown[][] = [];
  const tidy = (...args: unknown[]): string => {
    calls.push(args.slice(0, 3));
    return `${String(args[1])}: ${String(args[2])}`;
  };
  return { calls, functions: { reserve, tidy } };
}

describe("finally", () => {
  test("2.10: runs once after the run has completed, on a copy of the last state", async () => {
    const { calls, functions } = functionsOf();
    const result = await engineOf(CLEANUP, functions).run({ job: "j" });
    expect(result).toMatchObject({
      status: "completed",
      steps: [["book"]],
      output: { report: "completed: none" },
      error: null,
      outcome: { status: "completed", error: null },
      finally: { status: "completed", error: null, steps: [["cleanup"]] },
    });
    expect(calls).toEqual([["r1", "completed", "none"]]);
  });

  test("2.10: runs after a failure, with the failure in `outcome`; a resume drops what it wrote, and runs it again", async () => {
    let isDown = true;
    const { calls, functions } = functionsOf(() => {
      if (isDown) throw Object.assign(new TypeError("no rooms"), { status: 503 });
      return "r2";
    });
    const store = new MemoryStore();
    const engine = engineOf(CLEANUP, functions, { store });
    const failed = await engine.run({ job: "j" }, { thread: "t" });
    expect(failed).toMatchObject({
      status: "failed",
      output: { report: expect.stringMatching(/^failed: .*no rooms/) as string },
      outcome: {
        status: "failed",
        error: { code: "NG_NODE_FAILED", name: "TypeError", status: 503, node: "book", attempts: 1 },
      },
    });
    expect(await engine.state("t")).toMatchObject({ status: "failed", state: failed.state });
    isDown = false;
    const resumed = await engine.resume("t");
    expect(resumed).toMatchObject({ status: "completed", output: { report: "completed: none" } });
    expect(calls).toHaveLength(2);
    expect(calls[1]).toEqual(["r2", "completed", "none"]);
  });

  test("2.10: the keys of its tasks count the ends of the run", async () => {
    const keys: string[] = [];
    let isDown = true;
    const engine = engineOf(
      `graph g { output report: string | null
        node work = risky() into report
        node cleanup = tidy() into report
        start -> work -> end
        finally -> cleanup }`,
      {
        risky: () => {
          if (isDown) throw new Error("no");
          return "done";
        },
        tidy: (context: { idempotencyKey: string }) => {
          keys.push(context.idempotencyKey);
          return "tidy";
        },
      },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    isDown = false;
    await engine.resume("t");
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(2);
  });

  test.each([
    ["incomplete", "start -> a  all(a, b) -> c  a -> b when n > 5  a -> end otherwise", {}],
    ["limit", "limit steps 1  start -> a -> b -> c", {}],
  ])("2.10: runs after a run that is %s", async (status, body) => {
    const engine = engineOf(`graph g { output report: string | null  output n: int reduce sum
      node a = 1 into n  node b = 1 into n  node c = 1 into n
      node cleanup = outcome.status into report
      ${body}
      finally -> cleanup }`);
    expect(await engine.run({})).toMatchObject({ output: { report: status }, outcome: { status } });
  });

  test("2.10: runs after a cancellation, under a fresh signal", async () => {
    const controller = new AbortController();
    const aborted: boolean[] = [];
    const engine = engineOf(
      CLEANUP,
      {
        reserve: () => {
          controller.abort();
          return new Promise(() => undefined);
        },
        tidy: (_room: unknown, status: string, _message: string, context: { signal: AbortSignal }) => {
          aborted.push(context.signal.aborted);
          return status;
        },
      },
      { store: new MemoryStore() },
    );
    const result = await engine.run({ job: "j" }, { thread: "t", signal: controller.signal });
    expect(result).toMatchObject({ status: "cancelled", output: { report: "cancelled" } });
    expect(aborted).toEqual([false]);
    expect((await engine.state("t"))?.status).toBe("cancelled");
  });

  test("2.10: its own failure is reported beside the outcome", async () => {
    const engine = engineOf(CLEANUP, {
      reserve: () => "r1",
      tidy: () => {
        throw new Error("no broom");
      },
    });
    const result = await engine.run({ job: "j" });
    expect(result).toMatchObject({ status: "completed", error: null, finally: { status: "failed" } });
    expect(result.finally?.error?.message).toContain("no broom");
    expect(result.output).toEqual({ report: null });
  });

  test("2.10: a pause in it pauses the thread; the answer continues it, and ends the run with its outcome", async () => {
    const store = new MemoryStore();
    const engine = engineOf(
      `graph g { output report: string | null  node work = fail("broken")
        node approve = ask("sign off?") into report
        start -> work  finally -> approve }`,
      {},
      { store },
    );
    const paused = await engine.run({}, { thread: "t" });
    expect(paused).toMatchObject({
      status: "paused",
      outcome: { status: "failed", error: { node: "work" } },
      pauses: [{ node: "approve", namespace: ["finally"] }],
    });
    await expect(engine.run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_THREAD_BUSY" });
    expect(await engine.resume("t")).toMatchObject({ status: "paused" });
    const ended = await engine.resume("t", { answers: { [paused.pauses[0]!.id]: "yes" } });
    expect(ended).toMatchObject({
      status: "failed",
      error: { code: "NG_NODE_FAILED", nodeId: "work" },
      output: { report: "yes" },
      finally: { status: "completed" },
    });
    expect((await engine.state("t"))?.status).toBe("failed");
  });

  test("2.10: the `finally` part of a called graph ends before the call returns", async () => {
    const log: string[] = [];
    const note = (text: string): string => {
      log.push(text);
      return text;
    };
    const engine = engineOf(
      `graph inner { output made: string | null
        node make = note("make") into made  node tidy = note("tidy " + outcome.status) into made
        start -> make -> end  finally -> tidy }
      graph outer { output made: string | null
        node call = inner() into { made }  node after = note("after " + (made ?? "nothing")) into made
        start -> call -> after -> end }`,
      { note },
      { store: new MemoryStore() },
    );
    await engine.run({}, { thread: "t" });
    expect(log).toEqual(["make", "tidy completed", "after tidy completed"]);
  });

  test("2.10: `memory` that it writes carries over to the next run", async () => {
    const engine = engineOf(
      `graph g { memory log: string[] reduce append  output count: int | null
        node work = len(log) into count  node note = outcome.status into log
        start -> work -> end  finally -> note }`,
      {},
      { store: new MemoryStore() },
    );
    const counts: unknown[] = [];
    for (let run = 0; run < 3; run++) counts.push((await engine.run({}, { thread: "t" })).output["count"]);
    expect(counts).toEqual([0, 1, 2]);
  });

  test("8.1: its events have the namespace `finally`, between an event for its start and one for its end", async () => {
    const events: RunEvent[] = [];
    const { functions } = functionsOf();
    await engineOf(CLEANUP, functions).run({ job: "j" }, { onEvent: (event) => events.push(event) });
    const shown = events
      .filter(({ type }) => type === "finally" || type === "node" || type === "run")
      .map((event) => [event.namespace.join("/"), event.type, (event as { phase?: string }).phase]);
    expect(shown).toEqual([
      ["", "run", "start"],
      ["", "node", "start"],
      ["", "node", "end"],
      ["finally", "finally", "start"],
      ["finally", "node", "start"],
      ["finally", "node", "end"],
      ["finally", "finally", "end"],
      ["", "run", "end"],
    ]);
  });

  test("5.9: a fork at a node continues without what the `finally` part has written", async () => {
    const { functions } = functionsOf();
    const engine = engineOf(CLEANUP, functions, { store: new MemoryStore() });
    const first = await engine.run({ job: "j" }, { thread: "t" });
    await engine.fork("t", { from: first.checkpointId!, as: "copy", at: "book" });
    expect((await engine.state("copy"))?.state).toMatchObject({ report: null });
    expect(await engine.resume("copy")).toMatchObject({ status: "completed", output: { report: "completed: none" } });
  });

  test("5.9: an edit of a completed run is based on what its `finally` part has written", async () => {
    const { functions } = functionsOf();
    const engine = engineOf(CLEANUP, functions, { store: new MemoryStore() });
    await engine.run({ job: "j" }, { thread: "t" });
    await engine.update("t", { room: "r9" });
    expect((await engine.state("t"))?.state).toMatchObject({ room: "r9", report: "completed: none" });
    await engine.update("t", { report: "edited" });
    expect((await engine.state("t"))?.state).toMatchObject({ report: "edited" });
  });
});

describe("5.2 to 5.5: a process that dies in the `finally` part", () => {
  const GRAPH = `graph child { output made: string[] reduce append
      node make = work("make") into made  node sweep = work("sweep " + outcome.status) into made
      start -> make  finally -> sweep }
    graph g { output log: string[] reduce append  output made: string[] = []
      node call = child() into { made }  node last = work("last") into log
      node one = work("one " + outcome.status) into log  node two = work("two") into log  node three = work("three") into log
      start -> call -> last  finally -> one, two  all(one, two) -> three }`;

  test.each(["before", "after"] as const)("continues it, %s each write", async (when) => {
    let expected: unknown;
    let writes = Infinity;
    for (let left = -1; left < writes; left++) {
      let now = 0;
      const disk = new MemoryStore({ now: () => now });
      const ran = new Map<string, string[]>();
      const build = (store: MemoryStore | CrashingStore) =>
        engineOf(
          GRAPH,
          {
            work: (task: string, { idempotencyKey }: NodeContext) => {
              ran.set(task, [...(ran.get(task) ?? []), idempotencyKey]);
              return task;
            },
          },
          { store, leaseMs: 1000 },
        );
      const dying = new CrashingStore(disk, left === -1 ? Infinity : left, when);
      await build(dying)
        .run({}, { thread: "t" })
        .catch(() => undefined);
      now += 5000;
      const engine = build(disk);
      const head = disk.loadLatest("t");
      if (head === undefined) await engine.run({}, { thread: "t" });
      else if (head.status !== "completed") await engine.resume("t");
      const { status, state } = (await engine.state("t"))!;
      const end = { status, state, tasks: [...ran.keys()].sort() };
      if (left === -1) {
        expected = end;
        writes = dying.log.length;
        expect(state).toEqual({
          log: ["last", "one completed", "two", "three"],
          made: ["make", "sweep completed"],
        });
        continue;
      }
      expect(end).toEqual(expected);
      // A task runs again at most once, under the same key.
      for (const keys of ran.values()) {
        expect(keys.length).toBeLessThanOrEqual(2);
        expect(head === undefined ? 1 : new Set(keys).size).toBe(1);
      }
    }
    expect(writes).toBeGreaterThan(10);
  });

  test.each(["sync", "async", "exit"] as const)(
    "%s: a drain stops it at its next step, and a resume continues it",
    async (durability) => {
      const store = new MemoryStore();
      const log: string[] = [];
      const build = () =>
        engineOf(
          `graph g { output log: string[] reduce append
          node work = note("work") into log  node one = note("one") into log  node two = note("two") into log
          start -> work  finally -> one -> two }`,
          {
            note: (text: string) => {
              log.push(text);
              if (text === "one") void first.drain();
              return text;
            },
          },
          { store, durability },
        );
      const first = build();
      const drained = await first.run({}, { thread: "t" });
      expect(drained).toMatchObject({ status: "cancelled", error: { code: "NG_DRAINED" } });
      const { results } = await build().recover();
      expect(results).toMatchObject([{ status: "completed", output: { log: ["work", "one", "two"] } }]);
      expect(log).toEqual(["work", "one", "two"]);
    },
  );

  test("the part of an end that was lost with its process is not that of the next end", async () => {
    let isDown = true;
    class LossyStore extends MemoryStore {
      override save(claim: Claim, request: SaveRequest): void {
        // The end of the run follows that of its part.
        if (isDown && request.header.namespace === "" && request.header.phase !== "input") throw new Error("lost");
        super.save(claim, request);
      }
    }
    const store = new LossyStore();
    const fail = (text: string): string => {
      if (isDown) throw new Error("down");
      return text;
    };
    const build = () =>
      engineOf(
        `graph g { output done: string = ""  output log: string[] = [] reduce append
          node work = fail("work") into done  node tidy = fail("tidy") into log  start -> work  finally -> tidy }`,
        { fail },
        { store, durability: "exit" },
      );
    await expect(build().run({}, { thread: "t" })).rejects.toMatchObject({ code: "NG_STORE_FAILED" });
    isDown = false;
    expect(await build().resume("t")).toMatchObject({ status: "completed", output: { done: "work", log: ["tidy"] } });
  });

  test("an interrupted part returns the error of the run again", async () => {
    let now = 0;
    const disk = new MemoryStore({ now: () => now });
    const build = (store: MemoryStore | CrashingStore) =>
      engineOf(
        `graph g { output report: string | null  node work = broken() into report
          node tidy = outcome.error?.message ?? "" into report  start -> work  finally -> tidy }`,
        {
          broken: () => {
            throw new Error("no");
          },
        },
        { store, leaseMs: 1000 },
      );
    // The input, and the end of the run.
    await build(new CrashingStore(disk, 2, "before"))
      .run({}, { thread: "t" })
      .catch(() => undefined);
    expect(disk.loadLatest("t")).toMatchObject({ status: "running", outcome: { status: "failed" } });
    now += 5000;
    const result = await build(disk).resume("t");
    expect(result).toMatchObject({
      status: "failed",
      error: { name: "NodeError", code: "NG_NODE_FAILED", nodeId: "work" },
      outcome: { status: "failed", error: { node: "work" } },
      finally: { status: "completed" },
    });
  });
});
