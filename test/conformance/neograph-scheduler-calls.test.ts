/**
 * More cases like those of NeoGraph's scheduler (C1 - C21): each is a call with raw arguments and its result. Invalid
 * arguments are errors.
 */
import { describe, expect, test } from "vitest";
import { createScheduler, type Scheduler, type SchedulerPlan, type Table } from "../../runtime/index.ts";
import { tableOf } from "../support/graph.ts";

/** Their declaration order differs from their order in the edges. */
const scheduler: Scheduler = createScheduler(
  tableOf(`graph g {
    state mode: "fast" | "slow" | "odd" = "fast"  state score: float = 0
    node join = 1  node d = 1  node c = 1  node b = 1  node a = 1  node loop = 1  node last = 1  node gated = 1 { waits a, d }
    start -> loop, a  start -> d when score > 5  start -> end
    a -> c  a -> b, c  a -> end
    all(a, any(b, d)) -> join  all(b, c) -> join
    b -> match mode { "fast" -> c  "slow" -> d  else -> end }
    c -> d when score > 0.5  c -> a when score > 0.9  c -> loop otherwise
    d -> gated  a -> gated
    loop -> loop when score < 3  loop -> last otherwise
    d -> last on error when error.code == "X"  d -> join on error otherwise
    any(last, gated, join) -> end
  }`),
);

const plan = (expected: Partial<SchedulerPlan>): SchedulerPlan => ({
  ready: [],
  hitEnd: false,
  winningGoto: null,
  barrierState: {},
  ...expected,
});

describe("where edges lead", () => {
  const cases: readonly (readonly [string, string, Record<string, string | number>, readonly string[]])[] = [
    ["C1: in the order of the edges, each once", "a", {}, ["c", "b", "end", "join", "gated"]],
    ["C2: a node that only leads to the end", "last", {}, ["end"]],
    ["C3: an arm beside barriers", "b", { mode: "fast" }, ["join", "c"]],
    ["C3: another arm", "b", { mode: "slow" }, ["join", "d"]],
    ["C4: `else` to the end", "b", { mode: "odd" }, ["join", "end"]],
    ["C4: `otherwise`", "c", {}, ["join", "loop"]],
    ["C3: one condition of two", "c", { score: 0.6 }, ["join", "d"]],
    ["C3: both", "c", { score: 1 }, ["join", "d", "a"]],
    ["C3: on the bound", "c", { score: 0.5 }, ["join", "loop"]],
    ["C27: to itself", "loop", { score: 2.9 }, ["loop"]],
    ["C27: out of the loop", "loop", { score: 3 }, ["last"]],
    ["C8: `start`", "start", {}, ["loop", "a", "end"]],
    ["C8: `start` under a condition", "start", { score: 6 }, ["loop", "a", "d", "end"]],
  ];
  test.each(cases)("%s", (_name, node, state, targets) => {
    const sorted = (names: readonly string[]): string[] => names.toSorted();
    expect(sorted(scheduler.resolveNextNodes(node, state))).toEqual(sorted(targets));
    expect(scheduler.resolveNextNodes(node, new Map(Object.entries(state)))).toEqual(
      scheduler.resolveNextNodes(node, state),
    );
  });

  test("C1: plain edges, in declaration order", () => {
    const other = createScheduler(
      tableOf(`graph g { node z = 1  node y = 1  node x = 1  node a = 1
        start -> a  a -> x  a -> z, y  a -> x  any(x, y, z) -> end }`),
    );
    expect(other.resolveNextNodes("a")).toEqual(["x", "z", "y"]);
    // The next nodes are in declaration order: updates are applied in this order (2.2).
    expect(other.planNextStep(["a"]).ready).toEqual(["z", "y", "x"]);
  });
});

