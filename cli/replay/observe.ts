import type { Checkpoint } from "../../runtime/checkpoint.ts";
import type { RunEvent } from "../../runtime/events.ts";
import { END, type Table } from "../../runtime/table.ts";
import type { Replayed } from "./replay-trace.ts";

/** What may be seen to happen in a replayed run. */
export type Happening =
  | "incomplete"
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
  readonly what: Happening;
  readonly text: string;
}

/** Everything in a replayed run that a finding may be about. */
export function observe(replayed: Replayed): Observation[] {
  const found: Observation[] = [];
  const add = (what: Happening, texts: readonly string[]): void => {
    for (const text of texts) found.push({ what, text });
  };
  const { result } = replayed;
  for (const { target, arrived, missing } of result.incompleteBarriers) {
    add("incomplete", [
      `the run ends, and the barrier in front of \`${target}\` still waits for ${list(missing)}: ${list(arrived)} came`,
    ]);
  }
  if (result.status === "failed" && result.error !== null) add("failed", [result.error.message]);
  if (result.status === "step_limit" && result.error !== null) add("limit", [result.error.message]);
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

/** Which nodes run next, after what was replayed. */
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

/** The run stands where it stood before: it may go on so without end. */
function repeatedState({ checkpoints }: Replayed): string[] {
  const seen = new Map<string, number>();
  for (const { nextNodes: next, barrierState, step } of checkpoints) {
    if (next.length === 0) continue;
    const key = JSON.stringify([next, Object.entries(barrierState).toSorted()]);
    const before = seen.get(key);
    if (before !== undefined) {
      return [
        `after step ${step} the run stands where it stood ${before < 0 ? "at its start" : `after step ${before}`}: ${list(next)} next`,
      ];
    }
    seen.set(key, step);
  }
  return [];
}

/** A signal into a barrier whose member has signalled already: the two count as one, even where the barrier fires now. */
function lostSignals(replayed: Replayed): string[] {
  const { table } = replayed;
  return routesByStep(replayed).flatMap(({ before, routes }) =>
    table.barriers.flatMap((barrier) => {
      const held = new Set(Object.hasOwn(before.barrierState, barrier.id) ? before.barrierState[barrier.id] : []);
      const target = nameOf(table, barrier.target);
      return barrier.members.flatMap((member) => {
        const names = member.map((node) => nameOf(table, node));
        if (!names.some((name) => held.has(name))) return [];
        return routes
          .filter(({ node, targets }) => names.includes(node) && targets.includes(target))
          .map(({ node }) => `\`${node}\` signals the barrier in front of \`${target}\` again before it has fired`);
      });
    }),
  );
}

/** Nodes that signal one node directly in the last step: together they start it once. */
function mergedSignals(replayed: Replayed): string[] {
  const last = routesByStep(replayed).at(-1);
  if (last === undefined) return [];
  return nextNodes(replayed).flatMap((next) => {
    const sources = last.routes.filter(({ targets }) => targets.includes(next)).map(({ node }) => node);
    return sources.length < 2
      ? []
      : [`${list(sources)} signal \`${next}\` in the same step: it runs once for all of them`];
  });
}

function discardedSignals({ events }: Replayed): string[] {
  return events.flatMap((event) =>
    event.type === "route" && event.discarded === true ? [`what \`${event.node}\` signals is discarded`] : [],
  );
}

/** A branch is over while others go on. */
function endedBranches(replayed: Replayed): string[] {
  const last = routesByStep(replayed).at(-1);
  if (last === undefined || nextNodes(replayed).length === 0) return [];
  const signals = new Map(last.routes.map(({ node, targets }) => [node, targets]));
  return (replayed.steps.at(-1) ?? [])
    .filter((node) => (signals.get(node) ?? []).every((target) => target === "end"))
    .map((node) => `the branch of \`${node}\` has ended, and ${list(nextNodes(replayed))} go on`);
}

function violatedAssertions({ table, steps, result }: Replayed): string[] {
  const isOver = result.status === "completed" || result.status === "incomplete";
  const firstOf = (node: number): number => steps.findIndex((step) => step.includes(nameOf(table, node)));
  return table.assertions.flatMap((assertion): string[] => {
    switch (assertion.kind) {
      case "before": {
        const [first, then] = [firstOf(assertion.first), firstOf(assertion.then)];
        const isReached = assertion.then === END ? result.status === "completed" : then !== -1;
        const isLate = first === -1 || (assertion.then !== END && first >= then);
        if (!isReached || !isLate) return [];
        return [
          `\`${nameOf(table, assertion.then)}\` is reached, and \`${nameOf(table, assertion.first)}\` has not run before it`,
        ];
      }
      case "once": {
        const times = steps.filter((step) => step.includes(nameOf(table, assertion.node))).length;
        return times < 2 ? [] : [`\`${nameOf(table, assertion.node)}\` has run ${times} times`];
      }
      case "eventually":
        if (!isOver || firstOf(assertion.node) !== -1) return [];
        return [`the run is over, and \`${nameOf(table, assertion.node)}\` has not run`];
      case "never": {
        const [node, other] = [nameOf(table, assertion.node), nameOf(table, assertion.with)];
        const step = steps.findIndex((nodes) => nodes.includes(node) && nodes.includes(other));
        return step === -1 || node === other ? [] : [`\`${node}\` and \`${other}\` run together in step ${step}`];
      }
    }
  });
}

interface StepRoutes {
  /** The checkpoint that the step began with. */
  readonly before: Checkpoint;
  readonly routes: readonly { readonly node: string; readonly targets: readonly string[] }[];
}

function routesByStep({ checkpoints, events, steps }: Replayed): StepRoutes[] {
  return steps.flatMap((_, step) => {
    const before = checkpoints.find((checkpoint) => checkpoint.step === step - 1);
    if (before === undefined) return [];
    const own = events.filter((event) => event.step === step);
    const routes = own.filter((event): event is RunEvent & { type: "route" } => event.type === "route");
    return [{ before, routes }];
  });
}

function nameOf(table: Table, node: number): string {
  return table.nodes[node]?.name ?? "end";
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
