import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import { NodeError } from "../../runtime/interface/errors.ts";
import type { RunEvent } from "../../runtime/interface/events.ts";
import { END, ROLLBACK, type Table } from "../../runtime/table/table.ts";
import { routeBranches } from "../../runtime/table/route-branches.ts";
import type { Replayed } from "./replay-trace.ts";

/** Kinds of failures and remarkable events of a replayed run. */
export type FailureKind =
  | "incomplete"
  | "waiting"
  | "failed"
  | "limit"
  | "again"
  | "repeats"
  | "lost"
  | "merged"
  | "ends"
  | "together"
  | "discards"
  | "assertion";

export interface Observation {
  readonly what: FailureKind;
  readonly text: string;
}

/** Collects everything in a replayed run that a finding may be about. */
export function observe(replayed: Replayed): Observation[] {
  const found: Observation[] = [];
  const add = (what: FailureKind, texts: readonly string[]): void => {
    for (const text of texts) found.push({ what, text });
  };
  const { result } = replayed;
  for (const { target, arrived, missing } of result.incompleteBarriers) {
    add("incomplete", [
      `the run ends while the barrier in front of \`${target}\` still waits for ${list(missing)}; arrived: ${list(arrived)}`,
    ]);
  }
  if (result.incompleteBarriers.length === 0) add("waiting", waitingBarriers(replayed));
  if (result.status === "failed" && result.error !== null) add("failed", [result.error.message]);
  if (result.status === "limit" && result.error !== null) add("limit", [result.error.message]);
  add("assertion", violatedAssertions(replayed));
  add("lost", lostSignals(replayed));
  add("again", nodesThatRunAgain(replayed));
  add("repeats", repeatedState(replayed));
  add("merged", mergedSignals(replayed));
  add("discards", discardedSignals(replayed));
  add("ends", endedBranches(replayed));
  const last = replayed.steps.at(-1) ?? [];
  if (last.length > 1) add("together", [`${list(last)} run in the same step`]);
  return found;
}

/** Barriers that some members have reached while the run continues elsewhere. */
function waitingBarriers({ table, checkpoints }: Replayed): string[] {
  return Object.entries(checkpoints.at(-1)?.barrierState ?? {}).flatMap(([id, arrived]) => {
    const barrier = table.barriers.find((each) => each.id === id);
    if (barrier === undefined) return [];
    const members = barrier.members.map((nodes) => nodes.map((node) => nameOf(table, node)));
    const missing = members.filter((names) => !names.some((name) => arrived.includes(name))).flat();
    const target = nameOf(table, barrier.target);
    return [`the barrier in front of \`${target}\` has ${list(arrived)} and waits for ${list(missing)}`];
  });
}

/** The nodes that run next after the replayed steps. */
export function nextNodes({ checkpoints }: Replayed): readonly string[] {
  return checkpoints.at(-1)?.nextNodes ?? [];
}

function nodesThatRunAgain(replayed: Replayed): string[] {
  const count = new Map<string, number>();
  for (const step of [...replayed.steps, nextNodes(replayed)]) {
    for (const node of step) count.set(node, (count.get(node) ?? 0) + 1);
  }
  return [...count].filter(([, times]) => times > 1).map(([node, times]) => `\`${node}\` runs ${times} times`);
}

/** The run reaches the same place again, so it may loop forever. */
function repeatedState({ checkpoints }: Replayed): string[] {
  const seen = new Map<string, number>();
  for (const { nextNodes: next, barrierState, step } of checkpoints) {
    if (next.length === 0) continue;
    const key = JSON.stringify([next, Object.entries(barrierState).toSorted()]);
    const before = seen.get(key);
    if (before !== undefined) {
      return [
        `after step ${step} the run is at the same place as ${before < 0 ? "at its start" : `after step ${before}`}: next ${list(next)}`,
      ];
    }
    seen.set(key, step);
  }
  return [];
}

/**
 * Signals to a barrier that count as one, even if the barrier fires in this step: of a member that has already signalled,
 * and of two nodes of one `any(…)` in the same step.
 */
