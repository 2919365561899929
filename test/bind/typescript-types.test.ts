/** Types and signatures that graphs take from TypeScript modules (T1), each with a graph that fits and one that does not. */
import { describe, expect, it } from "vitest";
import { compile, memoryHost, type CompileResult } from "../../compiler/index.ts";
import { typeToText } from "../../compiler/types/type-text.ts";
import { explain, marked } from "./bind-text.ts";

const compileWith = (text: string, files: Readonly<Record<string, string>>): CompileResult =>
  compile(text, { path: "main.ngraph", host: memoryHost(files) });

/** The type of an import in the syntax of the language, and its named types with their definitions. */
function typeOf(declarations: string, more: Readonly<Record<string, string>> = {}, module = "nodes.ts"): string {
  const text = `import { type T } from "./${module}"\ngraph g { input t: T  node a = print(\`\${t}\`)  start -> a -> end }`;
  const { graphs, namedTypes, diagnostics } = compileWith(text, { [module]: declarations, ...more });
  expect(diagnostics.filter(({ severity }) => severity === "error").map(({ message }) => message)).toEqual([]);
  const type = graphs[0]?.bound.channels[0]?.type;
  if (type === undefined) return "none";
  const body = type.kind === "ref" ? namedTypes.get(type.name) : undefined;
  return body === undefined ? typeToText(type) : `${typeToText(type)} = ${typeToText(body)}`;
}

describe("types", () => {
  it.each([
    ["export type T = string", "string"],
    ["export type T = number[]", "float[]"],
    ["export type T = readonly (boolean | null)[]", "(bool | null)[]"],
    ["export type T = [string, ...number[]]", "(string | float)[]"],
    ["export type T = Record<string, number>", "map<float>"],
    ["export type T = { [key: string]: number }", "map<float>"],
    ['export type T = "a" | "b"', '"a" | "b"'],
    ["export type T = `id-${string}`", "string"],
    ["export type T = -1 | 2.5 | true", "-1 | 2.5 | true"],
    ['export enum T { A, B = 5, C, D = "d" }', '0 | 5 | 6 | "d"'],
    ["export interface T { a: string; b?: number; c: string | undefined }", "T = { a: string, b?: float, c?: string }"],
    ["export interface T { value: unknown }", "T = { value: json }"],
    ["interface A { a: string } export interface T extends A { b: boolean }", "T = { a: string, b: bool }"],
    ["export type T = { a: string } & { b: boolean }", "T = { a: string, b: bool }"],
    ["interface A { a: string; b: boolean } export type T = Partial<A>", "T = { a?: string, b?: bool }"],
    ['interface A { a: string; b: boolean } export type T = Pick<A, "a">', "T = { a: string }"],
    ['interface A { a: string; b: boolean } export type T = Omit<A, "a">', "T = { b: bool }"],
    ["interface A { a: string } export type T = Readonly<A>", "A = { a: string }"],
    ['export type T = Record<"a" | "b", number>', "T = { a: float, b: float }"],
    ["export interface T { next: T | null }", "T = { next: T | null }"],
    ["export interface T { more: U[] } interface U { parent?: T }", "T = { more: U[] }"],
  ])("%s", (declarations, expected) => {
    expect(typeOf(declarations)).toBe(expected);
  });

  it.each([
    ["a generic type", "export interface T<A = string> { a: A }"],
    ["a class", "export class T { a = 1 }"],
    ["a conditional type", "export type T = string extends infer U ? U : never"],
    ["a type of a package", 'import type { X } from "pkg"; export type T = X'],
  ])("%s stays opaque", (_, declarations) => {
    expect(typeOf(declarations)).toBe("T");
  });

  it("follow imports and re-exports of relative modules", () => {
    const more = {
      "b.ts": 'export * from "./c.js"; import type { C as D } from "./c.ts"; export interface B { c: D }',
      "c.ts": "export interface C { n: number }",
    };
    expect(typeOf('export { type B as T } from "./b.ts"', more)).toBe("B = { c: C }");
    expect(typeOf('import type { C } from "./b.ts"; export type T = C[]', more)).toBe("C[]");
    expect(typeOf('import * as b from "./b.ts"; export type T = b.C', more)).toBe("C = { n: float }");
  });

  it("come from JSDoc in JavaScript", () => {
    const text = "/** @typedef {{ a: string, b?: Array.<number>, c: string | null }} T */\nexport const x = 1;";
    expect(typeOf(text, {}, "nodes.js")).toBe("T = { a: string, b?: float[], c: string | null }");
  });

  it("keep their names apart from types of the graph file", () => {
    const text = `import { type T } from "./nodes.ts"\ntype U = { own: int }
graph g { input t: T  input u: U  node a = print(\`\${t.u.n} \${u.own}\`)  start -> a -> end }`;
    const { namedTypes, diagnostics } = compileWith(text, {
      "nodes.ts": "export interface T { u: U } interface U { n: number }",
    });
    expect(explain(diagnostics.filter(({ severity }) => severity === "error"))).toBe("");
    expect([...namedTypes.keys()].sort()).toEqual(["T", "U", "U_2"]);
  });

  it("are narrowed and matched like those of the language", () => {
    const module = 'export interface Ticket { kind: "bug" | "wish"; title?: string }';
    const graph = (arms: string): string => `import { type Ticket } from "./nodes.ts"
graph g { input t: Ticket  node a = print(t.title ?? "none")  node b = print("b")  start -> match t.kind { ${arms} }  any(a, b) -> end }`;
    const codes = (arms: string): string[] =>
      compileWith(graph(arms), { "nodes.ts": module }).diagnostics.flatMap(({ severity, code }) =>
        severity === "error" ? [code] : [],
      );
    expect(codes('"bug" -> a  "wish" -> b')).toEqual([]);
    expect(codes('"bug" -> a, b')).toEqual(["NG501"]);
    expect(codes('"bug" -> a  "wihs" -> b')).toContain("NG513");
  });
});

