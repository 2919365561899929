/** The fixes of edges and channels in each style of YAML: edges as strings and as maps, in block and flow style, with and without quotes. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { compile } from "../../compiler/compile.ts";
import { applyEdits } from "../../diagnostics/fixes/apply-edits.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import type * as Ast from "../../grammar/ast.ts";
import { convert } from "../../grammar/convert.ts";
import { parse } from "../../grammar/parse.ts";

const FIXED = ["NG211", "NG301", "NG302", "NG305", "NG307", "NG316", "NG401", "NG501", "NG506", "NG515"];
const directory = join(import.meta.dirname, "fixtures");
const fixtures = readdirSync(directory)
  .filter((file) => file.endsWith("-fires.ngraph"))
  .map((file) => [file, readFileSync(join(directory, file), "utf8")] as const)
  .filter(([, text]) => convert(text, { to: "yaml" }).lost.length === 0)
  .filter(([, text]) => compile(text, { path: "/p/a.ngraph" }).diagnostics.some(({ fixes }) => fixes.length > 0));
/** Fixes that the fixtures have no case for. */
const more = [
  [
    "a list that two write in one step",
    `import { act } from "functions"
graph g {
  output out: json
  state found: string[]
  node x = ["a"] into found
  node y = ["b"] into found
  node z = act(found) into out
  start -> x, y
  all(x, y) -> z
}`,
  ],
  [
    "a list with a start value that two write in one step",
    `import { act } from "functions"
graph g {
  output out: json
  state found: string[] = []
  node x = ["a"] into found
  node y = ["b"] into found
  node z = act(found) into out
  start -> x, y
  all(x, y) -> z
}`,
  ],
  [
    "parallel arms that meet",
    `import { act } from "functions"
graph g {
  node x = act()
  node x2 = act()
  node y = act()
  node j = act()
  start -> x, y
  x -> x2
  x2 -> j
  y -> j
}`,
  ],
  [
    "a repeated member",
    `import { act } from "functions"
graph g {
  node x = act()
  node y = act()
  node z = act()
  start -> x, y
  all(x, y, x) -> z
}`,
  ],
] as const;

const STYLES = (["block", "flow"] as const).flatMap((collectionStyle) =>
  (["PLAIN", "QUOTE_DOUBLE", "QUOTE_SINGLE"] as const).flatMap((defaultStringType) =>
    (["strings", "maps"] as const).map((edges) => ({ collectionStyle, defaultStringType, edges })),
  ),
);

const names = (nodes: readonly Ast.Identifier[]): string[] => nodes.map(({ name }) => name);

/** An edge as a map. */
function mapOf({ source, chain, to }: Ast.EdgeDecl, text: string): object {
  const slice = ({ span }: Ast.Expr): string => text.slice(span.start, span.end);
  const from =
    source.kind === "NodeList"
      ? source.nodes.length === 1
        ? { from: source.nodes[0]!.name }
        : { any: names(source.nodes) }
      : {
          [source.kind === "AllOf" ? "all" : "settled"]: source.members.map((member) =>
            member.kind === "AnyOf" ? { any: names(member.nodes) } : member.name,
          ),
        };
  const head = { ...from, ...(chain.length === 0 ? {} : { via: names(chain) }) };
  if (to.kind === "Targets") {
    const guard =
      to.guard?.kind === "When"
        ? { when: slice(to.guard.condition) }
        : to.guard?.kind === "Otherwise"
          ? { otherwise: true }
          : {};
    return { ...head, to: names(to.nodes), ...(to.onError ? { "on error": true } : {}), ...guard };
  }
  if (to.kind === "MatchValue") {
    const arms = to.arms.map(({ patterns, targets }) =>
      patterns.length === 0 ? { else: names(targets) } : { is: patterns.map(({ value }) => value), to: names(targets) },
    );
    return { ...head, match: slice(to.subject), arms };
  }
  const arms = to.arms.map(({ condition, targets }) =>
    condition === undefined ? { else: names(targets) } : { when: slice(condition), to: names(targets) },
  );
  return { ...head, arms };
}

function inStyle(text: string, { edges, ...style }: (typeof STYLES)[number]): string {
  const graph = parse(text).file.items.find((item) => item.kind === "Graph");
  const declared = graph!.statements.filter((statement) => statement.kind === "Edge");
  const documents = parseAllDocuments(convert(text, { to: "yaml" }).text).map((each) => each.toJS() as object);
  return documents
    .map((document) => {
      if (!("graph" in document)) return document;
      const written = declared.map((edge) =>
        edges === "maps" ? mapOf(edge, text) : text.slice(edge.span.start, edge.span.end).replaceAll(/\s*\n\s*/g, "  "),
      );
      return { ...document, edges: written };
    })
    .map((document) => stringify(document, { ...style, lineWidth: 0 }))
    .join("---\n");
}

const check = (text: string): readonly Diagnostic[] => compile(text, { path: "/p/a.ngraph.yaml" }).diagnostics;
const errorsOf = (found: readonly Diagnostic[]): string[] =>
  found.flatMap(({ severity, code, message }) => (severity === "error" ? [`${code} ${message}`] : []));

