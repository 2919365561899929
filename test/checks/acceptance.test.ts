import { describe, expect, it } from "vitest";
import { checkText } from "./support/check-text.ts";
import { REFERENCE_GRAPH } from "../support/reference-graph.ts";

describe("one problem, one error", () => {
  it("a typo in a node name is NG101", () => {
    const { errors } = checkText(`
      graph g { node draft = act()  node send = act()  start -> drafft  draft -> send  send -> end }`);
    expect(errors).toEqual(["NG101"]);
  });
  it("a missing start edge is NG103", () => {
    const { errors } = checkText(`
      graph g { node draft = act()  node send = act()  draft -> send  send -> end }`);
    expect(errors).toEqual(["NG103"]);
  });
  it("a loop without an exit is NG204", () => {
    const { errors } = checkText(`
      graph g { node a = act()  node b = act()  node c = act()  start -> a -> b -> c  c -> b }`);
    expect(errors).toEqual(["NG204"]);
  });
  it("a barrier over two arms of one match is NG301", () => {
    const { errors, diagnostics } = checkText(`
      graph review {
        state verdict: "ok" | "bad"
        node triage = act() into verdict
        node legal = act()
        node rewrite = act()
        node publish = act()
        start -> triage
        triage -> match verdict { "ok" -> legal  "bad" -> rewrite }
        all(legal, rewrite) -> publish
        publish -> end
      }`);
    expect(errors).toEqual(["NG301"]);
    const found = diagnostics.find((diagnostic) => diagnostic.code === "NG301");
    expect(found?.labels).toHaveLength(2);
    expect(found?.trace?.map((step) => step.ran)).toEqual([["triage"], ["legal"]]);
    expect(found?.traceEnd).toBe("stuck: publish has 1 of 2 (waits for rewrite)");
  });
});

it("the showcase of the language has no error and no warning, and is proven sound", () => {
  const { diagnostics, proofs } = checkText(REFERENCE_GRAPH.replace("./nodes.ts", "nodes"));
  expect(diagnostics.filter((diagnostic) => diagnostic.severity !== "info")).toEqual([]);
  expect(proofs).toContain("NG310");
});
