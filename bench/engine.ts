/**
 * What a run costs beside the work of its nodes: a chain of three and five side by side with a join, with nodes that return at
 * once and nodes that return a promise, next to the same calls in a bare loop and to the peer; what a store adds;
 * whether a step costs the same in a graph of three nodes and in one of ten thousand, and a branch in ten and in ten thousand;
 * how long the event loop waits while there is much to do; and the memory of a run that waits. Compare the rows of one table with
 * each other: the machine's pace is in all of them.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compile } from "../compiler/compile.ts";
import { memoryHost } from "../compiler/load/host.ts";
import { createEngine } from "../runtime/engine/create-engine.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import type { Table } from "../runtime/table/table.ts";
import { withSignals } from "./support/interleaved.ts";
import { longestStall } from "./support/stall.ts";

/** Milliseconds that one row is measured for, in blocks of which the fastest counts: the rest is the machine's noise. */
const PATIENCE = 600;

const NODES = `export const add = (x: number): number => x + 1;
export const addLater = async (x: number): Promise<number> => x + 1;`;

function tableOf(text: string): Table {
  const { table, diagnostics } = compile(`import { add, addLater } from "./nodes.ts"\n${text}`, {
    path: "bench.ngraph",
    host: memoryHost({ "nodes.ts": NODES }),
  });
  if (table === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  return table;
}

const chain = (call: string): Table =>
  tableOf(`graph chain { input n: int  state x: int = 0  state y: int = 0  output z: int = 0
    node a = ${call}(n) into x  node b = ${call}(x) into y  node c = ${call}(y) into z
    start -> a -> b -> c }`);

const fan = (call: string): Table =>
  tableOf(`graph fan { input n: int  state s: int = 0 reduce sum  output z: int = 0
    ${[0, 1, 2, 3, 4].map((i) => `node p${i} = ${call}(n) into s`).join("\n")}
    node join_all = ${call}(s) into z
    start -> p0, p1, p2, p3, p4   all(p0, p1, p2, p3, p4) -> join_all }`);

const functions = { add: (x: number) => x + 1, addLater: async (x: number) => x + 1 };

/** Microseconds a run, in the fastest of many short blocks. */
async function measure(run: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  let size = 1;
  const end = performance.now() + PATIENCE;
  do {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < size; i++) await run();
    const took = Number(process.hrtime.bigint() - begin) / 1000;
    best = Math.min(best, took / size);
    if (took < 3000) size *= 2;
  } while (performance.now() < end);
  return best;
}

function row(name: string, ...cells: readonly (number | string)[]): void {
  const texts = cells.map((cell) => (typeof cell === "string" ? cell : cell < 100 ? cell.toFixed(2) : cell.toFixed(0)));
  console.log(name.padEnd(36) + texts.map((text) => text.padStart(14)).join(""));
}

/** How many times the other. */
function times(value: number, other: number): string {
  const ratio = value / other;
  return `${ratio < 10 ? ratio.toFixed(1) : ratio.toFixed(0)} x`;
}

async function besideBareLoops(): Promise<void> {
  row("µs a run", "chain of 3", "x bare", "5 and a join", "x bare");
  const { addLater } = functions;
  const bare = [
    await measure(async () => addLater(await addLater(await addLater(1)))),
    await measure(async () => {
      const parts = await Promise.all([0, 1, 2, 3, 4].map(() => addLater(1)));
      return addLater(parts.reduce((a, b) => a + b));
    }),
  ] as const;
  const show = (name: string, [first, second]: readonly [number, number]): void =>
    row(name, first, times(first, bare[0]), second, times(second, bare[1]));
  show("bare loop, promises", bare);
  for (const [name, call] of [
    ["ngraph, promises", "addLater"],
    ["ngraph, values", "add"],
  ] as const) {
    const [first, second] = [chain(call), fan(call)].map((table) => createEngine(table, { functions }));
    show(name, [await measure(() => first!.run({ n: 1 })), await measure(() => second!.run({ n: 1 }))]);
  }
  const [first, second] = [chain("addLater"), fan("addLater")].map((table) =>
    createEngine(table, { functions, store: new MemoryStore() }),
  );
  show("ngraph, promises, store in memory", [
    await measure(() => first!.run({ n: 1 })),
    await measure(() => second!.run({ n: 1 })),
  ]);
  const peer = await langgraph();
  if (peer !== undefined) show("langgraph 1.4, promises", [await measure(peer.chain), await measure(peer.fan)]);
}

