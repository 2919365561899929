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

  // Types that the compiler leaves to `tsc`: it reports the others itself.
  test.each<[string, (nodes: string) => string, RegExp]>([
    [
      "a function takes something else",
      (nodes) => nodes.replace("notes: readonly string[]", "notes: readonly Uppercase<string>[]"),
      /Uppercase/,
    ],
    [
      "a function gives something else",
      (nodes) => nodes.replace("Promise<string[]> {\n  return", "Promise<Extract<5, number>> {\n  return 5; return"),
      /number/,
    ],
    ["a picked field is missing", (nodes) => nodes.replace("score: notes.length", "points: 1"), /score/],
    [
      "a function asks for more",
      (nodes) => nodes.replace("(ticket: string):", "(ticket: string, more: Uppercase<string>):"),
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
        node every  = load(item, level) for item in [1, 2] into tickets
        node merge  = { b: "x" } into facts
        node count  = { x: 1 } into seen
        node add    = 5 into total
        node union  = [1] into ids
        node top    = 2.5 into best
        node keep   = any ?? nothing into any
        node scored = [rank(t) for t in tickets] into scores
        start -> grow -> every -> merge -> count -> add -> union -> top -> keep -> scored
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

test("deeply nested types and values", async () => {
  const nest = (inner: string, open: string, close: string): string => open.repeat(60) + inner + close.repeat(60);
  const project = createProject({
    "g.ngraph": `
      graph g {
        input  x: int = 1
        output deep: ${nest("string", "{ a: ", " }")}
        input  lists: string${"[]".repeat(60)} = []
        output sum: int
        node a = ${nest('"v"', "{ a: ", " }")} into deep
        node b = ${Array(100).fill("x").join(" + ")} into sum
        start -> a -> b -> end
      }`,
    "app.ts": `
      import { g } from "./g.ngraph.ts";
      const { status, output } = await g().run({});
      if (status === "completed") void (output.sum satisfies number);
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
        output more: float[] = []
        // Neither the state nor an item is read: a project may refuse parameters that are not used.
        output last: float
        node c = rank(1) + 1 into last
        node a = [rank(i) for i in range(n)] into scores
        node b = [rank(at) for i, at in range(n) if urgent(4)] into more
        start -> a, b, c
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

describe("calls inside expressions", () => {
  // A class, and functions that a call returns: opaque to the compiler, so that `tsc` has to check them.
  const NODES = `
    const typed = <F>(f: F): F => f;
    export class Doc { id = ""; tags?: string[] }
    export const score = typed((n: number) => n);
    export const label = typed((n: number) => String(n));
    export const isGood = typed((doc: Doc) => doc.id !== "");
    export const load = typed((n: number): Doc[] => [{ id: String(n) }]);
    export const first = typed((n: number): Doc | null => load(n)[0] ?? null);
    export const later = typed(async (n: number) => n > 1);
    export const options = typed((given: { limit: number; text: string }) => given.text);
    export const anything = typed((value: unknown): any => value);
  `;
  const IMPORTED = ["score", "label", "isGood", "load", "first", "later", "options", "anything"];
  const graphWith = (lines: string): string => {
    const used = IMPORTED.filter((name) => lines.includes(`${name}(`));
    return `import { ${[...used, "type Doc"].join(", ")} } from "./nodes.ts"
      graph inner { input doc: Doc  input n: int  output m: int = 0  node a = n + len([doc]) into m  start -> a }
      graph g { input n: int  input text: string  input docs: Doc[]  input doc: Doc
        output out: string = ""  output number: float = 0  output list: json[] = []  state flag: bool = false  state other: Doc
        node use = [n, text, docs, doc, out, number, list, flag, other] into all
        state all: json[] = []  node again = all into list
        start -> use -> again
        ${lines} }`;
  };
  const FITS = `
      node a = \`\${label(n)} \${label(score(n))} \${doc.id}\` into out
      node b = [d.id for d in load(n) if isGood(d)] into list
      node c = score(n) * 2 + score(n) into number
      node d = first(n)?.tags ?? [] into list
      node e = len(load(n)) + len(load(n)[0]?.id ?? "") into number
      node f = inner(doc: doc, n: 1) into { m: number }
      node g = options(limit: n, text: text) into out
      node h = anything(docs).some.thing[0] ?? "" into out
      node i = isGood(doc) && score(n) > 3 ? options(limit: n, text: text) : label(1) into out
      node j = print(label(n))
      node k = label(x) for x in [score(y) for y in [1, 2]] into list
      again -> a -> b -> c -> d -> e -> f -> g -> h -> i -> j -> k
      k -> end when isGood(doc)
      k -> end otherwise`;
  const MISTAKES: readonly [where: string, lines: string, place: RegExp, message: RegExp][] = [
    ["a template", "node a = `${label(text)}` into out  again -> a", /label\(text\)/, /'string'.*'number'/s],
    [
      "a condition's argument",
      'again -> end when label(text) == "x"  again -> end otherwise',
      /label\(text\)/,
      /'string'.*'number'/s,
    ],
    [
      "a condition that is no bool",
      "again -> end when score(n)  again -> end otherwise",
      /score\(n\)/,
      /'number'.*'boolean'/s,
    ],
    [
      "a comprehension's value",
      "node a = [label(d) for d in docs] into list  again -> a",
      /label\(d\)/,
      /'Doc'.*'number'/s,
    ],
    [
      "a comprehension's condition",
      "node a = [1 for x in [1] if label(x)] into list  again -> a",
      /label\(x\)/,
      /'string'.*'boolean'/s,
    ],
    [
      "a comprehension's list",
      "node a = [1 for x in label(n)] into list  again -> a",
      /label\(n\)/,
      /'string'.*'readonly unknown\[\]'/s,
    ],
    [
      "an item of what a function gives",
      "node a = [label(x) for x in load(n)] into list  again -> a",
      /label\(x\)/,
      /'Doc'.*'number'/s,
    ],
    ["arithmetic", "node a = label(n) * 2 into number  again -> a", /label\(n\)/, /'string'.*'number'/s],
    ["a comparison", "again -> end when label(n) < 2  again -> end otherwise", /label\(n\)/, /'string'.*'number'/s],
    ["a field", "node a = `${first(n)?.name}` into out  again -> a", /name/, /"name"/],
    ["a field of an imported type", "node a = `${doc.ids}` into out  again -> a", /ids/, /"ids"/],
    ["the library", "node a = upper(score(n)) into out  again -> a", /score\(n\)/, /'number'.*'string'/s],
    ["a promise", "again -> end when later(n)  again -> end otherwise", /later\(n\)/, /"a promise"/],
    [
      "an argument inside an argument",
      "node a = label(label(n)) into out  again -> a",
      /node a/,
      /'string'.*'number'/s,
    ],
    [
      "an argument inside an argument of a condition",
      "again -> end when isGood(first(n))  again -> end otherwise",
      /isGood\(first\(n\)\)/,
      /null/,
    ],
    ["named arguments", "node a = `${options(limit: n)}` into out  again -> a", /options\(limit: n\)/, /text/],
    [
      "an argument of a built-in node",
      "node a = print(text) node b = sleep(label(n))  again -> a -> b",
      /label\(n\)/,
      /'string'.*'number'/s,
    ],
    [
      "an argument of a graph",
      "node a = inner(doc: { id: 1 }, n: 1) into { m: number }  again -> a",
      /\{ id: 1 \}/,
      /number.*string/s,
    ],
    ["a value for an imported type", "node a = { id: 3 } into other  again -> a", /node a/, /number.*string/s],
    [
      "one branch of a choice",
      "node a = flag ? label(n) : score(n) into out  again -> a",
      /node a/,
      /'string \| number'|'number'/,
    ],
    ["the list of a `for`", "node a = print(x) for x in label(n)  again -> a", /label\(n\)/, /'string'/],
  ];

  // One run of `tsc` for all of them: each graph is a file of its own.
  test("fit, or are an error of `tsc` beneath the place in the graph", async () => {
    const files = MISTAKES.map(([, lines], at) => [`g${at}.ngraph`, graphWith(lines)] as const);
    const project = createProject({
      "nodes.ts": NODES,
      "fits.ngraph": graphWith(FITS),
      ...Object.fromEntries(files),
    });
    const errors = await project.typeCheck();
    expect(errors.filter((error) => error.startsWith("fits."))).toEqual([]);
    for (const [at, [where, , place, message]] of MISTAKES.entries()) {
      const found = errors.filter((error) => error.startsWith(`g${at}.ngraph.ts(`));
      expect(found.join("\n"), where).toMatch(message);
      const lines = readFileSync(`${project.directory}/g${at}.ngraph.ts`, "utf8").split("\n");
      const line = Number(/\((\d+),/.exec(found[0] ?? "")?.[1] ?? 0);
      // The comment above the check contains the place of the mistake in the graph file.
      expect(lines[line - 2], where).toMatch(place);
    }
  });
});

test("the configuration of a run has a type, with that of called graphs", async () => {
  const project = createProject({
    "letter.ngraph": `graph inner { output a: string  config model: string  node say = model into a  start -> say -> end }
graph letter { output a: string  config tries: int = 2  node n = print(tries)  node call = inner() into { a }
  start -> n -> call -> end }`,
    "use.ts": `
      import { inner, letter, type LetterConfig } from "./letter.ngraph.ts";
      const config: LetterConfig = { model: "large" };
      void letter().run({}, { config });
      void letter().resume("t", { config: { tries: 3 } });
      void letter().fork("t", { config: { model: "small" } });
      // @ts-expect-error no such name
      void inner().run({}, { config: { model: "x", mode: "y" } });
      // @ts-expect-error a model is a string
      void inner().run({}, { config: { model: 3 } });
      // @ts-expect-error the model has no default
      void letter().run({}, { config: { tries: 3 } });
    `,
  });
  expect(await project.typeCheck()).toEqual([]);
});
