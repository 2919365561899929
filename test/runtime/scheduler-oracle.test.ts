/**
 * Execution, 1.3, 1.4 and 2.2: the scheduler returns what a run does, in time proportional to what it reads, as frozen
 * results.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  createEngine,
  createScheduler,
  type NodeContext,
  type RoutingRequest,
  type Table,
} from "../../runtime/index.ts";
import type { BarrierSignals } from "../../runtime/routing/barrier-state.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { tableOf } from "../support/graph.ts";
import { numRuns } from "../support/depth.ts";

/** The requests of the nodes of a run, by node name and number of runs. */
interface Sketch {
  readonly edges: readonly string[];
  readonly asks: Readonly<Record<string, readonly RoutingRequest[]>>;
}

const NAMES = ["a", "b", "c", "d", "e"] as const;
const name = fc.constantFrom(...NAMES);
const some = fc.uniqueArray(name, { minLength: 1, maxLength: 3 });

const edge = fc.oneof(
  fc.tuple(name, some).map(([from, to]) => `${from} -> ${to.join(", ")}`),
  fc.tuple(name, some, fc.nat(2)).map(([from, to, n]) => `${from} -> ${to.join(", ")} when n % 3 == ${n}`),
  fc.tuple(name, name).map(([from, to]) => `${from} -> ${to} otherwise`),
  fc.tuple(name, name, name).map(([from, x, y]) => `${from} -> match n % 2 { 0 -> ${x}  else -> ${y} }`),
  fc
    .tuple(fc.uniqueArray(name, { minLength: 2, maxLength: 3 }), name)
    .map(([all, to]) => `all(${all.join(", ")}) -> ${to}`),
  fc
    .tuple(fc.uniqueArray(name, { minLength: 3, maxLength: 5 }), fc.integer({ min: 1, max: 2 }))
    .map(([names, count]) => `settled(${names.slice(count).join(", ")}) -> ${names.slice(0, count).join(", ")}`),
  fc.tuple(name, name).map(([from, to]) => `${from} -> ${to} on error`),
);