async function bySignal(): Promise<void> {
  console.log();
  row("µs a run with a signal", "without", "one for all", "x", "new, without", "new", "x");
  for (const [name, table] of [
    ["chain of 3", chain("addLater")],
    ["5 and a join", fan("addLater")],
  ] as const) {
    const engine = createEngine(table, { functions });
    const [without = 0, one = 0, beside = 0, own = 0] = await withSignals((given) => engine.run({ n: 1 }, given), 1000);
    row(name, without, one, (one / without).toFixed(2), beside, own, (own / beside).toFixed(2));
  }
}

/** `@langchain/langgraph` where it is installed (`bench/peers`). */
async function langgraph(): Promise<{ chain: () => unknown; fan: () => unknown } | undefined> {
  const peers = createRequire(join(process.cwd(), "bench/peers/package.json"));
  let path: string;
  try {
    path = peers.resolve("@langchain/langgraph");
  } catch {
    return undefined;
  }
  const { StateGraph, Annotation } = (await import(pathToFileURL(path).href)) as PeerModule;
  const { addLater } = functions;
  const State = Annotation.Root({
    n: Annotation(),
    x: Annotation(),
    y: Annotation(),
    z: Annotation(),
    s: Annotation(SUM),
  });
  const chained = new StateGraph(State)
    .addNode("a", async ({ n = 0 }) => ({ x: await addLater(n) }))
    .addNode("b", async ({ x = 0 }) => ({ y: await addLater(x) }))
    .addNode("c", async ({ y = 0 }) => ({ z: await addLater(y) }))
    .addEdge("__start__", "a")
    .addEdge("a", "b")
    .addEdge("b", "c")
    .compile();
  let fanned = new StateGraph(State).addNode("join_all", async ({ s = 0 }) => ({ z: await addLater(s) }));
  const names = [0, 1, 2, 3, 4].map((i) => `p${i}`);
  for (const name of names) {
    fanned = fanned.addNode(name, async ({ n = 0 }) => ({ s: await addLater(n) })).addEdge("__start__", name);
  }
  const joined = fanned.addEdge(names, "join_all").compile();
  return { chain: () => chained.invoke({ n: 1 }), fan: () => joined.invoke({ n: 1, s: 0 }) };
}

interface PeerGraph {
  addNode(name: string, body: (state: Record<string, number>) => Promise<Record<string, number>>): PeerGraph;
  addEdge(from: string | readonly string[], to: string): PeerGraph;
  compile(): { invoke(input: Record<string, number>): Promise<unknown> };
}
interface PeerModule {
  readonly StateGraph: new (state: unknown) => PeerGraph;
  readonly Annotation: ((spec?: unknown) => unknown) & { Root(fields: Record<string, unknown>): unknown };
}
const SUM = { reducer: (a: number, b: number): number => a + b, default: (): number => 0 };

/** A loop of three nodes inside graphs of growing size: what a step costs must not grow with what does not run. */
async function bySize(): Promise<void> {
  console.log();
  row("by nodes and channels", "first run, µs", "a step, µs");
  for (const size of [3, 100, 1000, 10_000]) {
    const engine = createEngine(largeTable(size), { functions });
    const steps = 3000;
    const begin = performance.now();
    await engine.run({ n: 3 });
    const first = (performance.now() - begin) * 1000;
    row(String(size), first, (await measure(() => engine.run({ n: steps }))) / steps);
  }
}

