import { expect, test } from "vitest";
import { createOutputTails } from "../../cli/plan/output-tails.ts";
import type { PlanEvent } from "../../runtime/plan/plan-events.ts";

const base = { seq: 0, ts: "", run_id: "r" };
const transition = (node_id: string): PlanEvent => ({
  ...base,
  type: "node_transition",
  node_id,
  from: "ready",
  to: "running",
});

test.each([
  ["one\ntwo\n", "two"],
  ["one\n\n  \n", "one"],
  ["10 %\r50 %\r100 %\n", "100 %"],
  ["100 %\r\n", "100 %"],
  ["\u001b[31mred\u001b[0m\n", "red"],
  ["done\u001b[2K\u001b[1A\n", "done"],
  ["\u202Ename\u0007\n", "\\u{202e}name\\u{0007}"],
  [`${"x".repeat(1_000_000)}\n`, "x".repeat(1000)],
  ["\n \n", undefined],
  ["", undefined],
])("the last line of %j", (text, line) => {
  const tails = createOutputTails();
  tails.onText("a", text);
  expect(tails.lastLine("a")).toBe(line);
});

test("of a task, its checks, and what it calls, in the current attempt", () => {
  const tails = createOutputTails();
  tails.onText("a", "first\n");
  tails.onText("a check 12", "checked\n");
  expect(tails.lastLine("a")).toBe("checked");
  tails.onText("b/m[x]/c", "deep\n");
  expect([tails.lastLine("b"), tails.lastLine("b/m[x]"), tails.lastLine("b/m[x]/c")]).toEqual(["deep", "deep", "deep"]);
  tails.onEvent({
    ...base,
    type: "node_attempt",
    node_id: "a",
    attempt: 1,
    duration_s: 0,
    converged: false,
    done_when_results: [],
  });
  tails.onEvent(transition("b"));
  expect([tails.lastLine("a"), tails.lastLine("b")]).toEqual([undefined, undefined]);
});

test("a text of many empty lines takes time that grows with it", () => {
  const tails = createOutputTails();
  tails.onText("a", `x\n${"\n".repeat(500_000)}`);
  expect(tails.lastLine("a")).toBe("x");
});
