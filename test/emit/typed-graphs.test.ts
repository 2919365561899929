/** The types of a generated graph beyond its channels, and functions that fit although their types are looser. */
import { expect, test } from "vitest";
import { PARCEL, USE_OF_PARCEL } from "./parcel-graph.ts";
import { createProject } from "./project.ts";

const GRAPH = `
import { draft } from "./nodes.ts"
graph inner { input text: string  output score: int  node rate = len(text) into score  start -> rate -> end }
graph letter {
  input  topic: string
  output text: string
  output note: string
  output score: int
  state  verdict: "send" | "again"
  state  tags: string[] = [] reduce append
  node write  = draft(topic) into text
  node rate   = inner(text: text) into { score }
  node review = ask(\`Send \${text}?\`) into verdict { pause after }
  node remark = "again" into note
  start -> write -> rate -> review
  review -> match verdict { "send" -> end  "again" -> remark }
  remark -> write
}`;

const USE = `
import { letter, type LetterNode, type LetterPause } from "./letter.ngraph.ts";
import type { Engine, Store } from "ngraph/runtime";

export async function use(store: Store): Promise<string> {
  const engine = letter({ store, onEvent: (event) => event.type === "write" && event.channel === "score" && event.value?.toFixed() });
  const result = await engine.run({ topic: "a" }, { thread: "t", pauseBefore: ["write", "rate/rate"] });
  for (const pause of result.pauses) {
    if (pause.kind === "interrupt") {
      const question: string = pause.payload.question;
      const node: "review" = pause.node;
      console.log(question, node);
    } else {
      const payload: null = pause.payload;
      console.log(payload);
    }
  }
  if (result.status === "completed") {
    const text: string = result.output.text;
    const note: string | null = result.output.note;
    console.log(text, note);
  }
  const text: string | null = result.output.text;
  // @ts-expect-error a failed run may not have written it
  const never: string = result.output.text;
  await engine.resume("t", "send");
  await engine.resume("t", { answer: "again" });
  await engine.resume("t", { answers: { p1: "send" }, at: "write" });
  // @ts-expect-error no such answer
  await engine.resume("t", { answer: "maybe" });
  // @ts-expect-error no such node
  await engine.resume("t", { at: "writ" });
  // @ts-expect-error no such node
  await engine.fork("t", { at: "end" });
  await engine.update("t", { tags: "one", score: 3 }, { as: "rate", set: ["tags"] });
  await engine.update("t", { tags: ["one"] }, { as: "start" });
  await engine.update("t", { anything: 1 }, { in: "rate" });
  // @ts-expect-error a score is a number
  await engine.update("t", { score: "3" });
  // @ts-expect-error no such channel
  await engine.update("t", { points: 3 });
  // @ts-expect-error no such node
  await engine.run({ topic: "a" }, { pauseAfter: ["rat"] });
  letter({ mocks: { write: () => "text", rate: () => 1 } });
  // @ts-expect-error no such node
  letter({ mocks: { wrte: () => "text" } });
  for await (const event of engine.stream({ topic: "a" })) {
    if (event.type === "node") {
      const node: LetterNode | "rate" = event.node;
      console.log(node);
    }
    // @ts-expect-error no such channel
    if (event.type === "write" && event.channel === "points") console.log(event);
    if (event.type === "write" && event.channel === "tags") console.log(event.value.join());
  }
  const { pauses }: { pauses: readonly LetterPause[] } = await engine.stream({ topic: "a" }).result;
  const plain: Engine<{ topic: string }> = engine as unknown as Engine<{ topic: string }>;
  return [never, text, plain.table.name, pauses.length].join();
}
`;

test("answers, pauses, nodes, edits and events are typed", async () => {
  const project = createProject({
    "letter.ngraph": GRAPH,
    "nodes.ts": "export const draft = (topic: string): string => topic;",
    "use.ts": USE,
  });
  expect(await project.typeCheck()).toEqual([]);
}, 300_000);

test("the names and values of signals are typed", async () => {
  const project = createProject({
    "parcel.ngraph": PARCEL,
    "use.ts": USE_OF_PARCEL("ts"),
  });
  expect(await project.typeCheck()).toEqual([]);
}, 300_000);

test("a function that may interrupt accepts any JSON as its answer", async () => {
  const project = createProject({
    "g.ngraph": `import { charge } from "./nodes.ts"
graph g { input n: int  output done: string  node pay = charge(n) into done  start -> pay -> end }`,
    "nodes.ts": `import type { NodeContext } from "ngraph/runtime";
export const charge = (n: number, context: NodeContext): string => context.interrupt<string>({ n });`,
    "use.ts": `import { g } from "./g.ngraph.ts";
const { pauses } = await g().run({ n: 1 });
const node: "pay" | undefined = pauses[0]?.node;
await g().resume("t", { answer: { any: [1] } });
await g().resume("t", "yes");
export { node };`,
  });
  expect(await project.typeCheck()).toEqual([]);
}, 300_000);

test("functions with mutable lists, type parameters and records of unknown values fit", async () => {
  const project = createProject({
    "g.ngraph": `import { addRow, keep, pick, size, merge, first, label, type Table } from "./nodes.ts"
graph g {
  input  n: int
  state  rows: int[][] = [] reduce addRow
  state  table: Table = { rows: [], byName: {} } reduce merge
  state  facts: map<json> = {}
  output one: int
  output text: string
  node add    = [[n]] into rows
  node tab    = { rows: [[1]], byName: { a: [1] } } into table
  node kept   = keep(rows) into rows
  node known  = pick({ a: 1, b: ["x"] }, "a") into facts
  node count  = size(facts) into one
  node head   = first(rows) into rows
  node named  = label({ title: "x", tags: ["a"] }) into text
  start -> add -> tab -> kept -> known -> count -> head -> named -> end
}`,
    "nodes.ts": `
export interface Table { rows: number[][]; byName: Record<string, number[]> }
export const addRow = (current: number[][], update: number[][]): number[][] => [...current, ...update];
export const merge = (current: Table, update: Table): Table => ({ ...current, rows: [...current.rows, ...update.rows] });
export function keep<T>(rows: T[]): T[] { return rows; }
export function first<T>(rows: T[][]): T[][] { return rows.slice(0, 1); }
export const pick = <T extends Record<string, unknown>>(record: T, _key: keyof T & string): Record<string, unknown> => record;
export const size = (record: Record<string, unknown>): number => Object.keys(record).length;
export const label = (value: { title: string; tags: string[] }): string => value.title;
`,
  });
  expect(await project.typeCheck()).toEqual([]);
}, 300_000);
