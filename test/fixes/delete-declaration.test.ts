/** The fixes of unused declarations (NG111, NG406) in both spellings: what they delete, and what stays. */
import { describe, expect, test } from "vitest";
import { compile } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/index.ts";
import { applyEdits } from "../../diagnostics/fixes/apply-edits.ts";
import { fixText } from "../../diagnostics/fixes/fix-text.ts";

const host = memoryHost({ "/p/m.ts": "export function act() {}\nexport function check() {}\n" });

const rest = `graph g {\n  node n = print("x")\n  start -> n\n}\n`;
const body = (statements: string): string => `graph g {\n${statements}  node n = print("x")\n  start -> n\n}\n`;
const yamlRest = `graph: g\nnodes:\n  n: { call: print, args: ['"x"'] }\nedges:\n  - start -> n\n`;
const yaml = (head: string): string => `${head}${yamlRest}`;
const used = `graph g {\n  node n = act()\n  start -> n\n}\n`;
const yamlUsed = `graph: g\nnodes:\n  n: { call: act }\nedges:\n  - start -> n\n`;

type Case = readonly [what: string, path: string, before: string, after: string];

const CASES: readonly Case[] = [
  ["an import", "a.ngraph", `import { act } from "./m.ts"\n${rest}`, rest],
  ["an import with its comment", "a.ngraph", `import { act } from "./m.ts" // old\n${rest}`, rest],
  [
    "the last name",
    "a.ngraph",
    `import { act, check } from "./m.ts"\n${used}`,
    `import { act } from "./m.ts"\n${used}`,
  ],
  [
    "the first name",
    "a.ngraph",
    `import { check, act } from "./m.ts"\n${used}`,
    `import { act } from "./m.ts"\n${used}`,
  ],
  [
    "a name on a line",
    "a.ngraph",
    `import {\n  act, // used\n  check,\n} from "./m.ts"\n${used}`,
    `import {\n  act, // used\n} from "./m.ts"\n${used}`,
  ],
  ["a renamed import", "a.ngraph", `import { act as other } from "./m.ts"\n${rest}`, rest],
  ["a secret with its documentation", "a.ngraph", `/// The key.\nsecret API_KEY\n${rest}`, rest],
  ["a derived name with its documentation", "a.ngraph", body("  /// Two.\n  derive two = 2 // why\n"), body("")],
  [
    "a derived name between others",
    "a.ngraph",
    "graph g { derive two = 2  node n = print(1)  start -> n }",
    "graph g {  node n = print(1)  start -> n }",
  ],
  ["a state", "a.ngraph", body("  state old: int = 3\n"), body("")],

  ["imports in flow style", "a.yaml", yaml("imports: { ./m.ts: [act] }\n---\n"), yaml("---\n")],
  ["imports in block style", "a.yaml", yaml("imports:\n  ./m.ts:\n    - act\n"), yamlRest],
  ["an import of one name", "a.yaml", yaml("imports: { ./m.ts: act }\n"), yamlRest],
  ["a quoted import", "a.yaml", yaml('"imports": { "./m.ts": ["act"] }\n'), yamlRest],
  [
    "a name of a list in flow style",
    "a.yaml",
    `imports: { ./m.ts: [check, act] }\n${yamlUsed}`,
    `imports: { ./m.ts: [act] }\n${yamlUsed}`,
  ],
  [
    "a quoted name",
    "a.yaml",
    `imports: { ./m.ts: ["act", "check"] }\n${yamlUsed}`,
    `imports: { ./m.ts: ["act"] }\n${yamlUsed}`,
  ],
  [
    "a name of a list in block style",
    "a.yaml",
    `imports:\n  ./m.ts:\n    - act\n    - check\n${yamlUsed}`,
    `imports:\n  ./m.ts:\n    - act\n${yamlUsed}`,
  ],
  ["secrets in flow style", "a.yaml", yaml("secrets: [API_KEY]\n"), yamlRest],
  ["secrets in block style", "a.yaml", yaml("secrets:\n- API_KEY\n"), yamlRest],
  ["secrets with documentation", "a.yaml", yaml("secrets:\n  - name: API_KEY\n    doc: The key.\n"), yamlRest],
  ["a secret", "a.yaml", yaml("secrets: API_KEY\n"), yamlRest],
  ["derived names", "a.yaml", `${yamlRest}derive:\n  two: 2 # why\n`, yamlRest],
  ["derived names with documentation", "a.yaml", `${yamlRest}derive: { two: { expr: 2, doc: Two. } }\n`, yamlRest],
  [
    "one of several states in block style",
    "a.yaml",
    `${yamlUsed.replace("call: act", "expr: kept + 1, into: kept")}state:\n  old: int\n\n  kept: { type: int, default: 1 }\n`,
    `${yamlUsed.replace("call: act", "expr: kept + 1, into: kept")}state:\n\n  kept: { type: int, default: 1 }\n`,
  ],
  [
    "a graph in flow style",
    "a.yaml",
    "{ graph: g, state: { old: int }, nodes: { n: { call: print, args: [1] } }, edges: [start -> n] }\n",
    "{ graph: g, nodes: { n: { call: print, args: [1] } }, edges: [start -> n] }\n",
  ],
];

const check = (path: string) => (text: string) => compile(text, { path: `/p/${path}`, host }).diagnostics;

describe("the fix deletes", () => {
  test.each(CASES)("%s (%s)", (_, path, before, after) => {
    const unused = check(path)(before).filter(({ code }) => code === "NG111" || code === "NG406");
    expect(unused).toHaveLength(1);
    expect(unused[0]?.fixes).toHaveLength(1);
    expect(applyEdits(before, unused[0]!.fixes[0]!.edits)).toBe(after);
    expect(
      check(path)(after)
        .map(({ code, message }) => `${code} ${message}`)
        .filter((each) => !each.startsWith("NG6")),
    ).toEqual(
      check(path)(before)
        .map(({ code, message }) => `${code} ${message}`)
        .filter((each) => !/^NG(?:111|406|6)/.test(each)),
    );
  });
});

test("all unused names go one after the other", () => {
  const before = `import { act, check } from "./m.ts"\n${body("  derive two = 2\n  derive three = 3\n  state old: int\n")}`;
  const inText = fixText(before, check("a.ngraph"));
  expect(inText.text).toBe(rest);
  const inYaml = fixText(
    yaml("imports: { ./m.ts: [act, check] }\nderive: { two: 2, three: 3 }\nstate: { old: int }\n"),
    check("a.yaml"),
  );
  expect(inYaml.text).toBe(yamlRest);
});

describe("no fix deletes", () => {
  test.each([
    ["an input, which callers give", body("  input name: string\n")],
    ["a memory, which holds values of earlier runs", body("  memory notes: string[] = []\n")],
    ["a name that a text in quotes mentions", body("  state old: string\n").replace('"x"', '"${old}"')],
  ])("%s", (_, text) => {
    const found = check("a.ngraph")(text).filter(({ code }) => code === "NG406");
    expect(found).toHaveLength(1);
    expect(found[0]?.fixes).toEqual([]);
  });
});
