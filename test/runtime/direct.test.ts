/**
 * A generated module whose graph runs without the engine does what the engine does with the same table: the same bodies with the same arguments,
 * the same results, errors included. The graphs are random, and their bodies fail, return what does not fit, and make requests.
 *
 * `SEED=12 npx vitest run test/runtime/direct.test.ts` compares one seed.
 */
import { expect, test, vi } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { systemClock, type Clock } from "../../runtime/interface/clock.ts";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Engine, RunResult } from "../../runtime/interface/engine-options.ts";
import { runsDirectly } from "../../runtime/table/runs-directly.ts";
import type { BarrierSpec, NodeSpec, RouteSpec, Table, TargetSpec } from "../../runtime/table/table.ts";
import { keyOf, loadGenerated } from "../fault/generated-tables.ts";
import { below, chance, pick, randomOf, type Random } from "../fault/random.ts";
import { scale } from "../support/depth.ts";

const ONE = process.env["SEED"] === undefined ? undefined : Number(process.env["SEED"]);
const SEEDS = ONE === undefined ? Array.from({ length: scale(2000, 300) }, (_, seed) => seed) : [ONE];

/** Each graph aborts at every so many places, beginning with another one. A single seed aborts at all. */
const STRIDE = ONE === undefined ? scale(2, 6) : 1;

/** Its time stands still, so no run gives the event loop a turn: where a run does depends on the load of the machine. Its timers fire. */
const clock: Clock = { ...systemClock, now: () => 0 };

const FUNCTIONS = ["number", "text", "record", "fields", "nothing", "slow"] as const;

/** The parts of random graphs: nodes of each kind of result, and expressions for edges. */
const PARTS = partsOf(`
  secret KEY  secret UNREAD
  type Point = { x: int, name?: string, at: "a" | "b" | null }
  graph parts {
    limit steps 12
    input n: int  input w: string = "w"
    state plain: int = 0  state other: int = 1  state way: "a" | "b" | "c" = "a"
    state sum: int = 0 reduce sum  state most: float = 0.0 reduce max  state least: int = 9 reduce min  state late: int = 0 reduce last
    state list: int[] = [] reduce append  state names: string[] = [] reduce union  state point: Point = { x: 1, at: null } reduce merge
    state all: json = null  state maybe: int | null = null
    state taken: int[] = [2, 1]  state words: string[] = [] reduce last
    output out: string[] = [] reduce append
    node n0 = number(n) into plain          node n1 = number(plain) into other     node n2 = text(w) into way
    node n3 = number(other) into sum        node n4 = number(sum) into most        node n5 = number(len(list)) into least
    node n6 = number(plain + other) into late  node n7 = number(n) into list       node n8 = text(way) into names
    node n9 = record(n) into point          node n10 = record(point.x) into all    node n11 = number(n) into maybe
    node n12 = text("t") into out           node n13 = fields(n) into { plain, list, maybe?: maybe }
    node n14 = nothing(100 / plain)         node n15 = plain + 1 into plain        node n16 = list[plain] ?? 4 into other
    node n17 = ["x"] into names               node n18 = number(error?.attempts ?? n) into sum { tries 2 backoff 1ms..1ms }
    node n19 = text(error?.message ?? "none") into out
    node n20 = slow(plain) into sum { timeout 10ms }  node n21 = slow(n) into plain { timeout 10ms }
    node n22 = print(list)  node n23 = print(\`\${way} \${error?.attempts ?? 0}\`)  node n24 = json(\`[\${plain}]\`) into list
    node n25 = json(out[0] ?? "{") into maybe  node n26 = json(error?.message ?? \`\${100 / other}\`) into late { tries 2 }
    node n27 = fail(error?.message ?? way) { tries 2 }
    node n28 = number(i) for i in list into taken
    node n29 = number(i + at) for i, at in [1, 2, n, 4] if i + at != 3 into list { max parallel 2 }
    node n30 = text(name) for name in names into names { allow failure }
    node n31 = number(i) for i in [1, plain, 3] into sum { tries 2 backoff 1ms..1ms  max parallel 1 }
    node n32 = record(i) for i in taken into point { allow failure  max parallel 2  tries 2 backoff 1ms..1ms }
    node n33 = slow(i) for i in taken into taken { timeout 10ms }
    node n34 = nothing(100 / i) for i in taken  node n35 = i + n for i in [plain, 2, other] if 10 / i > 1 into most
    node n36 = text(word) for word in ["p", way] into words { max parallel 1 }
    node n37 = number(i) for i in [100 / plain, 7.0] into least { allow failure }
    node n38 = print(\`\${name} \${at}\`) for name, at in names  node n39 = json(\`[\${i}]\`) for i in list into list
    node n40 = number(i) for i in range(n * 6) into taken
    node n41 = text(KEY) into out             node n42 = nothing(\`\${KEY}\${100 / plain}\`) for i in list if len(KEY) > i
    node n43 = [KEY] into names { tries 2 }
    node c0 = plain < other into all        node c1 = sum % 2 == 0 into all        node c2 = 10 / plain > 1 into all  node c3 = len(list) < 4 into all
    start -> n27
    start -> ${Array.from({ length: 44 }, (_, at) => `n${at}`)
      .filter((name) => name !== "n27")
      .join(" -> ")} -> c0 -> c1 -> c2 -> c3
  }`);

