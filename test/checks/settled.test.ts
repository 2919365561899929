/** Findings about `settled(…)`: misuse, with a fix where one is safe. */
import { describe, expect, test } from "vitest";
import { checkText } from "./support/check-text.ts";

function graph(edges: string, policies = ""): string {
  return `import { act, check } from "functions"
graph g {
  node a = act()
  node b = act()
  node c = act()${policies}
  start -> a, b
  ${edges}
}`;
}

function found(edges: string, policies = ""): readonly string[] {
  return checkText(graph(edges, policies)).diagnostics.flatMap(({ code, severity, message, help }) =>
    severity === "info" ? [] : [`${code}: ${message}${help === undefined ? "" : ` (${help})`}`],
  );
}

/** The edges after the first fix. */
function fixed(edges: string): string | undefined {
  const text = graph(edges);
  const fix = checkText(text).diagnostics.flatMap(({ fixes }) => fixes)[0];
  if (fix === undefined) return undefined;
  let result = text;
  for (const { span, text: use } of fix.edits) result = result.slice(0, span.start) + use + result.slice(span.end);
  return result.split("\n").at(-2)?.trim();
}

describe("`settled`", () => {
  test("with different members is sound", () => {
    expect(found("settled(a, b) -> c")).toEqual([]);
    expect(checkText(graph("settled(a, b) -> c")).verdict).toBe("sound");
  });

  test("with one member is an edge", () => {
    const edges = "settled(a) -> c\n  b -> end";
    expect(found(edges)).toEqual(["NG305: a barrier with one member waits for nothing (write `a -> …`)"]);
    expect(fixed("b -> end\n  settled(a) -> c")).toBe("a -> c");
  });

  test("with one member of several nodes waits for nothing either", () => {
    expect(found("settled(any(a, b)) -> c")).toContain(
      "NG305: a barrier with one member waits for nothing (to wait until each of them has signalled or cannot signal: `settled(a, b) -> …`)",
    );
    expect(fixed("settled(any(a, b)) -> c")).toBeUndefined();
  });

  test("with a repeated member", () => {
    expect(found("settled(a, b, a) -> c")).toEqual(["NG305: the barrier names `a` more than once (name `a` once)"]);
    expect(fixed("settled(a, b, a) -> c")).toBe("settled(a, b) -> c");
  });

  test("with a target as a member", () => {
    const message =
      "NG305: `c` is a member and a target of this `settled`: each of its runs would start it again (remove `c` from the members)";
    expect(found("settled(a, b, c) -> c")).toContain(message);
    expect(fixed("settled(a, b, c) -> c")).toBe("settled(a, b) -> c");
    expect(fixed("settled(c, a, b) -> c")).toBe("settled(a, b) -> c");
  });

  test("without members, with unknown members, and with `start`", () => {
    expect(found("settled() -> c")[0]).toBe(
      "NG301: this barrier can never be complete: `settled()` names no node (name the nodes to wait for: `settled(a, b) -> …`)",
    );
    expect(found("settled(a, nope) -> c")[0]).toMatch(/^NG101: unknown node `nope`/);
    expect(found("settled(a, start) -> c")[0]).toMatch(/^NG109: `start` cannot be a member of a barrier/);
  });

  test("into a node with `waits`, and with a condition", () => {
    expect(found("settled(a, b) -> c\n  a -> c\n  b -> c", " { waits a, b }")[0]).toBe(
      "NG117: `settled` into a node with `waits` is not supported (remove `waits` from `c`, or lead `settled` to another node that signals `c`)",
    );
    expect(found("settled(a, b) -> c when true")[0]).toMatch(/^NG117: a condition on a barrier is not supported/);
  });

  test("its name is reserved for nodes, not for channels", () => {
    expect(checkText("graph g { node settled = act()  start -> settled }").errors).toEqual(["NG107"]);
    expect(
      checkText("graph g { state settled: bool = false  node a = act() into settled  start -> a }").errors,
    ).toEqual([]);
  });

  test("waits for no member that cannot run, and for no arm that was not chosen", () => {
    expect(
      found(`a -> match check() { true -> b2  else -> c2 }
  node b2 = act()
  node c2 = act()
  settled(b2, c2, b) -> c`),
    ).toEqual([]);
  });

  test("stated twice is a duplicate, whatever the order of the members", () => {
    expect(found("settled(a, b) -> c\n  settled(b, a) -> c")[0]).toMatch(
      /^NG108: the edge from `settled\(b, a\)` to `c` is stated twice/,
    );
    expect(found("settled(a, b) -> c\n  all(b, a) -> c").filter((text) => text.startsWith("NG108"))).toEqual([]);
  });
});
