import type { ControlModel } from "../../../compiler/explore/model.ts";
import { successorsOf } from "../../../compiler/control/signals.ts";
import type { RandomGraph } from "./random-graph.ts";

/** Features of a graph on which proofs may be wrong. */
export const FEATURES = [
  "barrier",
  "barrier in a loop",
  "settled",
  "any",
  "waits",
  "error route",
  "goto",
  "for",
  "choice",
  "nested choices",
] as const;

export type Feature = (typeof FEATURES)[number];

export function featuresOf(graph: RandomGraph, model: ControlModel): ReadonlySet<Feature> {
  const successors = successorsOf(model);
  const behind = (node: number): ReadonlySet<number> => {
    const seen = new Set(successors[node]);
    for (const at of seen) for (const next of successors[at] ?? []) seen.add(next);
    return seen;
  };
  const chooses = model.nodes.map(({ routing }) => routing.groups.some((group) => group.kind !== "always"));
  const nested = model.nodes.some(({ routing }) =>
    routing.groups.some(
      (group) =>
        group.kind !== "always" &&
        group.branches.some(({ signals }) => signals.some(({ node }) => chooses[node] === true)),
    ),
  );
  const inLoop = model.barriers.some(
    ({ target, members }) => target >= 0 && members.some(({ nodes }) => nodes.some((node) => behind(target).has(node))),
  );
  const has: Readonly<Record<Feature, boolean>> = {
    barrier: model.barriers.some(({ kind }) => kind === "all"),
    "barrier in a loop": inLoop,
    settled: model.barriers.some(({ kind }) => kind === "settled"),
    any: graph.text.includes("any("),
    waits: model.barriers.some(({ kind }) => kind === "waits"),
    "error route": model.nodes.some(({ errorRouting }) => errorRouting !== undefined),
    goto: model.nodes.some(({ jumps }) => jumps !== undefined),
    for: graph.text.includes(" for item in "),
    choice: chooses.includes(true),
    "nested choices": nested,
  };
  return new Set(FEATURES.filter((feature) => has[feature]));
}