function partsOf(text: string) {
  const nodes = FUNCTIONS.map((name) => `export const ${name} = (value: any): any => value;`).join("\n");
  const source = `import { ${FUNCTIONS.join(", ")} } from "./nodes.ts"\n${text}`;
  const { table, diagnostics } = compile(source, { path: "parts.ngraph", host: memoryHost({ "nodes.ts": nodes }) });
  if (table === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  const calls = table.nodes.filter(({ name }) => name.startsWith("n"));
  const conditions = table.nodes.flatMap(({ name, call }) =>
    name.startsWith("c") && call.kind === "expression" ? [call.expression] : [],
  );
  const way = table.expressions.findIndex(
    ({ op, ...rest }) => op === "channel" && table.channels[(rest as { channel: number }).channel]!.name === "way",
  );
  return { table, calls, conditions, way };
}

function randomTable(random: Random, seed: number): Table {
  const count = 2 + below(random, 7);
  const hasBarriers = chance(random, 0.6);
  const mayFail = chance(random, 0.5);
  const hasJumps = chance(random, 0.5);
  const goals = (): number[] => [-1, ...Array.from({ length: count }, (_, at) => at)].filter(() => chance(random, 0.8));
  const barriers: BarrierSpec[] = [];
  const members = new Map<number, TargetSpec[]>();
  const gated = new Map<number, number>();
  if (hasBarriers) {
    for (let made = below(random, 3); made >= 0; made--) {
      const target = below(random, count);
      const isGate = chance(random, 0.3) && !gated.has(target);
      const nodes = Array.from({ length: count }, (_, at) => at).filter(() => chance(random, 0.5));
      if (nodes.length === 0) continue;
      const groups =
        chance(random, 0.3) && nodes.length > 1
          ? [nodes.slice(0, 2), ...nodes.slice(2).map((one) => [one])]
          : nodes.map((one) => [one]);
      const barrier = barriers.length;
      barriers.push({ id: `b${barrier}`, kind: isGate ? "waits" : "all", target, members: groups });
      if (isGate) gated.set(target, barrier);
      for (const [member, group] of groups.entries()) {
        for (const node of group) {
          const signal = isGate ? { node: target } : { barrier, member };
          members.set(node, [...(members.get(node) ?? []), signal]);
        }
      }
    }
  }
  const anyNode = (): TargetSpec => ({ node: chance(random, 0.15) ? -1 : below(random, count) });
  const targets = (): TargetSpec[] => Array.from({ length: 1 + below(random, 2) }, anyNode);
  const route = (node: number): RouteSpec[] => {
    const own = members.get(node);
    const condition = pick(random, PARTS.conditions);
    const others = ((): RouteSpec[] => {
      switch (below(random, 6)) {
        case 0:
          return [{ kind: "plain", targets: targets() }];
        case 1:
          return [
            { kind: "when", condition, targets: targets() },
            { kind: "otherwise", targets: targets() },
          ];
        case 2:
          return [
            {
              kind: "match",
              subject: PARTS.way,
              arms: [{ values: ["a", "b"], targets: targets() }],
              ...(chance(random, 0.7) ? { otherwise: targets() } : {}),
            },
          ];
        case 3:
          return [
            {
              kind: "cases",
              arms: [{ condition, targets: targets() }],
              ...(chance(random, 0.7) ? { otherwise: targets() } : {}),
            },
          ];
        case 4:
          return [{ kind: "when", condition, targets: targets() }];
        default:
          return [];
      }
    })();
    return own === undefined ? others : [{ kind: "plain", targets: own }, ...others];
  };
  const nodes = Array.from({ length: count }, (_, index): NodeSpec => {
    const { call, each, output, tries, timeout } = pick(random, PARTS.calls);
    const gate = gated.get(index);
    return {
      name: `m${index}`,
      call,
      ...(each === undefined ? {} : { each }),
      ...(output === undefined ? {} : { output }),
      ...(tries === undefined ? {} : { tries }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(hasJumps && each === undefined && chance(random, 0.6) ? { goes: goals() } : {}),
      ...(gate === undefined ? {} : { waits: gate }),
      routes: route(index),
      onError: mayFail && chance(random, 0.5) ? [{ targets: targets() }] : [],
    };
  });
  const first = Array.from({ length: count }, (_, at) => at).filter(() => chance(random, 0.4));
  const start: RouteSpec = { kind: "plain", targets: (first.length === 0 ? [0] : first).map((node) => ({ node })) };
  return { ...PARTS.table, name: `random${seed}`, nodes, barriers, start: [start] };
}

/** A hash of the call decides what a body does, so both subjects do the same. */
function behaviour(seed: number, name: string, args: readonly unknown[], nth: number): number {
  let hash = seed * 2654435761;
  for (const char of `${name}/${JSON.stringify(args)}/${nth}`) hash = Math.imul(hash ^ char.charCodeAt(0), 16777619);
  return (hash ^ (hash >>> 13)) >>> 0;
}

function functionsOf(
  seed: number,
  log: string[],
  aborted: string[],
  onCall: () => void,
): Record<string, (...args: never[]) => unknown> {
  const counts = new Map<string, number>();
  const isWild = seed % 3 !== 0;
  return Object.fromEntries(
    FUNCTIONS.map((name) => {
      const body = (...given: unknown[]): unknown => {
        const context = given.pop() as NodeContext;
        const key = `${name} ${JSON.stringify(given)} ${context.step} ${context.attempt} ${JSON.stringify(context.item)} ${context.signal.aborted}`;
        // Items of nodes beside each other end in any order.
        const nth = context.item === undefined ? (counts.get(key) ?? 0) : 0;
        counts.set(key, nth + 1);
        log.push(key);
        onCall();
        const dice = behaviour(seed, name, given, nth);
        const wild = isWild ? dice % 40 : 99;
        const value = resultOf(name, dice >>> 8, given[0]);
        const done = (): unknown => {
          if (wild === 0) throw new Error(`no ${dice % 5}`);
          if (wild === 1) return { toString: 1, when: new Date(0) };
          if (wild === 2) return undefined;
          if (wild === 3) context.usage({ inputTokens: 1 });
          if (wild === 4) return context.goto("m0");
          if (wild === 5) context.send("m1", 1);
          if (wild === 6) return context.interrupt({ question: 1 });
          if (wild === 7) return context.goto();
          if (wild === 8) return context.stop();
          if (wild === 9) {
            try {
              context.goto("m1");
            } catch {
              return value;
            }
          }
          return wild >= 10 && wild < 24 ? jump(wild, context, value) : value;
        };
        // Only nodes with a timeout call it.
        if (name === "slow" && dice % 4 === 1) return untilAborted(context, dice, aborted);
        return dice % 3 === 0 ? done() : later(dice % 4, onCall, done);
      };
      return [name, body];
    }),
  );
}

/** Jumps, which some of the nodes declare. */
function jump(wild: number, { goto, send, stop }: NodeContext, value: unknown): unknown {
  switch (wild) {
    case 10:
      return goto("m0", "m1");
    case 11:
      return goto("m1", { exclusive: true });
    case 12:
      return goto("m0", { exclusive: true });
    case 13:
      return stop();
    case 14:
      return goto("end");
    case 15:
      goto("m1");
      return goto();
    case 16:
      stop();
      goto("m0", "");
      return value;
    case 17:
      goto("m1");
      stop();
      return undefined;
    case 18: {
      const item = { list: [1] };
      send("m1", item as never);
      item.list.push(2);
      return value;
    }
    case 19:
      goto("m0");
      return send("m1", null);
    case 20:
      goto("m0");
      throw new Error("after a jump");
    case 21:
      try {
        send("m0", (() => 1) as never);
      } catch {
        return goto("m1");
      }
      return value;
    case 22: {
      const options = { exclusive: true };
      const command = goto("m1", options);
      options.exclusive = false;
      return command;
    }
    default:
      return goto("m0", "end");
  }
}

/** A body that does not end before its time is over, and goes on when it is. */
async function untilAborted(context: NodeContext, dice: number, aborted: string[]): Promise<unknown> {
  if (dice % 8 === 1) context.usage({ inputTokens: 1 });
  const { signal } = context;
  await new Promise<void>((resolve) => {
    if (dice % 3 > 0) signal.addEventListener("abort", () => resolve());
  });
  aborted.push(`${signal.aborted} ${String(signal.reason)} ${context.signal === signal}`);
  context.usage({ inputTokens: 5 });
  if (dice % 3 === 1) throw new Error("too late");
  return 1;
}

async function later(ticks: number, onCall: () => void, done: () => unknown): Promise<unknown> {
  await undefined;
  onCall();
  for (let tick = 0; tick <= ticks; tick++) await undefined;
  return done();
}

function resultOf(name: string, dice: number, given: unknown): unknown {
  switch (name) {
    case "number":
    case "slow":
      return dice % 11 === 0 ? [dice % 5, 2] : (dice % 7) - 1;
    case "text":
      return dice % 9 === 0 ? "other" : (["a", "b", "c"] as const)[dice % 3];
    case "record":
      return dice % 5 === 0
        ? { name: "n", extra: { deep: [given, undefined, null] } }
        : { x: dice % 10, at: "a", name: undefined };
    case "fields":
      return { plain: dice % 4, list: [1], ...(dice % 2 === 0 ? { maybe: 3 } : {}), more: true };
    default:
      return undefined;
  }
}

type Shown = Readonly<Record<string, unknown>>;

/**
 * What a run did: the bodies that ran, and its result.
 *
 * @param abortAt the place where the signal of the run aborts, counted over the calls of bodies and their first turns; no signal if absent
 */
async function transcript(
  open: (functions: object) => Engine,
  { nodes }: Table,
  seed: number,
  input: object,
  abortAt?: number,
): Promise<Shown> {
  // Items that begin when others have ended do so between the bodies of other nodes.
  const hasItems = nodes.some(({ each }) => each !== undefined);
  const log: string[] = [];
  const aborted: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line) => void log.push(`print ${String(line)}`));
  const controller = new AbortController();
  let places = 0;
  const engine = open(
    functionsOf(seed, log, aborted, () => {
      if (places++ === abortAt) controller.abort(`at ${abortAt}`);
    }),
  );
  // A module runs directly with a signal once the engine is loaded.
  if (abortAt !== undefined) await engine.state("none").catch(() => undefined);
  let result: RunResult | undefined;
  let error: unknown;
  try {
    result = await engine.run(input as never, abortAt === undefined ? {} : { signal: controller.signal });
    // Bodies of an aborted run end later.
    if (controller.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 1));
  } catch (thrown) {
    error = thrown;
  } finally {
    vi.restoreAllMocks();
  }
  return {
    log: hasItems ? log.toSorted() : log,
    aborted: hasItems ? aborted.toSorted() : aborted,
    result,
    thrown: JSON.stringify(error),
    error: JSON.stringify(result?.error),
    text: String(result?.error?.message),
    places,
  };
}

