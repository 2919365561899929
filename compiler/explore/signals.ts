/** Questions about a model's routes that several checks ask. */
import type { Formula } from "./formula.ts";
import { type Branch, type ControlModel, END_TARGET, type Routing, type Signal } from "./model.ts";

/** Every branch of a routing; an unconditional group counts as one. */
export function signalsOf(routing: Routing | undefined): readonly Signal[] {
  if (routing === undefined) return NO_SIGNALS;
  let found = known.get(routing);
  if (found === undefined) {
    found = routing.groups.flatMap((group) =>
      group.kind === "always" ? group.signals : branchesOf(group).flatMap((branch) => branch.signals),
    );
    known.set(routing, found);
  }
  return found;
}

/** A dozen checks ask for the same. */
const known = new WeakMap<Routing, readonly Signal[]>();
const NO_SIGNALS: readonly Signal[] = [];

export function branchesOf(group: Exclude<Routing["groups"][number], { kind: "always" }>): readonly Branch[] {
  return group.kind === "several" && group.otherwise !== undefined
    ? [...group.branches, group.otherwise]
    : group.branches;
}

/** Conditions of a routing. */
export function formulasOf(routing: Routing | undefined): Formula[] {
  return (routing?.groups ?? []).flatMap((group) =>
    group.kind === "always" ? [] : group.branches.map((branch) => branch.formula),
  );
}

/** By node: the nodes that its signals may start, directly or by completing a barrier. Each once. */
export function successorsOf(model: ControlModel): readonly (readonly number[])[] {
  return model.nodes.map((node) => {
    const found = new Set<number>();
    for (const routing of [node.routing, node.errorRouting]) {
      for (const { place, node: target } of signalsOf(routing)) {
        if (place !== undefined && target !== END_TARGET) found.add(target);
      }
    }
    for (const jump of node.jumps ?? []) if (jump !== END_TARGET) found.add(jump);
    return [...found];
  });
}

/** Nodes that `start` signals. */
export function startTargets(model: ControlModel): readonly number[] {
  const found = new Set<number>();
  for (const { place, node } of signalsOf(model.start)) if (place !== undefined && node !== END_TARGET) found.add(node);
  return [...found];
}