/** The items of a `for` node, and nodes side by side with a join: a branch must not cost more for there being others. */
async function byBranches(): Promise<void> {
  console.log();
  row("by branches", "an item, µs", "a node, µs");
  const items = createEngine(
    tableOf(`graph items { input n: int  output s: int = 0 reduce sum
      node every = add(i) for i in range(n) into s  start -> every }`),
    { functions },
  );
  for (const count of [10, 100, 1000, 10_000]) {
    const nodes = createEngine(wideTable(count), { functions });
    row(
      String(count),
      (await measure(() => items.run({ n: count }))) / count,
      (await measure(() => nodes.run({ n: 1 }))) / count,
    );
  }
}

function wideTable(count: number): Table {
  const small = fan("add");
  const [one, join] = [small.nodes[0]!, small.nodes.at(-1)!];
  const indexes = Array.from({ length: count }, (_, i) => i);
  const nodes = indexes.map((i) => ({
    ...one,
    name: `p${i}`,
    routes: [{ kind: "plain" as const, targets: [{ barrier: 0, member: i }] }],
  }));
  return {
    ...small,
    nodes: [...nodes, join],
    start: [{ kind: "plain", targets: indexes.map((node) => ({ node })) }],
    barriers: [{ ...small.barriers[0]!, target: count, members: indexes.map((node) => [node]) }],
  };
}

/** Ten thousand runs that wait for the same promise. */
async function inFlight(): Promise<void> {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) return;
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const engine = createEngine(chain("addLater"), {
    functions: { addLater: async (x: number) => (await gate, x + 1) },
  });
  const heapUsed = async (): Promise<number> => {
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setImmediate(resolve));
      gc();
    }
    return process.memoryUsage().heapUsed;
  };
  const runs: Promise<unknown>[] = [engine.run({ n: 0 })];
  const before = await heapUsed();
  for (let i = 0; i < 10_000; i++) runs.push(engine.run({ n: 1 }));
  const after = await heapUsed();
  release();
  await Promise.all(runs);
  console.log(`\n10,000 runs in flight: ${((after - before) / 10_000 / 1024).toFixed(2)} KB each`);
}

/** The longest time without a turn of the event loop: timers and other requests of the process wait for as long. */
async function stalls(): Promise<void> {
  console.log();
  row("10,000 at once", "items, ms", "runs, ms");
  const items = tableOf(`graph items { input n: int  output s: int = 0 reduce sum
    node every = add(i) for i in range(n) into s  start -> every }`);
  for (const [name, store] of [
    ["no store", {}],
    ["store in memory", { store: new MemoryStore() }],
  ] as const) {
    const [first, second] = [items, chain("add")].map((table) => createEngine(table, { functions, ...store }));
    await first!.run({ n: 100 });
    await second!.run({ n: 1 });
    row(
      name,
      (await longestStall(() => first!.run({ n: 10_000 }))).longest,
      (await longestStall(() => Promise.all(Array.from({ length: 10_000 }, (_, n) => second!.run({ n }))))).longest,
    );
  }
}

/** Made by hand: the compiler would rightly say that most of it is never reached. */
function largeTable(size: number): Table {
  const small = tableOf(`graph loop { limit steps none  input n: int  state i: int = 0  state x: int = 0
    node a = i + 1 into i  node b = add(x) into x  node c = add(i) into x
    start -> a -> b -> c  c -> a when i * 3 < n  c -> end otherwise }`);
  const channels = [...small.channels];
  const nodes = [...small.nodes];
  for (let i = nodes.length; i < size; i++) {
    channels.push({ name: `spare${i}`, role: "state", type: { kind: "int" }, initial: 0 });
    nodes.push({ ...nodes[1]!, name: `spare${i}`, output: { kind: "channel", channel: channels.length - 1 } });
  }
  return { ...small, channels, nodes };
}

await besideBareLoops();
await bySignal();
await bySize();
await byBranches();
await stalls();
await inFlight();