test(`${SEEDS.length} graphs: the engine and the module agree`, { timeout: 600_000 }, async () => {
  const tables = SEEDS.map((seed) => randomTable(randomOf(seed), seed));
  for (const table of tables) expect(runsDirectly(table)).toBe(true);
  const [directly, inEngine] = [await loadGenerated(tables), await loadGenerated(tables, true)];
  const open = (modules: typeof directly, table: Table) => (functions: object) =>
    modules.get(keyOf(table))!({ functions, clock, secrets: { KEY: "k-1234" } } as never);
  const seen = new Map<string, number>();
  for (const [at, seed] of SEEDS.entries()) {
    const table = tables[at]!;
    for (const input of [
      { n: 0 },
      { n: seed % 7, w: "b" },
      ...(seed % 50 === 0 ? [{ n: "x" }, {}, { n: 1, z: 2 }] : []),
    ]) {
      const interpreted = await transcript(open(inEngine, table), table, seed, input);
      const direct = await transcript(open(directly, table), table, seed, input);
      expect({ seed, ...direct }).toEqual({ seed, ...interpreted });
      // At place -1, no run aborts.
      const places = interpreted["places"] as number;
      for (let abortAt = (seed % STRIDE) - 1; abortAt < places; abortAt += STRIDE) {
        const before = await transcript(open(inEngine, table), table, seed, input, abortAt);
        expect({ seed, abortAt, ...(await transcript(open(directly, table), table, seed, input, abortAt)) }).toEqual({
          seed,
          abortAt,
          ...before,
        });
        if ((before["result"] as RunResult | undefined)?.status === "cancelled") {
          seen.set("cancelled", (seen.get("cancelled") ?? 0) + 1);
        }
      }
      const status = (interpreted["result"] as RunResult | undefined)?.status ?? "refused";
      seen.set(status, (seen.get(status) ?? 0) + 1);
      if ((interpreted["aborted"] as string[]).length > 0) seen.set("late", (seen.get("late") ?? 0) + 1);
    }
  }
  // The comparison is meaningful only if much has happened.
  if (ONE !== undefined) return;
  for (const status of ["completed", "failed", "incomplete", "limit", "refused", "late", "cancelled"]) {
    expect(seen.get(status) ?? 0, status).toBeGreaterThan(SEEDS.length / 60);
  }
});
