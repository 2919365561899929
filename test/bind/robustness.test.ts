import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bindProject } from "../../compiler/bind/bind-project.ts";
import { loadProject } from "../../compiler/load/load-project.ts";
import { memoryHost } from "../../compiler/load/host.ts";
import { bindText, explain, MODULES } from "./bind-text.ts";
import { REFERENCE_GRAPH } from "../support/reference-graph.ts";

/** A bit of everything. */
const RICH = `import { search, rank as sortThem, type Ticket } from "./nodes.ts"
import { other } from "./other.ngraph"
type Tree = { value: int, more: Tree[], label?: string | null }
type Kind = "a" | "b" | Tree
secret KEY
graph main {
  input kind: Kind
  input t: Ticket
  memory seen: map<int> reduce merge
  output out: json
  state tree: Tree = { value: 1, more: [{ value: -2, more: [] }] }
  state texts: string[] reduce append
  max parallel 4
  node one = search(first(texts) ?? "none", [x.value for x in tree.more if x.value > 0]) into texts { tries 2 goes two, end }
  node two = http(\`https://\${KEY}/\${len(texts)}\`, headers: { a: "b" }) into { status: out }
  node three = sortThem(item) for item in texts into texts { max parallel 2 timeout 1m }
  node four = other(q: kind == "a" ? 1 : 2) into { r: out }
  node five = matches(error?.message ?? "", "^a+$") && !("k" in seen) into out { waits one, two }
  start -> one when kind == "a" || kind == "b"
  start -> two otherwise
  one -> match { len(texts) > 3 -> three, four  else -> two }
  two -> five on error when error.attempts > 1
  all(any(one, two), three) -> five
  assert never one with two
}
`;
import { numRuns, scale, stride } from "../support/depth.ts";
const FILES = { ...MODULES, "other.ngraph": `graph other { input q: int output r: int node a = q into r start -> a }` };

describe("binding never throws", () => {
  const bind = (text: string): void => {
    const { diagnostics, graphs } = bindProject(
      loadProject(text, {
        path: "main.ngraph",
        host: memoryHost(FILES),
      }),
      { supports: ["plan", "test"] },
    );
    for (const item of diagnostics) {
      expect(item.span.start).toBeGreaterThanOrEqual(0);
      expect(item.span.end).toBeLessThanOrEqual(item.file.text.length);
    }
    // What tools do with graphs: print them.
    for (const { channels, nodes } of graphs)
      JSON.stringify([channels.map(({ type }) => type), nodes.map(({ result }) => result)]);
  };

  it("at any end of a text", () => {
    for (const text of [RICH, REFERENCE_GRAPH])
      for (let end = 0; end <= text.length; end += stride(3, 31)) bind(text.slice(0, end));
  });

  it("with tokens left out, doubled and swapped", () => {
    const tokens = RICH.match(/\s+|\w+|[^\w\s]/g) ?? [];
    fc.assert(
      fc.property(
        fc.array(fc.record({ at: fc.nat(tokens.length - 1), how: fc.constantFrom("drop", "double", "swap") }), {
          minLength: 1,
          maxLength: 4,
        }),
        fc.nat(tokens.length - 1),
        (edits, from) => {
          const copy = [...tokens];
          for (const { at, how } of edits) {
            if (how === "drop") copy[at] = "";
            else if (how === "double") copy[at] = `${copy[at] ?? ""} ${copy[at] ?? ""}`;
            else [copy[at], copy[from]] = [copy[from] ?? "", copy[at] ?? ""];
          }
          bind(copy.join(""));
        },
      ),
      { seed: 11, numRuns: numRuns(400) },
    );
  });

  it("with names that objects have", () => {
    const text = `type constructor = { __proto__: int, toString?: string }
graph __proto__ {
  input hasOwnProperty: constructor
  state valueOf: map<int> = { __proto__: 1 }
  node toString = hasOwnProperty.__proto__ + (valueOf["__proto__"] ?? 0) + len(valueOf.constructor == null ? "" : "x") into out
  output out: int
  node __defineGetter__ = print({ __proto__: out })
  start -> toString -> __defineGetter__
}`;
    expect(explain(bindText(text).diagnostics)).toBe("");
    const [graph] = bindText(text).graphs;
    expect(Object.entries(graph?.channels[1]?.initial ?? {})).toEqual([["__proto__", 1]]);
  });
});

describe("large graphs", () => {
  const count = scale(100_000, 20_000);
  const nodes = Array.from({ length: count }, (_, i) => `node n${i}=1`);

  it("a chain of many nodes", () => {
    const names = Array.from({ length: count }, (_, i) => `n${i}`);
    const { diagnostics, graphs } = bindText(`graph g {\n${nodes.join("\n")}\nstart -> ${names.join("->")}\n}`);
    expect(explain(diagnostics)).toBe("");
    expect(graphs[0]?.nodes).toHaveLength(count);
    expect(graphs[0]?.edges).toHaveLength(count);
  });

  it("many nodes side by side, before and after a barrier", () => {
    const names = Array.from({ length: count }, (_, i) => `n${i}`).join(",");
    const { diagnostics } = bindText(
      `graph g {\nstate x: int\nnode first = 1 into x\nnode last = print(x)\n${nodes.join("\n")}\nstart -> first\nfirst -> ${names}\nall(${names}) -> last\n}`,
    );
    expect(explain(diagnostics)).toBe("");
  });

  it("20,000 mistakes", () => {
    const edges = Array.from({ length: 20_000 }, (_, i) => `n${i} -> m${i}`);
    const { diagnostics } = bindText(`graph g {\n${nodes.slice(0, 20_000).join("\n")}\n${edges.join("\n")}\n}`);
    expect(diagnostics).toHaveLength(20_000);
  });

  it("a chain of 1,000 operators, and of 1,000 fields", () => {
    const sum = Array.from({ length: 990 }, () => "x").join(" + ");
    const fields = ".more".repeat(900);
    const text = `type T = { more: T }\ngraph g { input x: int input t: T node a = print(${sum}) node b = print(t${fields}) start -> a -> b }`;
    expect(explain(bindText(text).diagnostics)).toBe("");
  });

  it("long chains of types and graphs", () => {
    const length = scale(4990, 1000);
    const types = Array.from({ length }, (_, i) => `type A${i} = A${i + 1}[] | map<A${i + 1}>`);
    const graphs = Array.from({ length }, (_, i) => `graph g${i} { input x: A0 node a = g${i + 1}(x: x) start -> a }`);
    const last = `type A${length} = int\ngraph g${length} { input x: A0 node a = print(x) start -> a }`;
    expect(explain(bindText([...types, ...graphs, last].join("\n")).diagnostics)).toBe("");
  });
});
