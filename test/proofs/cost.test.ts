/** Limits of the search that bound the cost of a check. */
import { describe, expect, it } from "vitest";
import { controlModel } from "../../compiler/explore/build-model.ts";
import { explore } from "../../compiler/explore/explore.ts";
import { outcomesOf } from "../../compiler/explore/outcomes.ts";
import { transitionsFrom } from "../../compiler/explore/step-transitions.ts";
import { driftingBranches } from "../../bench/support/proof-graphs.ts";
import { bindText } from "../checks/support/bind-text.ts";

describe("a search that reaches its limit of states", () => {
  const { graphs } = bindText(driftingBranches(8));
  const model = controlModel(graphs[0]!);
  let computed = 0;
  const found = explore(model, outcomesOf(model), {
    data: true,
    maxStates: 20,
    stepsFrom: (context, state) => {
      computed++;
      return transitionsFrom(context, state);
    },
  });

  it("computes no steps of states that it has not explored", () => {
    const explored = computed;
    expect(found.complete).toBe(false);
    expect(found.states.length).toBeGreaterThan(found.successors.length);
    for (const { id } of found.states.slice(found.successors.length)) expect(found.steps(id)).toEqual([]);
    expect(computed).toBe(explored);
  });
});
