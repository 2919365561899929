/**
 * NeoGraph's scheduler (cases C1 - C22 of its test suite). Where this project differs on purpose, the test asserts
 * its behaviour and `docs/deviations.md` has the reason.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NodeError } from "../../runtime/interface/errors.ts";
import { createScheduler, type NodeRouting, type Scheduler } from "../../runtime/routing/scheduler.ts";
import { tableOf } from "../support/graph.ts";
import { numRuns } from "../support/depth.ts";

function schedulerOf(edges: string): Scheduler {
  const names = new Set(edges.match(/[A-Za-z_]\w*/g));
  for (const word of ["start", "end", "all", "any", "match", "else", "mode", "when", "otherwise"]) names.delete(word);
  const quoted = new Set([...edges.matchAll(/"(\w+)"/g)].map((match) => match[1]!));
  const nodes = [...names].filter((name) => !quoted.has(name));
  const declared = nodes.map((name) => `node ${name} = 1`).join("\n");
  const start = edges.includes("start ->") ? "" : `start -> ${nodes[0]}`;
  return createScheduler(tableOf(`graph g { state mode: string = "fast"\n${declared}\n${start}\n${edges} }`));
}

describe("following edges", () => {
  test("C1: plain edges lead to their targets in declaration order", () => {
    expect(schedulerOf("a -> b  a -> c  x -> y").resolveNextNodes("a")).toEqual(["b", "c"]);
  });

  test("C2: a node without edges leads to the end", () => {
    expect(schedulerOf("a -> b  orphan -> end").resolveNextNodes("b")).toEqual(["end"]);
  });

  const choice = `decider -> match mode { "fast" -> quick_path  "slow" -> careful_path }`;
  test.each([
    ["fast", "quick_path"],
    ["slow", "careful_path"],
  ])("C3: the state %s chooses %s", (mode, target) => {
    expect(schedulerOf(choice).resolveNextNodes("decider", { mode })).toEqual([target]);
  });

  test("C4: a value outside the arms takes `else`", () => {
    const scheduler = schedulerOf(`decider -> match mode { "fast" -> quick_path  else -> fallback }`);
    expect(scheduler.resolveNextNodes("decider", { mode: "nonsense" })).toEqual(["fallback"]);
  });

  test("C5: without `else` the error names the node, the condition, the value and the default that is missing", () => {
    const resolve = (): unknown => schedulerOf(choice).resolveNextNodes("decider", { mode: "nonsense" });
    expect(resolve).toThrow(NodeError);
    expect(resolve).toThrow(/decider.*mode.*nonsense.*default/);
  });

  test("C6: an arm called `default` matches the value `default`, it is not a fallback", () => {
    const scheduler = schedulerOf(`decider -> match mode { "fast" -> quick_path  "default" -> t }`);
    expect(() => scheduler.resolveNextNodes("decider", { mode: "nonsense" })).toThrow(/nonsense/);
  });

  test("C7: a value `default` that has an arm takes it", () => {
    const scheduler = schedulerOf(`decider -> match mode { "default" -> t }`);
    expect(scheduler.resolveNextNodes("decider", { mode: "default" })).toEqual(["t"]);
  });
});

describe("planning a step", () => {
  test("C8: the first step runs the targets of `start`, without the end", () => {
    const plan = schedulerOf("start -> a  start -> b  start -> end  a -> c").planStartStep();
    expect(plan).toMatchObject({ ready: ["a", "b"], hitEnd: true, winningGoto: null });
  });

  test("C9: a fan-out", () => {
    const plan = schedulerOf("a -> b  a -> c").planNextStep([{ node: "a" }]);
    expect(plan).toMatchObject({ ready: ["b", "c"], hitEnd: false, winningGoto: null });
  });

  test("C10: a target that two nodes signal runs once", () => {
    const plan = schedulerOf("a -> join  b -> join").planNextStep([{ node: "a" }, { node: "b" }]);
    expect(plan.ready).toEqual(["join"]);
  });

  test("C11: the end is noted and never ready", () => {
    const plan = schedulerOf("a -> b  a -> end").planNextStep([{ node: "a" }]);
    expect(plan).toMatchObject({ ready: ["b"], hitEnd: true });
  });

  test("C12: a goto takes the place of the node's edges", () => {
    const scheduler = schedulerOf("a -> wrong1, wrong2  right -> end");
    const plan = scheduler.planNextStep([{ node: "a", goto: "right", exclusive: true }]);
    expect(plan).toMatchObject({ ready: ["right"], winningGoto: "right", hitEnd: false });
    expect(scheduler.planNextStep([{ node: "a", goto: "right" }])).toMatchObject({
      ready: ["right"],
      winningGoto: null,
    });
  });

  test("C13: a goto to the end", () => {
    const plan = schedulerOf("a -> keep").planNextStep([{ node: "a", goto: "end" }]);
    expect(plan).toMatchObject({ ready: [], hitEnd: true });
  });

  test("C14: of several exclusive gotos the last in task order wins; others each replace their own edges", () => {
    const scheduler = schedulerOf("a -> first  b -> second");
    const both = (exclusive: boolean): NodeRouting[] => [
      { node: "a", goto: "first", exclusive },
      { node: "b", goto: "second", exclusive },
    ];
    expect(scheduler.planNextStep(both(true))).toMatchObject({ ready: ["second"], winningGoto: "second" });
    expect(scheduler.planNextStep(both(false)).ready).toEqual(["first", "second"]);
  });

  test("C15: a step without nodes", () => {
    expect(schedulerOf("a -> b").planNextStep([])).toMatchObject({ ready: [], hitEnd: false });
  });

  test("C16: nodes and results side by side; an empty goto follows the edges; lengths must agree", () => {
    const scheduler = schedulerOf("a -> b  right -> end");
    expect(scheduler.planNextStep(["a"], [{ goto: "right" }]).ready).toEqual(["right"]);
    expect(scheduler.planNextStep(["a"], [{ goto: "" }]).ready).toEqual(["b"]);
    expect(scheduler.planNextStep(["a"], [undefined]).ready).toEqual(["b"]);
    expect(() => scheduler.planNextStep(["a", "b"], [{}])).toThrow(RangeError);
  });
});