function lostSignals(replayed: Replayed): string[] {
  const { table } = replayed;
  return routesByStep(replayed).flatMap(({ before, routes, signalled }) =>
    table.barriers.flatMap((barrier) => {
      // Several signals of a member of `settled` count once, as declared.
      if (barrier.kind === "settled") return [];
      const arrived = new Set(Object.hasOwn(before.barrierState, barrier.id) ? before.barrierState[barrier.id] : []);
      const target = nameOf(table, barrier.target);
      return barrier.members.flatMap((member) => {
        const names = member.map((node) => nameOf(table, node));
        if (!names.some((name) => arrived.has(name))) {
          const together = names.filter((name) => signalled.get(barrier.id)?.includes(name) === true);
          return together.length < 2
            ? []
            : [`${list(together)} fill one place of the barrier in front of \`${target}\` in the same step`];
        }
        return routes
          .filter(({ node, targets }) => names.includes(node) && targets.includes(target))
          .map(({ node }) => `\`${node}\` signals the barrier in front of \`${target}\` again before it has fired`);
      });
    }),
  );
}

/** Nodes that signal the same node directly in the last step: together they start it once. */
function mergedSignals(replayed: Replayed): string[] {
  const last = routesByStep(replayed).at(-1);
  if (last === undefined) return [];
  const { table } = replayed;
  return nextNodes(replayed).flatMap((next) => {
    const isDirect = (name: string): boolean => directTargets(table, name).has(next);
    const direct = last.routes.filter(({ node, targets }) => targets.includes(next) && isDirect(node));
    const barriers = last.fired.filter(({ targets }) => targets.includes(next)).map(({ kind }) => `${kind}(…)`);
    const sources = [...direct.map(({ node }) => node), ...barriers];
    return sources.length < 2
      ? []
      : [`${list(sources)} signal \`${next}\` in the same step: it runs once for all of them`];
  });
}

function discardedSignals({ events }: Replayed): string[] {
  return events.flatMap((event) =>
    event.type === "route" && event.discarded === true ? [`the signals of \`${event.node}\` are discarded`] : [],
  );
}

/** Branches that end while others continue. */
function endedBranches(replayed: Replayed): string[] {
  const last = routesByStep(replayed).at(-1);
  if (last === undefined || nextNodes(replayed).length === 0) return [];
  const signals = new Map(last.routes.map(({ node, targets }) => [node, targets]));
  return (replayed.steps.at(-1) ?? [])
    .filter((node) => endsBranch(replayed.table, node, signals.get(node) ?? []))
    .map((node) => `the branch of \`${node}\` ends, and ${list(nextNodes(replayed))} continue`);
}

function violatedAssertions(replayed: Replayed): string[] {
  const { table, steps, result } = replayed;
  const isOver = result.status === "completed" || result.status === "incomplete";
  const firstOf = (node: number): number => steps.findIndex((step) => step.includes(nameOf(table, node)));
  // A node that failed does not satisfy an assertion that requires it.
  const succeedsIn = (step: number, name: string): boolean =>
    replayed.events.some(
      (event) => event.type === "node" && event.phase === "end" && event.step === step && event.node === name,
    );
  const firstSuccessOf = (node: number): number => steps.findIndex((_, step) => succeedsIn(step, nameOf(table, node)));
  /** The step of the first run of `then` that `first` does not precede; each of several sent tasks counts. */
  const runWithoutSince = (first: string, then: string): number => {
    let isReleased = false;
    return steps.findIndex((nodes, step) => {
      const count = nodes.filter((name) => name === then).length;
      if (count > 1 || (count === 1 && !isReleased)) return true;
      isReleased = count === 0 && (isReleased || succeedsIn(step, first));
      return false;
    });
  };
  return table.assertions.flatMap((assertion): string[] => {
    switch (assertion.kind) {
      case "before": {
        if (assertion.each === true) {
          const [first, then] = [nameOf(table, assertion.first), nameOf(table, assertion.then)];
          const step = runWithoutSince(first, then);
          return step === -1
            ? []
            : [`\`${then}\` runs in step ${step}, and \`${first}\` has not run since \`${then}\` last ran`];
        }
        const first = firstSuccessOf(assertion.first);
        const then = assertion.then === END ? firstEnd(replayed) : firstOf(assertion.then);
        // A branch that ends in the same step as `first` ends without it, unless it is the branch of `first`.
        if (then === -1 || (first !== -1 && (assertion.then === END ? first <= then : first < then))) return [];
        return [`\`${nameOf(table, assertion.then)}\` is reached before \`${nameOf(table, assertion.first)}\` has run`];
      }
      case "at": {
        const { error } = result;
        const isBroken = error instanceof NodeError && error.code === "NG_ASSERTION";
        return isBroken && error.nodeId === nameOf(table, assertion.node) ? [error.message] : [];
      }
      case "once": {
        // Each of several sent tasks counts.
        const times = steps.flat().filter((name) => name === nameOf(table, assertion.node)).length;
        return times < 2 ? [] : [`\`${nameOf(table, assertion.node)}\` runs ${times} times`];
      }
      case "eventually":
        if (!isOver || firstSuccessOf(assertion.node) !== -1) return [];
        return [`the run ends before \`${nameOf(table, assertion.node)}\` has run`];
      case "never": {
        const [node, other] = [nameOf(table, assertion.node), nameOf(table, assertion.with)];
        const step = steps.findIndex((nodes) => nodes.includes(node) && nodes.includes(other));
        return step === -1 ? [] : [`\`${node}\` and \`${other}\` run together in step ${step}`];
      }
    }
  });
}

