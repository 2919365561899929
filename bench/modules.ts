/**
 * What a run of a generated module costs that needs no engine, beside the engine with the same table and beside bare awaits of the same functions: in
 * interleaved blocks of one process. Compare the cells of one row.
 */
import * as direct from "../api/direct.ts";
import { createEngine } from "../api/create-engine.ts";
import { compile } from "../compiler/compile.ts";
import { emitDirect } from "../compiler/emit/emit-direct.ts";
import { expressionToTypeScript } from "../compiler/emit/expression-to-typescript.ts";
import { literal } from "../compiler/emit/quote.ts";
import { memoryHost } from "../compiler/load/host.ts";
import type { Engine } from "../runtime/interface/engine-options.ts";
import type { Table } from "../runtime/table/table.ts";
import { interleaved, withSignals } from "./support/interleaved.ts";

const NODES = `export const add = async (x: number): Promise<number> => x + 1;
export const same = async (x: number): Promise<number> => x;
export const answer = async (x: number): Promise<"a" | "b" | "c"> => "b";`;
const functions = {
  add: async (x: number) => x + 1,
  same: async (x: number) => x,
  answer: async (x: number): Promise<string> => (x < 0 ? "a" : "b"),
};
const { add, same, answer } = functions;

function tableOf(text: string): Table {
  const source = `import { add, same, answer } from "./nodes.ts"\n${text}`;
  const { table, diagnostics } = compile(source, { path: "bench.ngraph", host: memoryHost({ "nodes.ts": NODES }) });
  if (table === undefined) throw new Error(diagnostics.map(({ message }) => message).join("\n"));
  return table;
}

/** The engine of the module that `ngc compile` would write. */
async function moduleOf(table: Table): Promise<Engine> {
  const names = { functions: table.functions.map(({ name }) => name), constant: literal, nonNull: "" } as const;
  const expressions = table.expressions.map((expression) => expressionToTypeScript(expression, names));
  const code = `export default ($) => [${emitDirect(table, { isTyped: false, namespace: "$" })}, [${expressions.join(", ")}]];`;
  const url = `data:text/javascript;base64,${Buffer.from(code).toString("base64")}`;
  const { default: make } = (await import(url)) as { default: (of: typeof direct) => [never, never] };
  const [module, evaluate] = make(direct);
  const engine: unknown = direct.createDirectGraph(
    { table, bindings: { functions, expressions: evaluate } },
    {},
    module,
  );
  return engine as Engine;
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `n${at}`);

const chain = (length: number): string =>
  `graph chain { limit steps none  input n: int  state x: int = 0
    ${names(length)
      .map((name) => `node ${name} = add(x) into x`)
      .join("\n")}
    start -> ${names(length).join(" -> ")} }`;

const beside = (width: number): string =>
  `graph beside { input n: int  state all: int[] = [] reduce append  output z: int = 0
    ${names(width)
      .map((name) => `node ${name} = same(n) into all`)
      .join("\n")}
    node join = add(len(all)) into z
    start -> ${names(width).join(", ")}  all(${names(width).join(", ")}) -> join }`;

const WAYS = `graph ways { input n: int  state way: "a" | "b" | "c" = "a"  output z: int = 0
  node ask = answer(n) into way  node a = add(n) into z  node b = add(n) into z  node c = add(n) into z  node last = add(z) into z
  start -> ask  ask -> match way { "a" -> a  "b" -> b  "c" -> c }  a -> last  b -> last  c -> last }`;

const LOOP = `graph loop { limit steps none  input n: int  state i: int = 0
  node a = add(i) into i  start -> a  a -> a when i < n  a -> end otherwise }`;

const EACH = `graph each { input n: int  output all: int[] = []
  node every = add(i) for i in range(n) into all  start -> every }`;

async function bareChain(length: number): Promise<number> {
  let x = 0;
  for (let at = 0; at < length; at++) x = await add(x);
  return x;
}

async function bareBeside(width: number): Promise<number> {
  const all: number[] = [];
  for (const part of await Promise.all(Array.from({ length: width }, () => same(1)))) all.push(part);
  return add(all.length);
}

async function bareWays(): Promise<number> {
  const way = await answer(1);
  return add(way === "a" ? await add(1) : way === "b" ? await add(2) : await add(3));
}

async function bareEach(count: number): Promise<number> {
  return (await Promise.all(Array.from({ length: count }, (_, at) => add(at)))).length;
}

interface Row {
  readonly name: string;
  readonly bare: () => Promise<unknown>;
  readonly text: string;
  readonly n: number;
  /** Runs of a block. */
  readonly size: number;
}

const ROWS: readonly Row[] = [
  { name: "chain of 3", bare: () => bareChain(3), text: chain(3), n: 1, size: 2000 },
  { name: "5 beside each other, and a join", bare: () => bareBeside(5), text: beside(5), n: 1, size: 1000 },
  { name: "three ways by an answer", bare: bareWays, text: WAYS, n: 1, size: 1000 },
  { name: "chain of 1,000", bare: () => bareChain(1000), text: chain(1000), n: 1, size: 5 },
  { name: "1,000 beside each other", bare: () => bareBeside(1000), text: beside(1000), n: 1, size: 5 },
  { name: "100 items of a `for`", bare: () => bareEach(100), text: EACH, n: 100, size: 100 },
  { name: "loop of 10,000 steps", bare: () => bareChain(10_000), text: LOOP, n: 10_000, size: 1 },
];

const cells = (values: readonly string[]): string => values.map((value) => value.padStart(14)).join("");
console.log("µs a run".padEnd(34) + cells(["bare awaits", "engine", "module", "engine, x", "module, x"]));
const show = (value: number): string => (value < 100 ? value.toFixed(2) : value.toFixed(0));
for (const { name, bare, text, n, size } of ROWS) {
  const { engine, module } = await open(name, text, n);
  const [least = 0, ...rest] = await interleaved([bare, () => engine.run({ n }), () => module.run({ n })], size);
  const times = rest.map((value) => (value / least).toFixed(1));
  console.log(name.padEnd(34) + cells([...[least, ...rest].map(show), ...times]));
}

console.log();
console.log("one signal for all runs, and a new one for each");
console.log("".padEnd(42) + cells(["without", "one", "x", "new, without", "new", "x"]));
for (const { name, text, n, size } of ROWS.slice(0, 3)) {
  for (const [what, each] of Object.entries(await open(name, text, n))) {
    const least = await withSignals((options) => each.run({ n }, options), size);
    const [without = 0, one = 0, beside = 0, own = 0] = least;
    const texts = [
      show(without),
      show(one),
      (one / without).toFixed(2),
      show(beside),
      show(own),
      (own / beside).toFixed(2),
    ];
    console.log(`${name}, ${what}`.padEnd(42) + cells(texts));
  }
}

async function open(
  name: string,
  text: string,
  n: number,
): Promise<{ readonly engine: Engine; readonly module: Engine }> {
  const table = tableOf(text);
  const [engine, module] = [createEngine(table, { functions }), await moduleOf(table)];
  const [expected, found] = await Promise.all([engine.run({ n }), module.run({ n })]);
  if (JSON.stringify(found) !== JSON.stringify(expected)) throw new Error(`${name}: the module has another result`);
  return { engine, module };
}