describe("results of a `for` node", () => {
  it.each([
    ["int reduce max", "number", true],
    ["float reduce sum", "number", true],
    ["int reduce min", "string", false],
    ["int[] reduce append", "number", true],
    ["string[] reduce union", "string[]", true],
    ["map<int> reduce merge", "Record<string, number>", true],
    ["map<int> reduce merge", "number", false],
    ["int[]", "number", true],
    ["int[]", "string", false],
  ])("into `%s` from a function of `%s`", (channel, result, fits) => {
    const text = `import { f } from "./nodes.ts"\ngraph g { input xs: string[]  output out: ${channel}  node a = f(x) for x in xs into out  start -> a -> end }`;
    const { diagnostics } = compileWith(text, { "nodes.ts": `export function f(x: string): ${result} { throw x; }` });
    expect(diagnostics.some(({ code }) => code === "NG408")).toBe(!fits);
  });
});

describe("a last parameter that may be the context", () => {
  it.each([
    "c: any",
    "c: unknown",
    "c",
    "{ goto }: any",
    "c: { goto(...names: string[]): unknown }",
    "c: Context",
    "c: Map<string, string>",
  ])("`%s` need not be given", (parameter) => {
    const module = `interface Context { stop(): unknown }\nexport function f(x: string, ${parameter}): any { return x; }`;
    const text = `import { f } from "./nodes.ts"\ngraph g { node a = f("x")  start -> a -> end }`;
    const { diagnostics } = compileWith(text, { "nodes.ts": module });
    expect(explain(diagnostics.filter(({ severity }) => severity === "error"))).toBe("");
  });

  it.each(["c: string", "c: { a: string }", "c: string[]", "c: number | null"])("`%s` has to be given", (parameter) => {
    const text = `import { f } from "./nodes.ts"\ngraph g { node a = f("x")  start -> a -> end }`;
    const { diagnostics } = compileWith(text, {
      "nodes.ts": `export function f(x: string, ${parameter}): any { return x; }`,
    });
    expect(diagnostics.map(({ code }) => code)).toContain("NG114");
  });
});

interface Case {
  readonly about: string;
  readonly module: string;
  readonly path?: string;
  /** Modules that the module imports. */
  readonly more?: Readonly<Record<string, string>>;
  /** Statements of the graph. */
  readonly fires: string;
  readonly near: string;
  readonly finding: string;
  readonly at: string;
}

