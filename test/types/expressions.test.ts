import { describe, expect, it } from "vitest";
import { bindProject } from "../../compiler/bind/bind-project.ts";
import { loadProject } from "../../compiler/load/load-project.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { librarySignatures } from "../../compiler/expressions/library-signatures.ts";
import { typeToText } from "../../compiler/types/type-text.ts";
import { compileExpression } from "../../runtime/expression/compile-expression.ts";
import { library } from "../../runtime/expression/library.ts";
import type { Json } from "../../runtime/value/json.ts";

/** Channels, their types and the values that expressions are evaluated with. */
const CHANNELS: readonly (readonly [name: string, type: string, value: Json])[] = [
  ["n", "int", 7],
  ["x", "float", 2.5],
  ["s", "string", "hello"],
  ["flag", "bool", true],
  ["data", "json", { any: 1 }],
  ["xs", "string[]", ["b", "a", "b"]],
  ["ns", "int[]", [3, 1, 2]],
  ["m", "map<int>", { a: 1, b: 2 }],
  ["kind", `"bug" | "idea"`, "idea"],
  ["maybe", "string | null", null],
  ["user", "User", { name: "Ada", boss: null }],
  ["shape", "Circle | Square", { kind: "square", side: 2 }],
  ["users", "User[]", [{ name: "Ada", age: 36, boss: null }]],
];
const TYPES = `type User = { name: string, age?: int, boss: User | null }
type Circle = { kind: "circle", r: float }
type Square = { kind: "square", side: float }
`;

function bindExpression(text: string): { type: string; value: Json; errors: string[] } {
  const inputs = CHANNELS.map(([name, type]) => `  input ${name}: ${type}`).join("\n");
  const source = `import { f } from "./nodes.ts"\n${TYPES}graph g {\n${inputs}\n  output out: json\n  node calc = ${text} into out\n  start -> calc\n}`;
  const host = memoryHost({ "nodes.ts": "export function f(x: unknown) {}" });
  const { graphs, diagnostics } = bindProject(loadProject(source, { path: "main.ngraph", host }));
  const errors = diagnostics.flatMap(({ severity, code }) => (severity === "error" ? [code] : []));
  const call = graphs[0]?.nodes[0]?.call;
  if (call?.kind !== "expression") throw new Error(`no expression: ${text}`);
  const { expression, type } = call.expression;
  const evaluate = compileExpression(expression, { functions: [(value: Json) => value] });
  const state = CHANNELS.map(([, , value]) => value);
  return { type: typeToText(type), value: errors.length === 0 ? evaluate({ state }) : null, errors };
}