/** The step in which the first branch ends; -1 if none ends. */
function firstEnd(replayed: Replayed): number {
  const { steps } = replayed;
  return routesByStep(replayed).findIndex(({ routes, fired }, step) => {
    if (fired.some(({ targets }) => targets.includes("end"))) return true;
    const signals = new Map(routes.map(({ node, targets }) => [node, targets]));
    return (steps[step] ?? []).some((node) => endsBranch(replayed.table, node, signals.get(node) ?? []));
  });
}

/** The nodes that a node may signal without a barrier in between. */
function directTargets(table: Table, name: string): ReadonlySet<string> {
  const node = table.nodes.find((each) => each.name === name);
  const routes = (node?.routes ?? []).flatMap((route) => routeBranches(route).flatMap(({ targets }) => targets));
  const failed = (node?.onError ?? []).flatMap((route) => route.targets);
  const jumps = (node?.goes ?? []).map((target) => ({ node: target }));
  const targets = [...routes, ...failed, ...jumps];
  return new Set(targets.flatMap((target) => ("node" in target ? [nameOf(table, target.node)] : [])));
}

/** Whether a node's signals end its branch: one of them is `end`, or all are ignored by nodes with `waits`. */
function endsBranch(table: Table, name: string, targets: readonly string[]): boolean {
  // A barrier in front of `end` ends branches when it fires (`firstEnd`).
  if (targets.includes("end")) return directTargets(table, name).has("end");
  return targets.every((target) => isIgnored(table, name, target));
}

/** Whether the target has a `waits` gate that does not list the source. */
function isIgnored(table: Table, source: string, target: string): boolean {
  const gate = table.nodes.find((node) => node.name === target)?.waits;
  const members = gate === undefined ? undefined : table.barriers[gate]?.members.flat();
  return members !== undefined && !members.some((node) => nameOf(table, node) === source);
}

interface StepRoutes {
  /** The checkpoint at the start of the step. */
  readonly before: Checkpoint;
  readonly routes: readonly { readonly node: string; readonly targets: readonly string[] }[];
  /** The barriers that fired. */
  readonly fired: readonly { readonly kind: "all" | "settled"; readonly targets: readonly string[] }[];
  /** By id of each barrier that took a signal in the step: the nodes that have signalled it since it last fired. */
  readonly signalled: ReadonlyMap<string, readonly string[]>;
}

function routesByStep({ table, checkpoints, events, steps }: Replayed): StepRoutes[] {
  return steps.flatMap((_, step) => {
    const before = checkpoints.find((checkpoint) => checkpoint.step === step - 1);
    if (before === undefined) return [];
    const own = events.filter((event) => event.step === step);
    const routes = own.filter((event): event is RunEvent & { type: "route" } => event.type === "route");
    const barriers = own.filter((event): event is RunEvent & { type: "barrier" } => event.type === "barrier");
    const settled = new Set(table.barriers.flatMap(({ id, kind }) => (kind === "settled" ? [id] : [])));
    const fired = barriers
      .filter((event) => event.fired)
      .map(({ barrier, target, others = [] }) => ({
        kind: settled.has(barrier) ? ("settled" as const) : ("all" as const),
        targets: [target, ...others],
      }));
    const signalled = new Map(barriers.map(({ barrier, arrived }) => [barrier, arrived]));
    return [{ before, routes, fired, signalled }];
  });
}

function nameOf(table: Table, node: number): string {
  if (node === ROLLBACK) return "rollback";
  return table.nodes[node]?.name ?? "end";
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