describe("barriers", () => {
  test("C17: signals accumulate over steps, and firing clears them", () => {
    const scheduler = schedulerOf("all(a, s2) -> join");
    const first = scheduler.planNextStep([{ node: "a" }], {}, {});
    expect(first).toMatchObject({ ready: [], barrierState: { join: ["a"] } });
    const second = scheduler.planNextStep([{ node: "s2" }], {}, first.barrierState);
    expect(second.ready).toEqual(["join"]);
    expect(Object.keys(second.barrierState)).toEqual([]);
  });

  test("C18: all members in one step", () => {
    const plan = schedulerOf("all(a, s2) -> join").planNextStep([{ node: "a" }, { node: "s2" }], {}, {});
    expect(plan.ready).toEqual(["join"]);
    expect(Object.keys(plan.barrierState)).toEqual([]);
  });

  test("C19: without barrier state a signalled target is ready", () => {
    expect(schedulerOf("all(a, s2) -> join").planNextStep([{ node: "a" }]).ready).toEqual(["join"]);
  });

  test("C20: other edges of a member are taken at once", () => {
    const plan = schedulerOf("all(a, b) -> join  a -> other").planNextStep([{ node: "a" }], {}, {});
    expect(plan).toMatchObject({ ready: ["other"], barrierState: { join: ["a"] } });
  });

  test("C21: a goto in place of a barrier's edge leaves the barriers empty", () => {
    const scheduler = schedulerOf("all(a, b) -> join  redirect -> end");
    for (const exclusive of [true, false]) {
      const plan = scheduler.planNextStep([{ node: "a", goto: "redirect", exclusive }], {}, {});
      expect(plan.ready).toEqual(["redirect"]);
      expect(Object.keys(plan.barrierState)).toEqual([]);
    }
  });

  test("3.1: each `all` is a barrier of its own, and a member may be `any` of several nodes", () => {
    const scheduler = schedulerOf("all(any(a, h), b) -> d  all(c, e) -> d");
    expect(scheduler.barrierSpecs()).toEqual([
      { id: "d", kind: "all", target: "d", members: [["a", "h"], ["b"]] },
      { id: "d#2", kind: "all", target: "d", members: [["c"], ["e"]] },
    ]);
    const plan = scheduler.planNextStep([{ node: "h" }, { node: "c" }], {}, {});
    expect(plan).toMatchObject({ ready: [], barrierState: { d: ["h"], "d#2": ["c"] } });
    expect(scheduler.planNextStep([{ node: "b" }], {}, plan.barrierState)).toMatchObject({
      ready: ["d"],
      barrierState: { "d#2": ["c"] },
    });
  });

  test("3.2: `waits` gates every signal; signals of other nodes do not count, and neither does `start`", () => {
    const scheduler = createScheduler(
      tableOf(`graph g {
        state ok: bool = true
        node a = 1  node b = 1  node x = 1  node d = 1 { waits a, b }
        start -> a, b, d   x -> d   b -> d
        a -> d when ok   a -> end otherwise
      }`),
    );
    expect(scheduler.planStartStep().ready).toEqual(["a", "b"]);
    expect(scheduler.planNextStep([{ node: "x" }], {}, {}).barrierState).toEqual({});
    expect(scheduler.planNextStep([{ node: "a" }], { ok: false }, { d: ["b"] })).toMatchObject({
      ready: [],
      hitEnd: true,
    });
    expect(scheduler.planNextStep([{ node: "a" }], { ok: true }, { d: ["b"] }).ready).toEqual(["d"]);
  });

  test("2.6: a goto into a `waits` node is its source's signal; an exclusive one runs it and leaves the barrier", () => {
    const scheduler = createScheduler(
      tableOf(`graph g {
        node a = 1  node b = 1  node d = 1 { waits a, b }
        start -> a, b   a -> end   b -> d
      }`),
    );
    expect(scheduler.planNextStep([{ node: "a", goto: "d" }], {}, {}).barrierState).toEqual({ d: ["a"] });
    expect(scheduler.planNextStep([{ node: "a", goto: "d", exclusive: true }], {}, { d: ["b"] })).toMatchObject({
      ready: ["d"],
      barrierState: { d: ["b"] },
    });
  });

  test("2.6: an exclusive goto discards all other routing but error routes", () => {
    const scheduler = createScheduler(
      tableOf(`graph g {
        node a = 1  node b = 1  node c = 1  node d = 1  node rescue = 1  node join = 1
        start -> a, b, c   a -> end   all(b, c) -> join   c -> rescue on error   any(d, rescue, join) -> end
      }`),
    );
    const plan = scheduler.planNextStep(
      [{ node: "a", goto: "d", exclusive: true }, { node: "b" }, { node: "c", error: { message: "no" } }],
      {},
      {},
    );
    expect(plan).toMatchObject({ ready: ["d", "rescue"], winningGoto: "d", barrierState: {} });
  });
});

