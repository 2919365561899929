import { describe, expect, it } from "vitest";
import { checkText } from "./support/check-text.ts";

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const graph = (lines: readonly string[]): string => `graph large {\n${lines.join("\n")}\n}`;

/** Parallel branches, each with a choice of its own between one step and two: too many states to explore. */
function parallelChoices(count: number): string[] {
  return [
    ...range(count).flatMap((i) => [
      `state done${i}: bool = false`,
      `node a${i} = check() into done${i}`,
      `node b${i} = act()`,
      `node c${i} = act()`,
      `node d${i} = act()`,
      `a${i} -> b${i} when done${i}`,
      `a${i} -> c${i} otherwise`,
      `c${i} -> d${i}`,
    ]),
    "node join = act()",
    `start -> ${range(count)
      .map((i) => `a${i}`)
      .join(", ")}`,
    `all(${range(count)
      .map((i) => `any(b${i}, d${i})`)
      .join(", ")}) -> join`,
    "join -> end",
  ];
}

describe("graphs with many parallel choices", () => {
  it("are proven sound without looking at every combination", () => {
    const { findings, proofs } = checkText(graph(parallelChoices(30)));
    expect(findings).toEqual([]);
    expect(proofs).toContain("NG310");
  });
  it("have their assertions proven or refuted", () => {
    const assertions = [
      "assert join before end",
      "assert once join",
      "assert eventually join",
      "assert never b3 with c3",
    ];
    const { findings, proofs } = checkText(graph([...parallelChoices(25), ...assertions]));
    expect(findings).toEqual([]);
    expect(proofs.filter((code) => code === "NG214")).toHaveLength(4);
  });
  it("are not reported as sound when one branch never signals", () => {
    const lines = parallelChoices(25).map((line) => (line === "c7 -> d7" ? "c7 -> end" : line));
    const { findings, proofs } = checkText(
      graph(lines.filter((line) => line !== "node d7 = act()").map((line) => line.replace("any(b7, d7)", "b7"))),
    );
    expect(proofs).not.toContain("NG310");
    expect(findings.some((code) => code === "NG302" || code === "NG900")).toBe(true);
  });
  it("say so (NG900) when a proof would take too long", () => {
    const counters = range(14).flatMap((i) => [
      `state n${i}: int = 0`,
      `node count${i} = n${i} + 1 into n${i}`,
      `node last${i} = act()`,
      `count${i} -> count${i} when n${i} < ${i + 2}`,
      `count${i} -> last${i} otherwise`,
    ]);
    const names = range(14).map((i) => `last${i}`);
    const { findings, proofs } = checkText(
      graph([
        ...counters,
        "node join = act()",
        `start -> ${range(14)
          .map((i) => `count${i}`)
          .join(", ")}`,
        `all(${names.join(", ")}) -> join`,
        "join -> end",
      ]),
      { maxStates: 5 },
    );
    expect(findings).toContain("NG900");
    expect(proofs).not.toContain("NG310");
  });
});

describe("large graphs", () => {
  it("are checked without running out of stack", () => {
    const names = range(5000).map((i) => `n${i}`);
    const nodes = names.map((name) => `node ${name} = act()`);
    const shapes: readonly (readonly string[])[] = [
      ["limit steps none", `start -> ${names.join(" -> ")}`],
      [`start -> ${names.join(", ")}`],
      [`start -> ${names.join(", ")}`, "node join = act()", `all(${names.join(", ")}) -> join`],
      [`start -> ${names.join(" -> ")} -> n0`],
      ["start -> n0"],
    ];
    const found = shapes.map((edges) => checkText(graph([...nodes, ...edges])).errors);
    expect(found.map((errors) => [...new Set(errors)])).toEqual([[], [], [], ["NG204"], ["NG201"]]);
  });
  it("have as many choices at one node as they like", () => {
    const values = range(1000).map((i) => `"v${i}"`);
    const { findings, proofs } = checkText(
      graph([
        `state kind: ${values.join(" | ")}`,
        "node sort = check() into kind",
        ...range(1000).map((i) => `node n${i} = act()`),
        "start -> sort",
        `sort -> match kind { ${values.map((value, i) => `${value} -> n${i}`).join("  ")} }`,
      ]),
    );
    expect(findings).toEqual([]);
    expect(proofs).toContain("NG310");
  });
});
