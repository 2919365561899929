/** Generated modules under `tsc --strict`: valid whatever the names are, typed for their users, and checking the node functions. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createProject } from "./project.ts";
import { SUPPORT, SUPPORT_NODES } from "./support-graph.ts";

describe("the showcase", () => {
  test("type-checks, and its users get the types of its channels", async () => {
    const project = createProject({
      "support.ngraph": SUPPORT,
      "nodes.ts": SUPPORT_NODES,
      "app.ts": `
        import { support, type SupportInput, type SupportState } from "./support.ngraph.ts";
        const input: SupportInput = { ticket: "down" };
        const result = await support().run(input, { thread: "42" });
        const reply: string | null = result.output.reply;
        const notes: readonly string[] = result.state.notes;
        const verdict: SupportState["verdict"] = "send";
        const intent: "billing" | "technical" | "other" | null = result.state.intent;
        export { reply, notes, verdict, intent };
        // @ts-expect-error the ticket has to be given
        void support().run({});
        // @ts-expect-error a ticket is a string
        void support().run({ ticket: 5 });
        // @ts-expect-error no such channel
        void result.output.answer;
        // @ts-expect-error state is read-only
        result.state.notes.push("x");
        for await (const { state } of support().stream(input, { view: "values" })) void state.rounds.toFixed();
      `,
    });
    expect(await project.typeCheck()).toEqual([]);
  });

  test.each<[string, (nodes: string) => string, RegExp]>([
    [
      "a function takes something else",
      (nodes) => nodes.replace("notes: readonly string[]", "notes: number[]"),
      /number/,
    ],
    ["a function gives something else", (nodes) => nodes.replace("Promise<string[]>", "Promise<Date>"), /Date/],
    ["a picked field is missing", (nodes) => nodes.replace("score: notes.length", "points: 1"), /score/],
    [
      "a function asks for more",
      (nodes) => nodes.replace("(ticket: string):", "(ticket: string, more: string):"),
      /NodeContext/,
    ],
  ])("an error where %s", async (_, change, message) => {
    expect(change(SUPPORT_NODES)).not.toBe(SUPPORT_NODES);
    const project = createProject({ "support.ngraph": SUPPORT, "nodes.ts": change(SUPPORT_NODES) });
    const errors = await project.typeCheck();
    expect(errors.join("\n")).toMatch(/^support\.ngraph\.ts\(\d+,\d+\): error/m);
    expect(errors.join("\n")).toMatch(message);
  });

  test("clean where functions are plain TypeScript without `readonly`", async () => {
    const plain = SUPPORT_NODES.replace("notes: readonly string[]", "notes: string[]");
    expect(plain).not.toBe(SUPPORT_NODES);
    const project = createProject({ "support.ngraph": SUPPORT, "nodes.ts": plain });
    expect(await project.typeCheck()).toEqual([]);
  });

  test("as JavaScript with declarations", async () => {
    const project = createProject(
      {
        "support.ngraph": SUPPORT,
        "nodes.ts": SUPPORT_NODES,
        "app.ts": `
          import { support } from "./support.ngraph.js";
          const { output } = await support({ maxSteps: 3 }).run({ ticket: "down" });
          export const reply: string | null = output.reply;
          // @ts-expect-error a ticket is a string
          void support().run({ ticket: 5 });
        `,
      },
      "js",
    );
    expect(await project.typeCheck()).toEqual([]);
    const text = readFileSync(`${project.directory}/support.ngraph.js`, "utf8");
    expect(text).toContain(`from "./nodes.js"`);
    expect(text).not.toMatch(/^import type|^export (?:interface|type) /m);
  });
});

test("every kind of type, default and reducer", async () => {
  const project = createProject({
    "all.ngraph": `
      import { load, fold, tree, rank, urgent, type Ticket } from "./nodes.ts"
      /** A tree. */
      type Tree = { value: int, children: Tree[], "odd name"?: map<float> | null }
      type Level = "low" | "high"
      type Pair = { left: Tree, right: (Level | null)[] }
      type Unused = { tree: Tree, ticket: Ticket }
      graph all {
        input  ticket: Ticket
        input  level: Level = "low"
        input  maybe: int | null
        output tree: Tree
        output tickets: Ticket[] reduce append
        memory seen: map<int> reduce merge
        state  facts: { a: int, b?: string } = { a: 1 } reduce merge
        state  total: float = 0 reduce fold
        state  ids: int[] reduce union
        state  best: float reduce max
        state  any: json
        state  nothing: {} = {}
        state  scores: float[] = []
        node grow   = tree(ticket, level, maybe) into tree
        node each   = load(item, level) for item in [1, 2] into tickets
        node merge  = { b: "x" } into facts
        node count  = { x: 1 } into seen
        node add    = 5 into total
        node union  = [1] into ids
        node top    = 2.5 into best
        node keep   = any ?? nothing into any
        node scored = [rank(t) for t in tickets] into scores
        start -> grow -> each -> merge -> count -> add -> union -> top -> keep -> scored
        scored -> end when urgent(ticket)
        scored -> end otherwise
      }`.replace("/** A tree. */", "/// A tree. */ nobody ends this comment"),
    "nodes.ts": `
      import type { NodeContext } from "ngraph/generated";
      import type { Pair, Tree } from "./all.ngraph.ts";
      export interface Ticket { id: number; open: boolean }
      export const tree = (ticket: Ticket, level: "low" | "high", maybe: number | null): Tree =>
        ({ value: maybe ?? ticket.id, children: [], "odd name": { [level]: 1 } });
      export const load = async (id: number, _level: string, context: NodeContext): Promise<Ticket | readonly Ticket[]> =>
        context.step > 0 ? [] : { id, open: true };
      export const fold = (current: number, update: number): number => current + update;
      export const rank = (ticket: Ticket): number => ticket.id;
      export const urgent = (ticket: Ticket): boolean => ticket.open;
      export type Both = Pair;
    `,
    "app.ts": `
      import { all, type Tree, type Level, type Unused, type AllInput } from "./all.ngraph.ts";
      const input: AllInput = { ticket: { id: 1, open: true }, maybe: null };
      const { output, state } = await all().run(input);
      const tree: Tree | null = output.tree;
      const level: Level = state.level;
      const numbers: readonly number[] = [state.total, ...state.ids, state.best ?? 0, state.facts.a, ...Object.values(state.seen)];
      const unused: Unused["ticket"]["open"] = true;
      export { tree, level, numbers, unused };
    `,
  });
  expect(await project.typeCheck()).toEqual([]);
});

test("functions in expressions: what they return has to fit", async () => {
  const files = (rank: string, urgent: string): Record<string, string> => ({
    "g.ngraph": `
      import { rank, urgent } from "./nodes.ts"
      graph g {
        input n: int
        output scores: float[] = []
        node a = [rank(i) for i in range(n)] into scores
        start -> a
        a -> end when urgent(n)
        a -> end otherwise
      }`,
    "nodes.ts": `export const rank = (i: number) => ${rank}; export const urgent = (n: number) => ${urgent};`,
  });
  expect(await createProject(files("i / 2", "n > 3")).typeCheck()).toEqual([]);
  expect((await createProject(files("String(i)", "n > 3")).typeCheck()).join("\n")).toMatch(/'readonly string\[\]'/);
  expect((await createProject(files("i", "n")).typeCheck()).join("\n")).toMatch(/'number'.*'boolean'/);
});

describe("hostile names", () => {
  test("graphs, channels, nodes, functions, types and variables may have any name", async () => {
    const project = createProject({
      "hostile.ngraph": `
        import { delete as new, default as function, Promise, Json, type Record, type Partial, class } from "./nodes.ts"
        type string_ = { constructor: int, __proto__: int, "a b": int, "*/": int, "\\u2028": int }
        type any = { x: Record, y: Partial }
        type number = { z: any }
        /// Ends here: */ export const evil = 1; /*
        graph delete {
          input  __proto__: int
          input  class: int
          /// */ evil /*
          output constructor: number
          output prototype: int
          state  function: string_ = { constructor: 1, __proto__: 2, "a b": 3, "*/": 4, "\\u2028": 5 }
          node   await   = new(class, __proto__) into constructor
          node   new     = function(function) into function
          node   return  = Promise(Json(1), class) into prototype
          node   var     = [[class + enum for class in range(enum)] for enum in [1, 2]]
          node   yield   = { __proto__: 1, "*/ \\u2029": "</script>", constructor: [\`\\\`\\\${\`] }
          start -> await -> new -> return -> var -> yield
        }
        graph default { node a = sleep(1)  start -> a }
        graph Promise_ { node a = default()  node b = delete(class: 1, __proto__: 2)  start -> a -> b }
        graph SupportInput { input then: int  node a = sleep(then)  start -> a }
        graph support { input x: int  node a = SupportInput(then: x)  start -> a }
      `,
      "nodes.ts": `
        export interface Record { r: number }
        export interface Partial { p: number }
        const remove = (a: number, b: number): { z: { x: Record; y: Partial } } => ({ z: { x: { r: a }, y: { p: b } } });
        export { remove as delete };
        export default <T>(value: T): T => value;
        const one = (a: unknown, _b?: unknown): number => Number(a);
        export { one as Promise, one as Json, one as class };
      `,
      "app.ts": `
        import makeDefault, { delete as remove, Promise_, support, type SupportInput_ } from "./hostile.ngraph.ts";
        const { output } = await remove().run({ __proto__: 1, class: 2 } as never);
        export const z: number | undefined = output.constructor?.z.x.r;
        export const all = [makeDefault(), Promise_(), support().run({ x: 1 })];
        export type Graph = SupportInput_;
      `,
    });
    expect(await project.typeCheck()).toEqual([]);
    const text = readFileSync(`${project.directory}/hostile.ngraph.ts`, "utf8");
    expect(text).not.toMatch(/[\u2028\u2029]|<\/script>/);
  });

  test("other files' functions and types with the same names", async () => {
    const project = createProject({
      "main.ngraph": `
        import { inner } from "./lib/inner.ngraph"
        import { load, type Item } from "./nodes.ts"
        type Shape = { main: Item }
        graph main {
          output shape: Shape
          output n: int
          node a = load("x") into shape
          node b = inner(shape: { item: 1 }) into { other: n }
          start -> a -> b
        }`,
      "lib/inner.ngraph": `
        import { load, type Item } from "./nodes.ts"
        type Shape = { item: Item }
        graph inner { input shape: Shape  output other: Item  node a = load(shape) into other  start -> a }`,
      "nodes.ts": `export type Item = string; export const load = (x: string): { main: Item } => ({ main: x });`,
      "lib/nodes.ts": `export type Item = number; export const load = (shape: { readonly item: Item }): Item => shape.item;`,
    });
    expect(await project.typeCheck()).toEqual([]);
  });
});