const CASES: readonly Case[] = [
  {
    about: "an argument of another type",
    module: "export async function f(query: string, limit: number): Promise<string> { return query; }",
    fires: `node a = f("x", "y") into out`,
    near: `node a = f("x", 1) into out`,
    finding: "NG408 argument `limit` of `f` does not accept this value",
    at: '"y"',
  },
  {
    about: "a missing argument",
    module:
      "export async function f(query: string, limit: number, context: NodeContext): Promise<string> { return query; }",
    fires: `node a = f("x") into out`,
    near: `node a = f("x", 1) into out`,
    finding: "NG114 `f` needs `limit`",
    at: "f",
  },
  {
    about: "an argument too many",
    module: "export async function f(query: string, limit = 3): Promise<string> { return query; }",
    fires: `node a = f("x", 1, 2) into out`,
    near: `node a = f("x") into out`,
    finding: "NG114 `f` takes 2 arguments",
    at: "2",
  },
  {
    about: "a named argument of another type",
    module:
      "interface Options { query: string; limit?: number }\nexport const f = async (o: Options): Promise<string> => o.query;",
    fires: `node a = f(query: 5) into out`,
    near: `node a = f(query: "x") into out`,
    finding: "NG408 argument `o` of `f` does not accept this value at `.query`",
    at: "f(query: 5)",
  },
  {
    about: "an argument that may be null",
    module: "export function f(x: string): string { return x; }",
    fires: `input n: string | null  node a = f(n) into out`,
    near: `input n: string | null  node a = f(n ?? "") into out`,
    finding: "NG509 `n` may be null",
    at: "n",
  },
  {
    about: "a result of another type",
    module: "export async function f(): Promise<number[]> { return []; }",
    fires: `node a = f() into out`,
    near: `state ns: float[] = []  node a = f() into ns  node b = \`\${ns}\` into out  a -> b`,
    finding: "NG408 channel `out` does not accept this value",
    at: "out",
  },
  {
    about: "a field that the result lacks",
    module: "export async function f(): Promise<{ text: string }> { return { text: '' }; }",
    fires: `node a = f() into { txt: out }`,
    near: `node a = f() into { text: out }`,
    finding: "NG408 what `f` gives has no field `txt`: the channel does not accept this value",
    at: "out",
  },
  {
    about: "no result at all",
    module: "export async function f(): Promise<void> {}",
    fires: `node a = f() into out`,
    near: `node a = f()  node b = "x" into out  a -> b`,
    finding: "NG408 channel `out` cannot hold the result of `f`: it can be `undefined`",
    at: "out",
  },
  {
    about: "an async function in an expression",
    module: "export async function f(x: string): Promise<string> { return x; }",
    fires: `node a = upper(f("x")) into out`,
    near: `node a = f("x") into out`,
    finding: "NG514 `f` is async: an expression cannot wait for it",
    at: "f",
  },
  {
    about: "a result that an expression cannot use",
    module: "export function f(x: string): number { return x.length; }",
    fires: `node a = upper(f("x")) into out`,
    near: 'node a = `${f("x")}` into out',
    finding: "NG508",
    at: 'f("x")',
  },
  {
    about: "a result with a `Date`",
    module: "interface Row { id: string; at: { created: Date } }\nexport async function f(): Promise<Row> { throw 0; }",
    fires: `state row: json  node a = f() into row  node b = \`\${row}\` into out  a -> b`,
    near: `node a = f() into { id: out }`,
    finding: "NG408 channel `row` cannot hold the result of `f`: `.at.created` is a `Date`",
    at: "row",
  },
  {
    about: "a result that can be `undefined`",
    module:
      "export function f(x: string): string | undefined { return x; }\nexport function g(x: string): string | null { return x; }",
    fires: `state s: string | null  node a = f("x") into s  node b = \`\${s}\` into out  a -> b`,
    near: `state s: string | null  node a = g("x") into s  node b = \`\${s}\` into out  a -> b  node c = f("x")  a -> c`,
    finding: "NG408 channel `s` cannot hold the result of `f`: it can be `undefined`",
    at: "s",
  },
  ...[
    ["function f(x: string): Found { return x; }", "it can be `undefined`"],
    ["function f(x: string): Alias | number { return x; }", "it can be `undefined`"],
    ["async function f(x: string): Promise<Imported> { return { id: x }; }", "it can be `undefined`"],
    ["function f(x: string): { rows: Imported[] } { return { rows: [] }; }", "`.rows[]` can be `undefined`"],
    ["function f(x: string): list.Row { return { id: x }; }", "it can be `undefined`"],
    ["function f(x: string): Chain { return undefined; }", "it can be `undefined`"],
  ].map(([declaration = "", finding], at) => ({
    about: `a result of a named type that can be \`undefined\`, ${at + 1}`,
    module: `import type { Row as Imported } from "./list.ts";
import type * as list from "./list.ts";
type Found = string | undefined;
type Alias = Found;
type Chain = { next: Chain } | undefined;
export ${declaration}
export function g(x: string): NonNullable<Found> { return x; }
export function h(x: string): { found: Found; rows: Record<string, Imported>; chain?: Chain } { throw x; }
export function k(x: Found, y: Imported, z: Alias[]): string { throw [x, y, z]; }
export function l(x: string): Found | null { return x; }`,
    more: { "list.ts": `export type Row = { id: string } | undefined;` },
    fires: `state s: json  node a = f("x") into s  node b = \`\${s}\` into out  a -> b`,
    near: `state s: json  state n: string | null  node a = g("x") into out  node b = h("x") into s  node c = k(null, null, [null]) into out
      node d = h("x") into { found?: n }  node e = l("x")  node z = \`\${s} \${n}\` into out  a -> b -> c -> d -> e -> z`,
    finding: `NG408 channel \`s\` cannot hold the result of \`f\`: ${finding}`,
    at: "s",
  })),
  {
    about: "a result with an item that can be `undefined`",
    module:
      "export async function f(): Promise<{ ids: (string | undefined)[] }> { throw 0; }\nexport function g(): { id?: string; n: number | undefined } { throw 0; }",
    fires: `state s: json  node a = f() into s  node b = \`\${s}\` into out  a -> b`,
    near: `state n: float | null  node a = g() into { id?: out, n?: n }  node b = \`\${n}\` into out  a -> b`,
    finding: "NG408 channel `s` cannot hold the result of `f`: `.ids[]` can be `undefined`",
    at: "s",
  },
  {
    about: "a result with an item of a map of lists that can be `undefined`",
    module: `export function f(): Record<string, (string | undefined)[]> { return {}; }
export function g(): Record<string, string | undefined> { return {}; }
export function h(): { [key: string]: string | undefined } { return {}; }
export function k(): Record<"a" | "b", string | undefined> { throw 0; }
export function l(): { a: string; more?: () => void } { throw 0; }`,
    fires: `state s: json  node a = f() into s  node b = \`\${s}\` into out  a -> b`,
    near: `state s: json  state m: map<string>  state o: { a?: string, b?: string }  node a = g() into s  node c = h() into m  node d = k() into o
      node b = \`\${s} \${m} \${o} \${l().a} \${g()["a"] ?? "-"}\` into out  a -> c -> d -> b`,
    finding: "NG408 channel `s` cannot hold the result of `f`: `[*][]` can be `undefined`",
    at: "s",
  },
  ...[
    ["Rows", "`[]` can be `undefined`"],
    ["Page", "`.rows[]` can be `undefined`"],
    ["Tree", "`.leaves[]` can be `undefined`"],
    ["Branch", "`.below[].leaves[]` can be `undefined`"],
    ["Pairs", "`[*][]` can be `undefined`"],
    ["Record<string, Tree>", "`[*].leaves[]` can be `undefined`"],
  ].map(([type = "", finding = ""]) => ({
    about: `a result of a named type with a part that can be \`undefined\`, ${type}`,
    module: `export type Rows = (string | undefined)[];
export interface Page { rows: Rows }
export interface Tree { leaves: (string | undefined)[]; branches: Branch[] }
export interface Branch { below: Tree[] }
export type Pairs = Record<string, [string, string | undefined]>;
export type Labels = Record<string, string | undefined>;
export interface Sheet { labels: Labels; kind: any }
export function before(x: ${type}): string { throw x; }
export function f(): ${type} { throw 0; }
export function g(x: Labels, y: Sheet, z: Rows): Sheet { throw [x, y, z]; }
export function h(): Labels { throw 0; }`,
    fires: `state s: json  node a = f() into s  node b = \`\${s}\` into out  a -> b`,
    near: `state m: map<string>  state l: map<string>  state n: map<string | null> = { a: null }  state k: string
      node a = g(n, { labels: n, kind: 1 }, ["a", null]) into { labels: m, kind: k }  node c = h() into l
      node b = \`\${m} \${l} \${k}\` into out  a -> c -> b`,
    finding: `NG408 channel \`s\` cannot hold the result of \`f\`: ${finding}`,
    at: "s",
  })),
  {
    about: "a picked field of a result that can be `undefined`",
    module:
      "export function f(): { id: string } | undefined { return undefined; }\nexport function g(): { id: string; more: [string | undefined] } { throw 0; }",
    fires: `node a = f() into { id: out }`,
    near: `node a = g() into { id: out }`,
    finding: "NG408 channel `out` cannot hold the result of `f`: it can be `undefined`",
    at: "out",
  },
  {
    about: "a result that can be `undefined` in an expression",
    module:
      "export function f(x: string): string | undefined { return x; }\nexport function g(x: string): string | null { return x; }",
    fires: `node a = f("x") ?? "none" into out`,
    near: `node a = g("x") ?? "none" into out`,
    finding: "NG408 an expression cannot use the result of `f`: it can be `undefined`",
    at: 'f("x")',
  },
  {
    about: "a reducer that can return `undefined`",
    module:
      "export function f(a: string, b: string): string | undefined { return a + b; }\nexport function g(a: string, b: string): string { return a + b; }",
    fires: `state s: string = "" reduce f  node a = "x" into s  node b = s into out  a -> b`,
    near: `state s: string = "" reduce g  node a = "x" into s  node b = s into out  a -> b`,
    finding: "NG408 `reduce f` of a `string` cannot use the result of `f`: it can be `undefined`",
    at: "f",
  },
  {
    about: "a channel of a type with a function",
    module:
      "export interface Bad { run(): void }\nexport interface Good { runs: number }\nexport function f(x: unknown): string { return ''; }",
    fires: `input x: Bad  node a = f(x) into out`,
    near: `input x: Good  node a = f(x) into out`,
    finding: "NG408 channel `x` cannot hold `Bad`: `.run` is a function",
    at: "Bad",
  },
  {
    about: "a reducer of another type",
    module:
      "export function f(a: number, b: number): number { return a + b; }\nexport function g(a: string, b: string): string { return a + b; }",
    fires: `state s: string = "" reduce f  node a = "x" into s  node b = s into out  a -> b`,
    near: `state s: string = "" reduce g  node a = "x" into s  node b = s into out  a -> b`,
    finding: "NG408 `reduce f` of a `string` does not accept this value",
    at: "f",
  },
  {
    about: "JSDoc of JavaScript",
    path: "nodes.js",
    module:
      "/**\n * @param {string} x\n * @param {number} [n]\n * @returns {Promise<string>}\n */\nexport async function f(x, n) { return x; }",
    fires: `node a = f(5) into out`,
    near: `node a = f("5") into out`,
    finding: "NG408 argument `x` of `f` does not accept this value",
    at: "5",
  },
];

