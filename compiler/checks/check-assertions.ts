import { assertionProvenText } from "../../diagnostics/catalog/proofs.ts";
import { assertionViolated } from "../../diagnostics/catalog/reachability.ts";
import { type BoundAssertion, END_NAME, FINALLY } from "../bind/bound-graph.ts";
import { type Assertion, canAnswer, findViolation } from "../explore/assertions.ts";
import { END_TARGET } from "../control/net.ts";
import type { RunFinder } from "../explore/runs.ts";
import type { StateGraph } from "../explore/state-graph.ts";
import { type CheckContext, jumpReason } from "./check-context.ts";
import { shownRun } from "./check-soundness.ts";

export interface AssertionToCheck {
  readonly bound: BoundAssertion;
  readonly assertion: Assertion;
  /** The source text without the word `assert`. */
  readonly text: string;
}

export function assertionsOf(context: CheckContext): AssertionToCheck[] {
  if (context.graph.assertions.length === 0) return [];
  const indexOf = new Map(context.graph.nodes.map((node, index) => [node.name, index]));
  const seen = new Set<string>();
  /** By node: the number of its conditions so far. */
  const conditions = new Map<number, number>();
  const isRepeated = (text: string): boolean => seen.size === seen.add(text).size;
  return context.graph.assertions.flatMap((bound): AssertionToCheck[] => {
    const node = indexOf.get(bound.node);
    const other = bound.other === END_NAME ? END_TARGET : indexOf.get(bound.other ?? "");
    if (node === undefined || !isOfPart(context, bound)) return [];
    const item = (assertion: Assertion, text: string): AssertionToCheck[] =>
      isRepeated(text) ? [] : [{ bound, assertion, text }];
    switch (bound.form) {
      case "once":
      case "eventually":
        return item({ form: bound.form, node }, `${bound.form} ${bound.node}`);
      case "at": {
        if (bound.condition === undefined) return [];
        const condition = conditions.get(node) ?? 0;
        conditions.set(node, condition + 1);
        const { start, end } = bound.condition.span;
        const text = context.graph.file.text.slice(start, end).replace(/\s+/g, " ");
        return item({ form: "at", node, condition }, `${text} at ${bound.node}`);
      }
      case "before":
        if (other === undefined) return [];
        if (bound.each === true) {
          const text = `${bound.node} before each ${bound.other ?? ""}`;
          return item({ form: "before each", first: node, then: other }, text);
        }
        return item({ form: "before", first: node, then: other }, `${bound.node} before ${bound.other ?? ""}`);
      case "never":
        if (other === undefined) return [];
        return item({ form: "never", node, with: other }, `never ${bound.node} with ${bound.other ?? ""}`);
    }
  });
}

/** Whether the part of the graph decides the assertion. `docs/proofs.md` defines the meaning of each form. */
function isOfPart({ graph }: CheckContext, { form, node, other }: BoundAssertion): boolean {
  // `checkAcrossParts` reports it.
  if (form === "once" && graph.shared?.has(node) === true) return false;
  if (graph.entry !== FINALLY) return true;
  // `end` is the end of the main part, and a node that both parts reach runs "eventually" in the main part.
  return form === "before" ? other !== END_NAME : form !== "eventually" || graph.shared?.has(node) !== true;
}

/** Assertions that no part of the graph decides alone: nodes of two parts never share a step, and may run once in each. */
export function checkAcrossParts(context: CheckContext, ending: CheckContext): void {
  const decided = new Set([context, ending].flatMap((part) => assertionsOf(part).map(({ bound }) => bound)));
  for (const bound of context.graph.assertions) {
    if (decided.has(bound)) continue;
    const { form, node, other = "", declaration } = bound;
    const text = form === "once" ? `once ${node}` : `never ${node} with ${other}`;
    if (form === "never") context.prove("NG214", provenText({ bound, text }), declaration.span);
    if (form === "once") {
      const why = `\`${node}\` can run in the run and again in its \`finally\` part`;
      context.open.push({ property: `\`${text}\``, why });
    }
  }
}

/**
 * Reports NG213 for a violated assertion, and NG214 for a proven one. Returns the assertions that the state graph does
 * not decide.
 */
export function checkAssertions(
  context: CheckContext,
  assertions: readonly AssertionToCheck[],
  graph: StateGraph,
  finder: RunFinder,
): AssertionToCheck[] {
  const open: AssertionToCheck[] = [];
  for (const item of assertions) {
    if (!canAnswer(graph, item.assertion)) {
      open.push(item);
      continue;
    }
    const run = findViolation(graph, item.assertion, finder);
    if (run !== undefined) {
      const isOpen = !run.feasible || context.model.jumps === "any";
      const property = `\`${item.text}\``;
      if (!isOpen) context.refuted.add(property);
      else if (!context.refuted.has(property)) context.open.push({ property, why: jumpReason(context) ?? UNDECIDED });
      context.reportFinding(
        assertionViolated(context.place(item.bound.declaration.span), {
          assertion: item.text,
          why: explain(item),
          severity: run.feasible ? "error" : "warning",
          run: shownRun(graph, run, endOfTrace(item)),
          undecided: !run.feasible,
          isOpen,
        }),
        run,
      );
    } else if (graph.complete) context.prove("NG214", provenText(item), item.bound.declaration.span);
    else open.push(item);
  }
  return open;
}

/** The words of a proof. `a before b` is about the first run of b. Readers could think that it is about each run. */
export function provenText({ bound, text }: Pick<AssertionToCheck, "bound" | "text">): string {
  const isFirst = bound.form === "before" && bound.each !== true && bound.other !== END_NAME;
  return assertionProvenText({ assertion: text, first: isFirst ? bound.other : undefined });
}

const UNDECIDED = "the conditions on the run that would violate it could not be decided";

function explain({ bound }: AssertionToCheck): string {
  const other = `\`${bound.other ?? ""}\``;
  switch (bound.form) {
    case "before":
      if (bound.each === true) return `${other} can run although \`${bound.node}\` has not run since ${other} last ran`;
      return bound.other === END_NAME
        ? `a branch can end without \`${bound.node}\``
        : `${other} can run without \`${bound.node}\` before it`;
    case "at":
      return `\`${bound.node}\` can start while the condition does not hold`;
    case "once":
      return `\`${bound.node}\` can run again`;
    case "eventually":
      return `a run can complete without \`${bound.node}\``;
    case "never":
      return `\`${bound.node}\` and ${other} can run in the same step`;
  }
}

function endOfTrace({ bound }: AssertionToCheck): string {
  if (bound.form === "eventually") return "completed";
  return bound.other === END_NAME ? "end" : "";
}
