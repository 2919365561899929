import { describe, expect, it } from "vitest";
import { type Outcome, type Outcomes } from "../../compiler/explore/outcomes.ts";
import { type Transition, transitionsFrom } from "../../compiler/explore/step-transitions.ts";
import { compare, type PlantedBug } from "./oracle/compare.ts";
import type { Family } from "./oracle/random-graph.ts";

/** Longer than any of these tests takes. */
const GRAPHS = 1500;

function withOutcomes(change: (outcomes: readonly Outcome[]) => readonly Outcome[]): PlantedBug {
  return {
    outcomes: ({ start, nodes, tooMany, split }: Outcomes) => ({
      start: change(start),
      nodes: nodes.map(change),
      tooMany,
      split,
    }),
  };
}

function withTransitions(change: (transition: Transition, nodeCount: number) => Transition): PlantedBug {
  return {
    stepsFrom: (context, state) => {
      const { transitions, isCut } = transitionsFrom(context, state);
      return { transitions: transitions.map((transition) => change(transition, context.model.nodes.length)), isCut };
    },
  };
}

const BUGS: readonly {
  readonly name: string;
  readonly family: Family;
  readonly bug: PlantedBug;
  /** The first graph to compare, for a mistake that few graphs show. */
  readonly from?: number;
}[] = [
  {
    name: "a barrier keeps its signals when it fires",
    family: "free",
    bug: {
      stepsFrom: (context, state) => {
        const { transitions, isCut } = transitionsFrom(context, state);
        const kept = transitions.map((transition): Transition => {
          const held = transition.fired.flatMap((barrier) =>
            context.model.barriers[barrier]!.members.map(({ place }) => place),
          );
          if (held.length === 0) return transition;
          const places = [...new Set([...transition.places, ...held])].sort((a, b) => a - b);
          return { ...transition, places, key: `${transition.key}+${held.join()}` };
        });
        return { transitions: kept, isCut };
      },
    },
  },
  {
    name: "error routes are dropped",
    family: "free",
    bug: withOutcomes((outcomes) => outcomes.filter(({ kind }) => kind !== "error")),
  },
  {
    name: "jumps are dropped",
    family: "free",
    bug: withOutcomes((outcomes) => outcomes.filter(({ kind }) => kind !== "jump")),
  },
  {
    name: "of a choice the last arm is never taken",
    family: "conditions",
    bug: withOutcomes((outcomes) => (outcomes.length > 1 ? outcomes.slice(0, -1) : outcomes)),
  },
  {
    name: "states with other values are taken for the same",
    family: "conditions",
    bug: withTransitions((transition) => ({ ...transition, key: transition.places.join() })),
  },
  {
    name: "signals that a barrier already has are not noticed",
    family: "free",
    from: 7000,
    bug: withTransitions((transition) => ({
      ...transition,
      collisions: transition.collisions.filter(({ kind }) => kind !== "lost"),
    })),
  },
  {
    name: "several can fill one member of a barrier, and only the first counts",
    family: "free",
    bug: {
      outcomes: (outcomes, model) => {
        const second = new Map<number, Set<number>>();
        for (const { members } of model.barriers) {
          for (const { nodes, place } of members) {
            for (const node of nodes.slice(1)) second.set(node, (second.get(node) ?? new Set()).add(place));
          }
        }
        const nodes = outcomes.nodes.map((list, node) =>
          list.map((outcome) => ({ ...outcome, places: outcome.places.filter((at) => !second.get(node)?.has(at)) })),
        );
        return { ...outcomes, nodes };
      },
    },
  },
];

describe("an error in the exploration is noticed:", () => {
  it.each(BUGS)("$name", { timeout: 300_000 }, ({ family, bug, from = 0 }) => {
    let found: number | undefined;
    for (let seed = from; seed < from + GRAPHS && found === undefined; seed++) {
      if ((compare(seed, family, bug)?.differences.length ?? 0) > 0) found = seed;
    }
    expect(found).toBeDefined();
  });
});