describe.each(STYLES)("edges as $edges, $collectionStyle, $defaultStringType:", (style) => {
  const swept = new Set<string>();

  test.each([...fixtures, ...more])("%s", (_, source) => {
    const text = inStyle(source, style);
    const before = check(text);
    for (const { code, fixes } of before) {
      for (const fix of fixes) {
        const changed = applyEdits(text, fix.edits);
        const after = check(changed);
        swept.add(code);
        const left = (found: readonly Diagnostic[]): number => found.filter((each) => each.code === code).length;
        expect(left(after), `${fix.title}\n${changed}`).toBeLessThan(left(before));
        expect(
          errorsOf(after).filter((error) => !errorsOf(before).includes(error)),
          `${fix.title}\n${changed}`,
        ).toEqual([]);
      }
    }
  });

  test("every code has a fix", () => {
    expect(FIXED.filter((code) => !swept.has(code))).toEqual([]);
  });
});

describe("the edit keeps what is around it:", () => {
  const graph = (edges: string): string => `imports: { functions: [act, check] }
---
graph: g
state:
  kind: '"a" | "b" | "c: d"'
nodes:
  sort: { call: check, into: kind }
  work: { call: act }
edges:${edges}`;

  test.each<readonly [what: string, code: string, before: string, after: string]>([
    [
      "a comment after the last arm",
      "NG501",
      `
  - start -> sort
  - from: sort
    match: kind
    arms:
      - is: a
        to: work # done
      - is: b
        to: end # left
`,
      `
  - start -> sort
  - from: sort
    match: kind
    arms:
      - is: a
        to: work # done
      - is: b
        to: end # left
      - { is: "c: d", to: end }
`,
    ],
    [
      "arms of a string get quotes that they need",
      "NG501",
      `
  - start -> sort
  - sort -> match kind { "a" -> work  "b" -> end } # left
`,
      `
  - start -> sort
  - 'sort -> match kind { "a" -> work  "b" -> end  "c: d" -> end }' # left
`,
    ],
    [
      "a block scalar",
      "NG501",
      `
  - start -> sort
  - >-
    sort -> match kind {
      "a" -> work
      "b" -> end
    }
`,
      `
  - start -> sort
  - >-
    sort -> match kind {
      "a" -> work
      "b" -> end
      "c: d" -> end
    }
`,
    ],
    [
      "a comment after an edge",
      "NG501",
      `
  - start -> sort
  - { from: sort, to: work, when: kind == "a" } # done
  - work -> end
`,
      `
  - start -> sort
  - { from: sort, to: work, when: kind == "a" } # done
  - sort -> end otherwise
  - work -> end
`,
    ],
    [
      "a list in flow style",
      "NG305",
      " [start -> sort, settled(sort) -> work, work -> end]\n",
      " [start -> sort, sort -> work, work -> end]\n",
    ],
  ])("%s", (_, code, before, after) => {
    const text = graph(before);
    const fix = check(text).find((found) => found.code === code)?.fixes[0];
    expect(applyEdits(text, fix?.edits ?? [])).toBe(graph(after));
  });

  test("no fix where the style is not clear", () => {
    const text = graph("\n  - start -> sort\n  - &anchor settled(sort) -> work\n  - work -> end\n");
    expect(check(text).find(({ code }) => code === "NG305")?.fixes).toEqual([]);
  });
});

test.each(["\n", "\r\n"])(
  "an edge that ends in a block scalar keeps the next entry on its own line (%j)",
  (lineEnd) => {
    const source = `import { act } from "functions"
graph g {
  input kind: string
  node sort = act()
  node work = act()
  start -> sort
  sort -> work when kind == "a"
  work -> end
}`;
    const string = /- \{ from: sort, .*\n/;
    const map = '- from: sort\n    to: work\n    when: >-\n      kind == "a"\n';
    const inYaml = convert(source, { to: "yaml" }).text;
    expect(inYaml).toMatch(string);
    const text = inYaml.replace(string, map).replaceAll("\n", lineEnd);
    const found = check(text).find(({ code }) => code === "NG501");
    expect(found?.fixes.length).toBeGreaterThan(0);
    for (const { edits } of found!.fixes) {
      expect(errorsOf(check(applyEdits(text, edits)))).toEqual([]);
    }
  },
);

test("the line of an edge that a fix deletes goes with its line end", () => {
  const text = `import { act } from "functions"
graph g {
  node x = act()
  node y = act()
  node x2 = act()
  node j = act()
  start -> x, y
  x -> x2
  x2 -> j
  y -> j
}
`.replaceAll("\n", "\r\n");
  const fixes = compile(text, { path: "/p/a.ngraph" }).diagnostics.flatMap(({ fixes: all }) => all);
  const join = fixes.find(({ edits }) => edits.length > 1);
  expect(join).toBeDefined();
  expect(applyEdits(text, join!.edits)).not.toMatch(/\r\n[ \t]*\r\n/);
});