describe("next nodes", () => {
  type Call = (own: Scheduler) => SchedulerPlan;
  const cases: readonly (readonly [string, Call, Partial<SchedulerPlan>])[] = [
    ["C8: the first step", (s) => s.planStartStep(), { ready: ["a", "loop"], hitEnd: true }],
    ["C8: with a state", (s) => s.planStartStep({ score: 9 }), { ready: ["d", "a", "loop"], hitEnd: true }],
    ["C9: names alone", (s) => s.planNextStep(["loop"], { score: 1 }, {}), { ready: ["loop"] }],
    ["C9: names and records", (s) => s.planNextStep(["loop", { node: "last" }]), { ready: ["loop"], hitEnd: true }],
    ["C10: twice the same node", (s) => s.planNextStep(["loop", "loop"]), { ready: ["loop"] }],
    [
      "C11: the end beside other targets",
      (s) => s.planNextStep([{ node: "a" }], {}, {}),
      {
        ready: ["c", "b"],
        hitEnd: true,
        barrierState: { join: ["a"], gated: ["a"] },
      },
    ],
    ["C12: a goto", (s) => s.planNextStep([{ node: "a", goto: "d" }], {}, {}), { ready: ["d"] }],
    ["C12: to several", (s) => s.planNextStep([{ node: "a", goto: ["loop", "d"] }]), { ready: ["d", "loop"] }],
    ["C12: to itself", (s) => s.planNextStep([{ node: "a", goto: "a" }]), { ready: ["a"] }],
    ["C13: to the end", (s) => s.planNextStep([{ node: "a", goto: "end" }], {}, {}), { hitEnd: true }],
    [
      "C13: exclusive, to the end: the edges of the sibling are discarded",
      (s) => s.planNextStep([{ node: "b" }, { node: "a", goto: "end", exclusive: true }], {}, {}),
      { hitEnd: true, winningGoto: "end" },
    ],
    [
      "C14: the last exclusive one of three wins",
      (s) =>
        s.planNextStep(
          ["a", "b", "c"],
          [
            { goto: "loop", exclusive: true },
            { goto: "last", exclusive: true },
            { goto: "d", exclusive: false },
          ],
        ),
      { ready: ["last"], winningGoto: "last" },
    ],
    ["C15: nothing ran", (s) => s.planNextStep([]), {}],
    ["C15: nothing ran, side by side", (s) => s.planNextStep([], [], {}, {}), {}],
    [
      "C15: no node ran: the barrier state is kept, even when it is full",
      (s) => s.planNextStep([], {}, { join: ["a", "d"] }),
      { barrierState: { join: ["a", "d"] } },
    ],
    ["C16: nothing asked", (s) => s.planNextStep(["loop"], [null]), { ready: ["loop"] }],
    ["C16: an empty list of targets", (s) => s.planNextStep(["loop"], [{ goto: [] }]), { ready: ["loop"] }],
    [
      "C16: an empty target is not exclusive either",
      (s) => s.planNextStep(["loop"], [{ goto: "", exclusive: true }]),
      { ready: ["loop"] },
    ],
    [
      "C16: updates and sends of a result do not route",
      (s) => s.planNextStep(["loop"], [{ updates: [["score", 1]], sends: [{ node: "a", item: 1 }] } as object]),
      { ready: ["loop"] },
    ],
    ["2.6: `stop` ends the branch", (s) => s.planNextStep([{ node: "a", stop: true }], {}, {}), {}],
    [
      "2.6: `stop` of one leaves the others",
      (s) => s.planNextStep(["a", "loop"], [{ stop: true }, {}], {}, {}),
      { ready: ["loop"] },
    ],
    [
      "C17: a member of two barriers",
      (s) => s.planNextStep(["b"], { mode: "odd" }, {}),
      {
        hitEnd: true,
        barrierState: { join: ["b"], "join#2": ["b"] },
      },
    ],
    [
      "C17: state as a map of sets",
      (s) => s.planNextStep(["c"], { score: 0.6 }, new Map([["join#2", new Set(["b"])]])),
      { ready: ["join", "d"] },
    ],
    [
      "C17: state as a record of lists; one fires, the other stays",
      (s) => s.planNextStep(["c"], { score: 0.6 }, { "join#2": ["b"], join: ["b"], gated: [] }),
      { ready: ["join", "d"], barrierState: { join: ["b"] } },
    ],
    [
      "C18: all in one step",
      (s) => s.planNextStep(["a", "d"], {}, {}),
      { ready: ["join", "c", "b", "gated"], hitEnd: true },
    ],
    [
      "C18: the second signal of a member changes nothing",
      (s) => s.planNextStep(["b"], { mode: "odd" }, { join: ["d"] }),
      { hitEnd: true, barrierState: { join: ["b", "d"], "join#2": ["b"] } },
    ],
    ["C19: without barrier state", (s) => s.planNextStep(["d"]), { ready: ["join", "gated"] }],
    ["C19: `null` is none", (s) => s.planNextStep(["d"], {}, null as never), { ready: ["join", "gated"] }],
    [
      "C20: a conditional edge of a member",
      (s) => s.planNextStep(["b"], { mode: "slow" }, {}),
      {
        ready: ["d"],
        barrierState: { join: ["b"], "join#2": ["b"] },
      },
    ],
    [
      "C21: a jump past a barrier",
      (s) => s.planNextStep(["a", "d"], [{ goto: "last" }, {}], {}, {}),
      {
        ready: ["last"],
        barrierState: { join: ["d"], gated: ["d"] },
      },
    ],
    [
      "4.3: a failed node follows its error edges",
      (s) => s.planNextStep([{ node: "d", error: { code: "X" } }], {}, {}),
      { ready: ["last"] },
    ],
    ["4.3: the other one", (s) => s.planNextStep([{ node: "d", error: { code: "Y" } }], {}, {}), { ready: ["join"] }],
  ];
  test.each(cases)("%s", (_name, call, expected) => {
    const given = call(scheduler);
    expect(given).toStrictEqual(plan(expected));
    expect(JSON.parse(JSON.stringify(given))).toEqual(given);
    expect(call(scheduler)).toEqual(given);
  });

  test("C17: arguments are not changed, and a result can be an argument again, as JSON too", () => {
    const held = Object.freeze({ join: Object.freeze(["b"]) });
    const first = scheduler.planNextStep(
      Object.freeze([Object.freeze({ node: "loop" })]),
      Object.freeze({ score: 0 }),
      held,
    );
    expect(first.barrierState).toEqual({ join: ["b"] });
    const again = JSON.parse(JSON.stringify(first.barrierState)) as typeof first.barrierState;
    expect(scheduler.planNextStep(["a"], {}, again)).toMatchObject({ barrierState: { gated: ["a"] } });
    expect(held).toEqual({ join: ["b"] });
  });

  test("a barrier and its member may be called `__proto__`", () => {
    const own = createScheduler(
      tableOf(`graph g { node a = 1  node b = 1  node __proto__ = 1
        start -> a, b  all(a, b) -> __proto__  __proto__ -> end }`),
    );
    const { barrierState } = own.planNextStep(["a"], {}, {});
    expect(JSON.stringify(barrierState)).toBe('{"__proto__":["a"]}');
    expect(own.planNextStep(["b"], {}, JSON.parse(JSON.stringify(barrierState)) as typeof barrierState).ready).toEqual([
      "__proto__",
    ]);
  });
});

