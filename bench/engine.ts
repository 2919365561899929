/**
 * What a run costs beside the work of its nodes: a chain of three and five side by side with a join, with nodes that return at
 * once and nodes that return a promise, next to the same calls in a bare loop and to the peer; what a store adds;
 * and whether a step costs the same in a graph of three nodes and in one of ten thousand.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { compile } from "../compiler/compile.ts";
import { memoryHost } from "../compiler/host.ts";
import { createEngine } from "../runtime/engine.ts";
import { MemoryStore } from "../runtime/stores/memory.ts";
import type { Table } from "../runtime/table.ts";

const ROUNDS = 5;

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

/** The fastest of some rounds, in microseconds a run: the rest is the machine's noise. */
async function measure(run: () => unknown, count: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < count; i++) await run();
    best = Math.min(best, Number(process.hrtime.bigint() - begin) / 1000 / count);
  }
  return best;
}

function row(name: string, ...microseconds: readonly (number | undefined)[]): void {
  const cells = microseconds.map((us) =>
    (us === undefined ? "-" : us < 100 ? us.toFixed(2) : us.toFixed(0)).padStart(12),
  );
  console.log(name.padEnd(34) + cells.join(""));
}

async function besideBareLoops(): Promise<void> {
  console.log("µs a run".padEnd(34) + ["chain of 3", "5 and a join"].map((head) => head.padStart(12)).join(""));
  const { addLater } = functions;
  row(
    "bare loop, promises",
    await measure(async () => addLater(await addLater(await addLater(1))), 200_000),
    await measure(async () => {
      const parts = await Promise.all([0, 1, 2, 3, 4].map(() => addLater(1)));
      return addLater(parts.reduce((a, b) => a + b));
    }, 100_000),
  );
  for (const [name, call] of [
    ["ngraph, promises", "addLater"],
    ["ngraph, values", "add"],
  ] as const) {
    const engines = [chain(call), fan(call)].map((table) => createEngine(table, { functions }));
    row(
      name,
      await measure(() => engines[0]!.run({ n: 1 }), 100_000),
      await measure(() => engines[1]!.run({ n: 1 }), 100_000),
    );
  }
  const engines = [chain("addLater"), fan("addLater")].map((table) =>
    createEngine(table, { functions, store: new MemoryStore() }),
  );
  row(
    "ngraph, promises, store in memory",
    await measure(() => engines[0]!.run({ n: 1 }), 2000),
    await measure(() => engines[1]!.run({ n: 1 }), 2000),
  );
  const peer = await langgraph();
  if (peer !== undefined) row("langgraph 1.4, promises", await measure(peer.chain, 300), await measure(peer.fan, 300));
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
  console.log(`\n${"µs a step, by nodes and channels".padEnd(34)}${"first run".padStart(12)}${"a step".padStart(12)}`);
  for (const size of [3, 100, 1000, 10_000]) {
    const table = largeTable(size);
    const engine = createEngine(table, { functions });
    const steps = 3000;
    const begin = performance.now();
    await engine.run({ n: 3 });
    const first = (performance.now() - begin) * 1000;
    row(String(size), first, (await measure(() => engine.run({ n: steps }), 10)) / steps);
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
await bySize();