const request: fc.Arbitrary<RoutingRequest> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.record({ goto: fc.uniqueArray(name, { minLength: 1, maxLength: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ goto: name, exclusive: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.constant({ stop: true }) },
);

const sketch: fc.Arbitrary<Sketch> = fc.record({
  edges: fc.array(edge, { minLength: 3, maxLength: 9 }),
  asks: fc.dictionary(name, fc.array(request, { maxLength: 4 })) as fc.Arbitrary<Sketch["asks"]>,
});

function tableOfSketch({ edges }: Sketch): Table {
  // The order of declaration differs from the order of names, so that the order is tested.
  const nodes = [...NAMES].reverse().map((node) => `node ${node} = work("${node}") { goes ${NAMES.join(", ")}, end }`);
  return tableOf(`graph g { state n: int = 0  ${nodes.join("\n")} start -> a, b ${edges.join("\n")} }`, ["work"]);
}

describe("1.4 the scheduler beside a run", () => {
  test("returns the nodes and barriers of each step, for random graphs", async () => {
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(sketch, async (drawn) => {
        let table: Table;
        try {
          table = tableOfSketch(drawn);
        } catch {
          // Random edges may be invalid: two `match` of one node, for example.
          return;
        }
        const runs = new Map<string, number>();
        const asked: (readonly [string, RoutingRequest])[] = [];
        const work = (node: string, context: NodeContext): unknown => {
          const count = runs.get(node) ?? 0;
          runs.set(node, count + 1);
          const ask = drawn.asks[node]?.[count] ?? {};
          asked.push([node, ask]);
          const { goto, stop } = ask;
          if (stop === true) return context.stop();
          if (typeof goto === "string") return context.goto(goto, { exclusive: true });
          return goto === undefined || goto === null ? undefined : context.goto(...goto);
        };
        const store = new MemoryStore();
        const result = await createEngine(table, { functions: { work }, store }).run({}, { thread: "t", maxSteps: 12 });
        const scheduler = createScheduler(table);
        const history = [...store.list("t")].reverse();
        let signals: BarrierSignals = {};
        let at = 0;
        let ready = scheduler.planStartStep({}).ready;
        expect(history[0]?.nextNodes).toEqual(ready);
        for (const [number, nodes] of result.steps.entries()) {
          expect(nodes).toEqual(ready);
          const step = asked.slice(at, (at += nodes.length));
          expect(step.map(([node]) => node)).toEqual(nodes);
          const checkpoint = history.find((one) => one.step === number)!;
          if (checkpoint.unrouted !== undefined) {
            const requests = step.map(([, ask]) => ask);
            expect(() => scheduler.planNextStep([...nodes], requests, {}, signals)).toThrow(/has no next node/);
            break;
          }
          const plan = scheduler.planNextStep(
            step.map(([node, ask]) => ({ ...ask, node })),
            {},
            signals,
          );
          expect(plan.barrierState).toEqual(checkpoint.barrierState);
          ({ ready, barrierState: signals } = plan);
          expect(checkpoint.nextNodes).toEqual(ready);
          compared++;
        }
      }),
      { seed: 8, numRuns: numRuns(400) },
    );
    expect(compared).toBeGreaterThan(numRuns(1000));
  });

  test("what it hands out is frozen, and nothing of it is kept", () => {
    const table = tableOf("graph g { node a = 1  node b = 2  node j = 3  start -> a, b  all(a, b) -> j }");
    const scheduler = createScheduler(table);
    const plan = scheduler.planNextStep(["a"], {}, {});
    for (const part of [plan, plan.ready, plan.barrierState, plan.barrierState["j"], scheduler.planStartStep().ready]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    const specs = scheduler.barrierSpecs();
    for (const part of [specs, specs[0], specs[0]?.members, specs[0]?.members[0], scheduler.resolveNextNodes("j")]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
    expect(scheduler.planNextStep(["b"], {}, plan.barrierState)).toEqual({
      ready: ["j"],
      hitEnd: false,
      winningGoto: null,
      barrierState: {},
    });
    expect(plan.barrierState).toEqual({ j: ["a"] });
  });

  test("unequal lengths throw, missing results ask for nothing", () => {
    const scheduler = createScheduler(tableOf("graph g { node a = 1  node b = 2  start -> a -> b }"));
    expect(() => scheduler.planNextStep(["a"], [])).toThrow(RangeError);
    expect(() => scheduler.planNextStep([], [{}])).toThrow(RangeError);
    expect(scheduler.planNextStep(["a", "b"], [null, undefined])).toEqual(scheduler.planNextStep(["a", "b"]));
  });
});

test("1.3: what a plan reads does not grow with the graph", () => {
  const readsOf = (count: number): number => {
    const names = Array.from({ length: count }, (_, i) => `n${i}`);
    const table = tableOf(`graph g { state x: int = 0
      ${names.map((node) => `state s_${node}: int = 0  node ${node} = x into s_${node}`).join("\n")}
      start -> n0  ${names.join(" -> ")}  n0 -> n2 when x == 0  all(n0, n1) -> n2 }`);
    let reads = 0;
    const counting = <T>(target: T): T =>
      typeof target !== "object" || target === null
        ? target
        : (new Proxy(target, {
            get: (object, key) => {
              reads++;
              return counting(Reflect.get(object, key) as unknown);
            },
          }) as T);
    const scheduler = createScheduler(counting(structuredClone(table)));
    reads = 0;
    // Arguments are read field by field, and of the table only the named nodes: nothing is searched.
    scheduler.planNextStep(["n0", "n1"], counting({ x: 0 }), counting({ n2: ["n0"] }));
    return reads;
  };
  expect(readsOf(1000)).toBe(readsOf(5));
});

test("2.2: nodes of a step run in declaration order, in whatever order they were signalled", async () => {
  const ran: string[] = [];
  const table = tableOf(
    `graph g { output log: string[] reduce append
      node first = work("first") into log  node second = work("second") into log  node third = work("third") into log
      node go = 0  start -> third, go, first  go -> third, second, first  first -> end }`,
    ["work"],
  );
  const work = (node: string): string => {
    ran.push(node);
    return node;
  };
  const result = await createEngine(table, { functions: { work } }).run({});
  expect(result.steps).toEqual([
    ["first", "third", "go"],
    ["first", "second", "third"],
  ]);
  expect(ran).toEqual(["first", "third", "first", "second", "third"]);
  expect(result.output).toEqual({ log: ran });
});