describe("invalid arguments are errors", () => {
  const cases: readonly (readonly [string, (own: Scheduler) => unknown, RegExp])[] = [
    ["an unknown node", (s) => s.resolveNextNodes("lop"), /unknown node `lop`.*`loop`/],
    ["the end has no edges", (s) => s.resolveNextNodes("end"), /unknown node `end`/],
    ["an unknown channel", (s) => s.planStartStep({ mod: "fast" }), /unknown channel `mod`.*`mode`/],
    ["a state in a list", (s) => s.planStartStep([] as never), /the state is a record.*found a list/],
    ["what ran, as one name", (s) => s.planNextStep("a" as never), /what ran is a list.*found "a"/],
    ["nothing given", (s) => (s.planNextStep as () => unknown)(), /what ran is a list.*found nothing/],
    ["what ran, without its name", (s) => s.planNextStep([{ goto: "a" } as never]), /entry 0 .* has no node name/],
    ["what ran, as pairs", (s) => s.planNextStep([["a", "b"]] as never), /entry 0 .* found a list/],
    ["an unknown node that ran", (s) => s.planNextStep(["a", "x"]), /unknown node `x`/],
    ["a result that is a name", (s) => s.planNextStep(["a"], ["b"] as never), /node `a` .*record.*found "b"/],
    ["a goto to nowhere", (s) => s.planNextStep([{ node: "a", goto: "x" }]), /unknown node `x`/],
    ["a goto to `start`", (s) => s.planNextStep([{ node: "a", goto: "start" }]), /unknown node `start`/],
    [
      "a goto that is a number",
      (s) => s.planNextStep([{ node: "a", goto: 1 as never }]),
      /`goto` of node `a`.*found 1/,
    ],
    [
      "an `exclusive` that is a string",
      (s) => s.planNextStep([{ node: "a", goto: "b", exclusive: "no" as never }]),
      /`exclusive` of node `a` is true or false/,
    ],
    ["an unknown barrier", (s) => s.planNextStep([], {}, { jon: [] }), /unknown barrier `jon`.*`join`/],
    ["the barrier of an unknown node", (s) => s.planNextStep([], {}, { join: ["x"] }), /unknown node `x`/],
    [
      "no member",
      (s) => s.planNextStep([], {}, { join: ["c"] }),
      /`c` is not a member of barrier `join`.*`d`, `b`, `a`/,
    ],
    ["who signalled, as a text", (s) => s.planNextStep([], {}, { join: "a" as never }), /barrier `join` is a list/],
    ["barrier state in a list", (s) => s.planNextStep([], {}, [["join", ["a"]]] as never), /barrier state is a record/],
  ];
  test.each(cases)("%s", (_name, call, message) => {
    expect(() => call(scheduler)).toThrow(
      expect.objectContaining({ code: "NG_BAD_INPUT", message: expect.stringMatching(message) as string }) as Error,
    );
  });

  test.each([
    [["a"], []],
    [[], [{}]],
    [["a", "b"], [null]],
  ])("C16: %j beside %j", (ran, results) => {
    expect(() => scheduler.planNextStep(ran, results)).toThrow(RangeError);
  });

  test("C5: a failed node without an error edge, and a value that no arm names", () => {
    expect(() => scheduler.planNextStep([{ node: "a", error: { message: "no" } }])).toThrow(/`a` has no next node/);
    const own = createScheduler(
      tableOf(
        `graph g { state n: int = 0  node a = 1  node b = 1  start -> match n { 1 -> a }  a -> match n { 2 -> b  3 -> end }  b -> end }`,
      ),
    );
    expect(() => own.planStartStep()).toThrow(/`start`.*`n` is 0.*1.*default/);
    expect(() => own.resolveNextNodes("start", { n: 5 })).toThrow(/`n` is 5/);
    expect(() => own.resolveNextNodes("a", { n: 1 })).toThrow(/`a`.*`n` is 1.*2, 3/);
    expect(own.resolveNextNodes("a", { n: 3 })).toEqual(["end"]);
  });

  test.each([{}, [], null, "graph g {}", { format: "ngraph.table", version: 2 }])("%j is not a table", (value) => {
    expect(() => createScheduler(value as unknown as Table)).toThrow(
      expect.objectContaining({ code: "NG_BAD_TABLE" }) as Error,
    );
  });
});

test("barrierSpecs: none, several of one target, `waits`", () => {
  const none = createScheduler(tableOf(`graph g { node a = 1  start -> a -> end }`));
  expect(none.barrierSpecs()).toEqual([]);
  const specs = scheduler.barrierSpecs();
  expect(specs.map(({ id, kind, target }) => [id, kind, target])).toEqual(
    expect.arrayContaining([
      ["join", "all", "join"],
      ["join#2", "all", "join"],
      ["gated", "waits", "gated"],
    ]),
  );
  expect(JSON.parse(JSON.stringify(specs))).toEqual(specs);
});