describe("signatures", () => {
  const find = ({ module, path = "nodes.ts", more = {} }: Case, statements: string): CompileResult["diagnostics"] => {
    const names = [...module.matchAll(/^export (?:async )?(interface|function|const) (\w+)/gm)];
    const used = names.filter(([, , name = ""]) => new RegExp(`\\b${name}\\b`).test(statements));
    const imports = [...new Set(used.map(([, kind, name]) => (kind === "interface" ? `type ${name}` : name)))].join(
      ", ",
    );
    const text = `import { ${imports} } from "./${path}"\ngraph main { output out: string = ""  start -> a  ${statements} }`;
    return compileWith(text, { [path]: module, ...more }).diagnostics.filter(({ severity }) => severity === "error");
  };

  it.each(CASES)("report $about", (item) => {
    const [found, ...others] = find(item, item.fires);
    expect(`${found?.code} ${found?.message}`).toContain(item.finding);
    expect(found === undefined ? "" : marked(found)).toBe(item.at);
    expect(explain(others)).toBe("");
  });

  it.each(CASES)("accept what is close to $about", (item) => {
    expect(explain(find(item, item.near))).toBe("");
  });

  it("show where the module declares them", () => {
    const item = CASES[0] as Case;
    const labels = find(item, item.fires)[0]?.labels ?? [];
    expect(labels.map(({ file, span }) => `${file.path}: ${file.text.slice(span.start, span.end)}`)).toEqual([
      "nodes.ts: limit: number",
    ]);
  });

  it("whose results have `null` in a part name the part in the advice", () => {
    const module = "export function f(): (string | null)[] { throw 0; }";
    const about = { about: "", module, fires: "", near: "", finding: "", at: "" };
    const help = (statements: string): string | undefined => find(about, statements)[0]?.help;
    expect(help(`state s: string[]  node a = f() into s  node b = \`\${s}\` into out  a -> b`)).toBe(
      "allow `null` at `[]` in the type of the channel, or let `f` return a value there",
    );
    expect(help(`state s: (string | null)[]  node a = f() into s  node b = \`\${s}\` into out  a -> b`)).toBe(
      undefined,
    );
  });

  it("of overloads count in their order", () => {
    const module = `export function f(x: string): string;
export function f(x: number): number;
export function f(x: string | number): string | number { return x; }`;
    const about = { about: "", module, fires: "", near: "", finding: "", at: "" };
    expect(explain(find(about, `node a = f("x") into out`))).toBe("");
    expect(find(about, `node a = f(1) into out`).map(({ code }) => code)).toEqual(["NG408"]);
    expect(find(about, `node a = f(true) into out`).map(({ code }) => code)).toEqual(["NG408"]);
  });

  const callOf = (module: string, statements = 'node a = f("x") into out'): unknown => {
    const text = `import { f } from "./nodes.ts"\ngraph main { output out: string = ""  start -> a  ${statements} }`;
    const { diagnostics, table } = compileWith(text, { "nodes.ts": module });
    expect(explain(diagnostics.filter(({ severity }) => severity === "error"))).toBe("");
    return table?.nodes[0]?.call;
  };

  it.each([
    "limit = 3",
    "limit = -3",
    "limit?: number",
    "options: { deep?: boolean } = {}",
    "...more: string[]",
    "limit: number | undefined = undefined, given?: unknown",
    "limit = LIMIT",
    "limit = TYPED",
    "limit = imported",
    "limit = LIMITS.most",
    "limit = LIMIT + 1",
    "limit = <number>(LIMIT as const)",
    "limit = one()",
    "parts = [LIMIT]",
    "format = (text: string) => text",
    "options = {}",
    "options = { deep: true }",
    "{ deep = true } = {}",
    "limit = LIMIT, given?: unknown",
  ])("receive no context as a value: %s", (parameter) => {
    const constants = `import { imported } from "./other.ts";
const LIMIT = 3;
const TYPED: number = one();
const LIMITS = { most: 3 };
function one(): number { return 1; }`;
    const call = callOf(`${constants}\nexport function f(x: string, ${parameter}): string { return x; }`);
    expect(call).toMatchObject({ withoutContext: true });
  });

  it.each([
    "",
    "given: { signal: AbortSignal }",
    "given?: { step: number }",
    "given?: unknown",
    "...given: unknown[]",
    "given?: Context",
    "given: NodeContext",
    "given = NONE",
    "given = {} as NodeContext",
    "given = undefined",
    "given = { step: 0 }",
    "{ signal = null, step = 0 } = {}",
  ])("may declare the context in other ways: %s", (parameter) => {
    const types = `import type { NodeContext, NodeContext as Context } from "ngraph/runtime";`;
    const none = "const NONE: NodeContext = null as never;";
    const call = callOf(`${types}\n${none}\nexport function f(x: string, ${parameter}): string { return x; }`);
    expect(call).not.toHaveProperty("withoutContext");
  });

  it("have the types of the constants that are their defaults", () => {
    const module = "const LIMIT = 3;\nexport function f(x: string, limit = LIMIT): string { return x + limit; }";
    const about = { about: "", module, fires: "", near: "", finding: "", at: "" };
    expect(explain(find(about, `node a = f("x", 4) into out`))).toBe("");
    expect(find(about, `node a = f("x", "4") into out`).map(({ code }) => code)).toEqual(["NG408"]);
  });

  it("receive no context as a parameter of another overload", () => {
    const implementation = "export function f(x: string, more?: unknown): string { return x; }";
    const first = "export function f(x: string): string;";
    const value = `${first}\nexport function f(x: string, limit: number): string;\n${implementation}`;
    expect(callOf(value)).toMatchObject({ withoutContext: true });
    const own = `${first}\nexport function f(x: string, given: NodeContext): string;\n${implementation}`;
    expect(callOf(own)).not.toHaveProperty("withoutContext");
  });

  const ITEMS = "{ id: float, name: string }";
  const NEVER_NUMBER = ["int", "int | null", "string[]"];
  it.each<[constraint: string, result: string, accepted: readonly string[], refused: readonly string[]]>([
    [
      "{ id: number }",
      "T",
      [ITEMS, `${ITEMS} | null`, "{ id: int }", "{ name: string }", "json"],
      ["{ id: string }", "string"],
    ],
    ["{ id: number }", "Promise<T | null>", [`${ITEMS} | null`], [ITEMS, "string | null"]],
    ["{ id: number }", "T[]", [`${ITEMS}[]`, "json[]"], [ITEMS, "{ id: string }[]", "string[]"]],
    ["{ id: number }", "{ item: T }", [`{ item: ${ITEMS} }`], ["{ item: string }", "{ other: string }"]],
    ["string", "T", ["string", "string | null", '"a" | "b"', "string | int"], NEVER_NUMBER],
    ["string", "Promise<T>", ["string"], NEVER_NUMBER],
    ["string[]", "T", ["string[]", '("a" | "b")[]'], ["int[]"]],
    ["string | number", "T", ["string", "int", "float"], ["bool"]],
    ["unknown", "T", ["string", "int", ITEMS], []],
    ["string, U extends number", "T | U", ["string | int", "int", "string"], []],
    ["string, U extends number", "[T, U]", ["(string | int)[]", "int[]"], ["int"]],
    ["U, U extends string", "T", ["string"], NEVER_NUMBER],
    ["Date", "T", [], ["json", "string"]],
  ])("with the result of a type parameter: <T extends %s>: %s", (constraint, result, accepted, refused) => {
    const module = `export function f<T extends ${constraint}>(value: string): ${result} { throw new Error(value); }`;
    const about = { about: "", module, fires: "", near: "", finding: "", at: "" };
    const plain = (type: string): unknown => find(about, `output one: ${type}  node a = f("x") into one  a -> end`);
    for (const type of accepted) expect([type, plain(type)]).toEqual([type, []]);
    for (const type of refused) expect([type, plain(type)]).toMatchObject([type, [{ code: "NG408" }]]);
  });

  it("with a field of a result of a type parameter", () => {
    const module = `export function f<T extends { id: number }>(value: string): T { throw new Error(value); }`;
    const about = { about: "", module, fires: "", near: "", finding: "", at: "" };
    const codes = (type: string, field: string): readonly string[] =>
      find(about, `output one: ${type}  node a = f("x") into { ${field}: one }  a -> end`).map(({ code }) => code);
    expect(codes("int", "id")).toEqual([]);
    expect(codes("string", "id")).toEqual(["NG408"]);
    expect(codes("string", "name")).toEqual([]);
  });

  it("of a `number` that becomes an int are left to the run", () => {
    const module = "export async function f(): Promise<number> { return 1; }";
    const about = { about: "", module, fires: "", near: "", finding: "", at: "" };
    const statements = "state n: int = 0  node a = f() into n  node b = `${n}` into out  a -> b";
    expect(explain(find(about, statements))).toBe("");
  });

  it.each([
    ["JavaScript without JSDoc", "nodes.js", "export function f() {}"],
    ["a variable with a type of its own", "nodes.ts", "export const f: Handler = () => 1;"],
    ["what is no function", "nodes.ts", "export const f = wrap(() => 1);"],
    ["a result without a type", "nodes.ts", "export function f(...all: unknown[]) { return 1; }"],
  ])("are unknown of %s", (_, path, module) => {
    const about = { about: "", module, path, fires: "", near: "", finding: "", at: "" };
    expect(explain(find(about, `node a = f("x", 5) into out`))).toBe("");
  });
});