describe("the type of an expression, and its value", () => {
  it.each<[string, string, Json]>([
    [`1`, `1`, 1],
    [`1.0`, `float`, 1],
    [`-0.5`, `-0.5`, -0.5],
    [`2m`, `120000`, 120_000],
    [`"a"`, `"a"`, "a"],
    [`\`a\``, `"a"`, "a"],
    ["`a${n}`", "string", "a7"],
    ["`${maybe}${xs}`", "string", 'null["b","a","b"]'],
    [`true`, `true`, true],
    [`null`, `null`, null],
    [`[]`, `never[]`, []],
    [`[1, "a", null]`, `(1 | "a" | null)[]`, [1, "a", null]],
    [`[...xs, "z"]`, `string[]`, ["b", "a", "b", "z"]],
    [`[...ns, ...(maybe == null ? [] : [maybe])]`, `(int | string)[]`, [3, 1, 2]],
    [
      `{ ...user, age: 1, ok: true }`,
      `{ name: string, age: 1, boss: User | null, ok: true }`,
      { name: "Ada", boss: null, age: 1, ok: true },
    ],
    [`{ age: 1, ...user }`, `{ age: int, name: string, boss: User | null }`, { age: 1, name: "Ada", boss: null }],
    [`{ ...m, c: 3 }`, `map<int>`, { a: 1, b: 2, c: 3 }],
    [
      `{ ...shape, id: 1 }`,
      `{ kind: "circle", r: float, id: 1 } | { kind: "square", side: float, id: 1 }`,
      { kind: "square", side: 2, id: 1 },
    ],
    [`first(xs)!`, `string`, "b"],
    [`flag ? n : fail("no")`, `int`, 7],
    [`[i for x, i in xs if x != "a"]`, `int[]`, [0, 2]],
    [`[x + y for x in xs for y in xs if x == y]`, `string[]`, ["bb", "bb", "aa", "bb", "bb"]],
    [`[xs[i] + "!" for x, i in xs]`, `string[]`, ["b!", "a!", "b!"]],
    [`[ns[i] != null ? ns[i] + 1 : 0 for x, i in xs]`, `int[]`, [4, 2, 3]],
    [`xs[n] != null ? xs[n] + "!" : "none"`, `string`, "none"],
    [`len(xs) > 2 ? xs[2] + "!" : "none"`, `string`, "b!"],
    [`len(xs) == 3 ? xs[0] + xs[2] : "none"`, `string`, "bb"],
    [`0 != len(xs) && first(xs) + last(xs) == "bb"`, `bool`, true],
    [`last(xs) != null ? last(xs) + first(xs) : "none"`, `string`, "bb"],
    [`[xs[i] + "!" for y, i in ns if i < len(xs)]`, `string[]`, ["b!", "a!", "b!"]],
    [`n >= 0 && n < len(xs) ? xs[n] + "!" : "none"`, `string`, "none"],
    [`slice(xs, 1)`, `string[]`, ["a", "b"]],
    [`slice(s, 0, -1)`, `string`, "hell"],
    [`flat([ns, [4]])`, `int[]`, [3, 1, 2, 4]],
    [
      `entries(m)`,
      `{ key: string, value: int }[]`,
      [
        { key: "a", value: 1 },
        { key: "b", value: 2 },
      ],
    ],
    [`fromEntries([{ key: x, value: len(x) } for x in xs])`, `map<int>`, { b: 1, a: 1 }],
    [`parseInt(s)`, `int | null`, null],
    [`some([x == "a" for x in xs])`, `bool`, true],
    [`fromJson("[1]")`, `json`, [1]],
    [`{ a: n, b: xs }`, `{ a: int, b: string[] }`, { a: 7, b: ["b", "a", "b"] }],
    [`n + 1`, `int`, 8],
    [`n + x`, `float`, 9.5],
    [`n / 7`, `float`, 1],
    [`n % 4 - -n * 2`, `int`, 17],
    [`-n`, `int`, -7],
    [`-x`, `float`, -2.5],
    [`s + "!"`, `string`, "hello!"],
    [`n > x && !flag || s >= "a"`, `bool`, true],
    [`flag ? n : s`, `int | string`, 7],
    [`flag ? 1 : 2`, `1 | 2`, 1],
    [`maybe ?? "none"`, `string`, "none"],
    [`maybe == null ? "" : upper(maybe)`, `string`, ""],
    [`maybe != null && len(maybe) > 3`, `bool`, false],
    [`kind == "bug" ? 1 : kind == "idea" ? 2 : 3`, `1 | 2 | 3`, 2],
    [`"a" in m`, `bool`, true],
    [`"a" in xs`, `bool`, true],
    [`kind in ["bug"]`, `bool`, false],
    [`xs[0]`, `string | null`, "b"],
    [`xs[-1] ?? ""`, `string`, "b"],
    [`m["z"]`, `int | null`, null],
    [`m.a`, `int | null`, 1],
    [`user.name`, `string`, "Ada"],
    [`user["name"]`, `string`, "Ada"],
    [`user.age`, `int | null`, null],
    [`user.boss?.name`, `string | null`, null],
    [`user.boss?.boss?.age ?? 0`, `int`, 0],
    [`shape.kind`, `"circle" | "square"`, "square"],
    [`shape.kind == "circle" ? shape.r : shape.side`, `float`, 2],
    [`shape.kind != "square" ? shape : null`, `Circle | null`, null],
    [`[u.name for u in users if u.age != null && u.age > 30]`, `string[]`, ["Ada"]],
    [`[n for n in xs]`, `string[]`, ["b", "a", "b"]],
    [`[[x * 2 for x in ns] for y in xs if y == "a"]`, `int[][]`, [[6, 2, 4]]],
    [`len(xs) + len(s) + len(m) + len(user)`, `int`, 12],
    [`first(xs)`, `string | null`, "b"],
    [`last(ns)`, `int | null`, 2],
    [`contains(s, "ell")`, `bool`, true],
    [`contains(ns, 4)`, `bool`, false],
    [`startsWith(s, "he") && endsWith(s, "lo")`, `bool`, true],
    [`upper(lower(trim(s)))`, `string`, "HELLO"],
    [`split("a,b", ",")`, `string[]`, ["a", "b"]],
    [`join(ns, "-")`, `string`, "3-1-2"],
    [`keys(m)`, `string[]`, ["a", "b"]],
    [`values(m)`, `int[]`, [1, 2]],
    [`sum(ns)`, `int`, 6],
    [`sum([n, x])`, `float`, 9.5],
    [`min(ns)`, `int | null`, 1],
    [`max(n, x)`, `float`, 7],
    [`abs(-n)`, `int`, 7],
    [`round(x)`, `int`, 3],
    [`range(3)`, `int[]`, [0, 1, 2]],
    [`unique(xs)`, `string[]`, ["b", "a"]],
    [`sort(ns)`, `int[]`, [1, 2, 3]],
    [`matches(s, "^h.*o$")`, `bool`, true],
    [`[f(n)]`, `ReturnType<typeof f>[]`, [7]],
    [`flag && f(true)`, `bool`, true],
    [`data`, `json`, { any: 1 }],
    [`data == "x" ? data : ""`, `"x" | ""`, ""],
  ])("%s is %s", (text, type, value) => {
    const found = bindExpression(text);
    expect(found.errors).toEqual([]);
    expect(found.type).toBe(type);
    expect(found.value).toEqual(value);
  });

  it("the library that is typed is the one that runs", () => {
    expect([...librarySignatures.keys()].sort()).toEqual(Object.keys(library).sort());
  });
});