/** A model of NeoGraph's scheduler, as simple as possible; `null` marks the end of the run. */
function model(edges: ReadonlyMap<string, readonly Edge[]>, ran: readonly Step[], order: readonly string[]): Planned {
  const ready = new Set<string>();
  let hitEnd = false;
  for (const { node, goto, mode } of ran) {
    const targets = goto === undefined ? follow(edges.get(node) ?? [], mode) : [goto];
    for (const target of targets) {
      if (target === "end") hitEnd = true;
      else ready.add(target);
    }
  }
  return { ready: order.filter((name) => ready.has(name)), hitEnd };
}

interface Edge {
  readonly to: string;
  readonly on?: string;
}
interface Step {
  readonly node: string;
  readonly goto?: string | undefined;
  readonly mode: string;
}
interface Planned {
  readonly ready: readonly string[];
  readonly hitEnd: boolean;
}

function follow(edges: readonly Edge[], mode: string): readonly string[] {
  const plain = edges.filter((edge) => edge.on === undefined).map((edge) => edge.to);
  const labelled = edges.filter((edge) => edge.on !== undefined && edge.on !== "else");
  const arm = labelled.find((edge) => edge.on === mode) ?? edges.find((edge) => edge.on === "else");
  return arm === undefined ? plain : [...plain, arm.to];
}

test("C22: on random topologies, states and gotos the plans are equal to those of the reference model", () => {
  const order = ["n0", "n1", "n2", "n3", "n4", "n5"];
  const targets = fc.constantFrom(...order, "end");
  const out = fc.record({
    plain: fc.array(targets, { maxLength: 2 }),
    match: fc.option(fc.record({ x: targets, y: targets, else: targets }), { nil: undefined }),
  });
  const topology = fc.record({
    start: fc.uniqueArray(fc.constantFrom(...order), { minLength: 1, maxLength: 3 }),
    out: fc.tuple(out, out, out, out, out, out),
    rounds: fc.array(
      fc.record({
        mode: fc.constantFrom("x", "y", "junk", ""),
        goto: fc.option(targets, { freq: 12, nil: undefined }),
      }),
      { minLength: 12, maxLength: 12 },
    ),
  });
  fc.assert(
    fc.property(topology, ({ start, out, rounds }) => {
      const edges = new Map<string, Edge[]>();
      const lines: string[] = [`start -> ${start.join(", ")}`];
      out.forEach(({ plain, match }, index) => {
        const node = order[index]!;
        const own: Edge[] = plain.map((to) => ({ to }));
        for (const { to } of own) lines.push(`${node} -> ${to}`);
        if (match !== undefined) {
          own.push({ on: "x", to: match.x }, { on: "y", to: match.y }, { on: "else", to: match.else });
          lines.push(`${node} -> match mode { "x" -> ${match.x}  "y" -> ${match.y}  else -> ${match.else} }`);
        }
        edges.set(node, own);
      });
      const nodes = order.map((name) => `node ${name} = 1`).join("\n");
      const scheduler = createScheduler(tableOf(`graph g { state mode: string = ""\n${nodes}\n${lines.join("\n")} }`));
      const first = scheduler.planStartStep();
      expect(first.ready).toEqual(order.filter((name) => start.includes(name)));
      let ready: readonly string[] = first.ready;
      for (const { mode, goto } of rounds) {
        const ran = ready.map((node, index) => ({ node, mode, goto: index === 0 ? goto : undefined }));
        const plan = scheduler.planNextStep(
          ran.map(({ node, goto }) => (goto === undefined ? { node } : { node, goto })),
          { mode },
        );
        const expected = model(edges, ran, order);
        expect({ ready: plan.ready, hitEnd: plan.hitEnd }).toEqual(expected);
        if (plan.hitEnd) return;
        ready = plan.ready;
      }
    }),
    { seed: 22, numRuns: numRuns(300) },
  );
});
