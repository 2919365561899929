/** Signals, branches and successors of the nodes of a model. */
import type { Formula } from "./formula.ts";
import { type Branch, type ControlModel, END_TARGET, type Routing, type Signal } from "./model.ts";

/** All signals of a routing. The result is cached, because many checks need it. */
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

const known = new WeakMap<Routing, readonly Signal[]>();
const NO_SIGNALS: readonly Signal[] = [];

export function branchesOf(group: Exclude<Routing["groups"][number], { kind: "always" }>): readonly Branch[] {
  return group.kind === "several" && group.otherwise !== undefined
    ? [...group.branches, group.otherwise]
    : group.branches;
}

/** The conditions of a routing. */
export function formulasOf(routing: Routing | undefined): Formula[] {
  return (routing?.groups ?? []).flatMap((group) =>
    group.kind === "always" ? [] : group.branches.map((branch) => branch.formula),
  );
}

/** By node: the nodes that its signals can start, directly or through a barrier. Without duplicates. */
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
