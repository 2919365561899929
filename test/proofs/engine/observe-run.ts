import type { BoundGraph } from "../../../compiler/bind/bound-graph.ts";
import {
  barrierTargets,
  END,
  ROLLBACK,
  type AssertionSpec,
  type Table,
  type TargetSpec,
} from "../../../runtime/table/table.ts";
import type { RanGraph, RanStep } from "./run-graph.ts";

/** What one run shows about the properties that `check` claims. */
export interface Observed {
  /** Nodes that ran. */
  readonly ran: ReadonlySet<string>;
  readonly incomplete: readonly string[];
  /** Two nodes wrote one channel in one step. */
  readonly race: string | undefined;
  /** Nodes whose edges led nowhere, and why. */
  readonly noRoute: { readonly message: string; readonly isFailedCondition: boolean } | undefined;
  /** Texts of assertions that the run violates. */
  readonly violated: ReadonlySet<string>;
  readonly completed: boolean;
  readonly cut: boolean;
  /** An answer or a signal ended a pause. */
  readonly isAnswered: boolean;
  /** Parallel branches met without a barrier, or a signal was lost: what soundness rules out. */
  readonly meetings: readonly string[];
  /** Most nodes of one step. */
  readonly parallel: number;
  readonly rounds: ReadonlyMap<string, number>;
  readonly roundsPerAnswer: ReadonlyMap<string, number>;
  readonly stepsPerAnswer: number;
  /** Barriers that fired, by id. */
  readonly fired: ReadonlySet<string>;
  /** A node's own expression met a null where its type says there is none. */
  readonly nullRead: string | undefined;
}

/** Facts of a table that runs are compared with. */
export interface Wiring {
  readonly table: Table;
  /** By node (and `start`): nodes that its edges run without a barrier, and those that they lead to through one. */
  readonly direct: ReadonlyMap<string, ReadonlySet<string>>;
  readonly gated: ReadonlyMap<string, ReadonlySet<string>>;
  /** Nodes that `start` reaches, and those that `finally` reaches. */
  readonly inMain: ReadonlySet<string>;
  readonly inFinally: ReadonlySet<string>;
  readonly assertions: readonly { readonly text: string; readonly spec: AssertionSpec }[];
}

export function wiringOf(table: Table, { assertions: bound, file }: BoundGraph): Wiring {
  const nameOf = (node: number): string =>
    node === END ? "end" : node === ROLLBACK ? "rollback" : (table.nodes[node]?.name ?? "end");
  const direct = new Map<string, Set<string>>();
  const gated = new Map<string, Set<string>>();
  const add = (name: string, targets: readonly TargetSpec[]): void => {
    for (const target of targets) {
      const barrier = "barrier" in target ? table.barriers[target.barrier] : undefined;
      const nodes = "node" in target ? [target.node] : barrier === undefined ? [END] : barrierTargets(barrier);
      for (const node of nodes) {
        const hasGate = node >= 0 && table.nodes[node]?.waits !== undefined;
        const into = barrier !== undefined || hasGate ? gated : direct;
        const known = into.get(name) ?? new Set();
        into.set(name, known.add(nameOf(node)));
      }
    }
  };
  const addRoutes = (name: string, routes: Table["start"]): void => {
    for (const route of routes) {
      if (route.kind === "match" || route.kind === "cases") {
        for (const arm of route.arms) add(name, arm.targets);
        add(name, route.otherwise ?? []);
      } else add(name, route.targets);
    }
  };
  addRoutes("start", table.start);
  addRoutes("finally", table.finally ?? []);
  for (const node of table.nodes) {
    addRoutes(node.name, node.routes);
    for (const route of node.onError) add(node.name, route.targets);
    for (const target of node.goes ?? []) add(node.name, [{ node: target }]);
  }
  const reachedFrom = (entry: string): ReadonlySet<string> => {
    const reached = new Set([entry]);
    for (const name of reached)
      for (const next of [...(direct.get(name) ?? []), ...(gated.get(name) ?? [])]) reached.add(next);
    return reached;
  };
  const [inMain, inFinally] = [reachedFrom("start"), reachedFrom("finally")];
  const assertions = table.assertions.map((spec, at) => {
    const span = bound[at]?.condition?.span;
    const condition = span === undefined ? "" : file.text.slice(span.start, span.end);
    return { spec, text: assertionText(spec, nameOf, condition) };
  });
  return { table, direct, gated, inMain, inFinally, assertions };
}

function assertionText(spec: AssertionSpec, nameOf: (node: number) => string, condition: string): string {
  switch (spec.kind) {
    case "at":
      return `${condition} at ${nameOf(spec.node)}`;
    case "before":
      return `${nameOf(spec.first)} before ${spec.each === true ? "each " : ""}${nameOf(spec.then)}`;
    case "never":
      return `never ${nameOf(spec.node)} with ${nameOf(spec.with)}`;
    default:
      return `${spec.kind} ${nameOf(spec.node)}`;
  }
}

/** `entry` is the beginning of the part of the run. */
export function observe(wiring: Wiring, run: RanGraph, entry: "start" | "finally" = "start"): Observed {
  const { steps, result } = run;
  const ran = new Set(steps.flatMap(({ nodes }) => nodes));
  const rounds = new Map<string, number>();
  const roundsPerAnswer = new Map<string, number>();
  let stretch = new Map<string, number>();
  let length = 0;
  let stepsPerAnswer = 0;
  for (const { nodes, pausedBefore } of steps) {
    if (pausedBefore) {
      stretch = new Map();
      length = 0;
    }
    stepsPerAnswer = Math.max(stepsPerAnswer, ++length);
    for (const node of new Set(nodes)) {
      rounds.set(node, (rounds.get(node) ?? 0) + 1);
      stretch.set(node, (stretch.get(node) ?? 0) + 1);
      roundsPerAnswer.set(node, Math.max(roundsPerAnswer.get(node) ?? 0, stretch.get(node) ?? 0));
    }
  }
  const code = result.error?.code;
  const message = result.error?.message ?? "";
  const cause = result.error?.cause;
  return {
    ran,
    incomplete: result.incompleteBarriers.map(({ id, missing }) => `${id} waits for ${missing.join(", ")}`),
    race: code === "NG_CONCURRENT_WRITE" ? message : undefined,
    noRoute:
      code === "NG_NO_ROUTE" || code === "NG_CONDITION"
        ? { message, isFailedCondition: cause instanceof Error }
        : undefined,
    violated: new Set(
      wiring.assertions
        .filter(({ spec }) => isOfPart(wiring, spec, entry) && violates(wiring, run, spec))
        .map(({ text }) => text),
    ),
    completed: result.status === "completed",
    cut: result.status === "limit",
    isAnswered: run.did.has("answer") || run.did.has("signal") || run.did.has("deadline passes"),
    meetings: meetings(wiring, run, entry),
    parallel: Math.max(0, ...steps.map(({ nodes }) => new Set(nodes).size)),
    rounds,
    roundsPerAnswer,
    stepsPerAnswer,
    fired: new Set(steps.flatMap(({ fired }) => fired.map(({ barrier }) => barrier))),
    nullRead: run.failures.find(
      ({ message: text }) => /expected .*, found null/.test(text) && !text.includes("for channel"),
    )?.message,
  };
}

/** Whether an assertion is about a part of a run. `docs/proofs.md` defines this. */
function isOfPart({ table, inMain, inFinally }: Wiring, spec: AssertionSpec, entry: "start" | "finally"): boolean {
  if (spec.kind === "eventually") {
    const name = table.nodes[spec.node]?.name ?? "";
    return (inFinally.has(name) && !inMain.has(name)) === (entry === "finally");
  }
  return entry === "start" || spec.kind !== "before" || spec.then !== END;
}

/** Tasks of a node that finished in a step. */
function finished({ nodes, committed, routes }: RanStep, node: string): number {
  if (!committed) return 0;
  return (
    nodes.filter((each) => each === node).length -
    routes.filter((route) => route.node === node && route.via === "error").length
  );
}

function violates(wiring: Wiring, run: RanGraph, assertion: AssertionSpec): boolean {
  const { steps, start, result } = run;
  const { table } = wiring;
  const nameOf = (node: number): string => table.nodes[node]?.name ?? "end";
  const firstSuccess = (node: number): number => steps.findIndex((step) => finished(step, nameOf(node)) > 0);
  switch (assertion.kind) {
    case "at":
      return run.failures.some(({ node, code }) => node === nameOf(assertion.node) && code === "NG_ASSERTION");
    case "before": {
      if (assertion.each === true) {
        let isReleased = false;
        return steps.some((step) => {
          const count = step.nodes.filter((name) => name === nameOf(assertion.then)).length;
          const isViolated = count > 1 || (count === 1 && !isReleased);
          isReleased = count === 0 && (isReleased || finished(step, nameOf(assertion.first)) > 0);
          return isViolated;
        });
      }
      const first = firstSuccess(assertion.first);
      if (assertion.then === END) {
        if (start !== undefined && (start.targets.length === 0 || start.targets.includes("end"))) return true;
        const then = steps.findIndex(
          ({ routes, fired }) =>
            routes.some((route) => endsBranch(wiring, route)) || fired.some(({ targets }) => targets.includes("end")),
        );
        return then !== -1 && (first === -1 || first > then);
      }
      const then = steps.findIndex(({ nodes }) => nodes.includes(nameOf(assertion.then)));
      return then !== -1 && (first === -1 || first >= then);
    }
    case "once":
      return steps.flatMap(({ nodes }) => nodes.filter((name) => name === nameOf(assertion.node))).length > 1;
    case "eventually":
      return result.status === "completed" && firstSuccess(assertion.node) === -1;
    case "never": {
      const [node, other] = [nameOf(assertion.node), nameOf(assertion.with)];
      return steps.some(({ nodes }) => nodes.includes(node) && nodes.includes(other));
    }
  }
}

/** Whether a route ends its branch. A signal into a barrier in front of `end` does not: the barrier does when it fires. */
function endsBranch(
  { table, direct }: Wiring,
  { node, via, targets, discarded }: RanGraph["steps"][number]["routes"][number],
): boolean {
  if (discarded) return false;
  if (via === "send") return false;
  if (via === "stop") return true;
  if (targets.includes("end") && (via !== "edges" || direct.get(node)?.has("end") === true)) return true;
  return targets.every((target) => {
    if (target === "end" || target === "rollback") return false;
    const gate = table.nodes.find(({ name }) => name === target)?.waits;
    const members = gate === undefined ? undefined : table.barriers[gate]?.members.flat();
    return members !== undefined && !members.some((member) => table.nodes[member]?.name === node);
  });
}

/** The end of a meeting in one step, after a jump to several nodes. */
export const AFTER_JUMPS = ", after a jump";

/** Whether a node of a step has led to several nodes by jumps. */
function hasManyJumps({ routes }: RanStep): boolean {
  const byNode = new Map<string, { targets: Set<string>; jumps: boolean }>();
  for (const { node, via, targets, discarded } of routes) {
    if (discarded) continue;
    const known = byNode.get(node) ?? { targets: new Set(), jumps: false };
    byNode.set(node, known);
    for (const target of targets) known.targets.add(target);
    known.jumps ||= via !== "edges" && via !== "error";
  }
  return [...byNode.values()].some(({ targets, jumps }) => jumps && targets.size > 1);
}

/** The source of tasks that were sent. They run beside what edges signal, on purpose. */
const SENT = "";

/** Where parallel branches meet without a barrier: in one step, or in different ones; and signals that a barrier already had. */
function meetings(wiring: Wiring, { steps, start }: RanGraph, entry: string): string[] {
  const found: string[] = [];
  const { table, direct, gated } = wiring;
  /** Signals that barriers hold: barrier -> member -> the run of the node that gave it. */
  const held = new Map<string, Map<number, Set<string>>>();
  /** What each run of a node comes from: the runs of nodes before it. */
  const ancestors = new Map<string, Set<string>>();
  /** Runs of a node so far, with what started each. */
  const known = new Map<string, { readonly id: string; readonly source: string }[]>();
  const with_ = (ids: Iterable<string>): Set<string> => {
    const all = new Set<string>();
    for (const id of ids) {
      all.add(id);
      for (const before of ancestors.get(id) ?? []) all.add(before);
    }
    return all;
  };
  let next = new Map<string, { readonly source: string; readonly from: ReadonlySet<string> }[]>();
  const signal = (target: string, source: string, from: ReadonlySet<string>): void => {
    const list = next.get(target) ?? [];
    next.set(target, [...list, { source, from }]);
  };
  for (const target of new Set(start?.targets ?? [])) signal(target, entry, new Set());
  let after = "";
  for (const [index, step] of steps.entries()) {
    for (const name of new Set(step.nodes)) {
      const id = `${name}@${index}`;
      const signals = next.get(name) ?? [];
      const from = with_(signals.flatMap((each) => [...each.from]));
      ancestors.set(id, from);
      const sources = signals.map(({ source }) => source).filter((source) => source !== SENT);
      const [first] = sources;
      if (new Set(sources).size > 1) found.push(`${name} runs once in step ${index} for ${sources.join(", ")}${after}`);
      for (const before of known.get(name) ?? []) {
        if (!from.has(before.id) && first !== undefined && before.source !== SENT && before.source !== first)
          found.push(`${name} runs again in step ${index}, for ${first} after ${before.source}`);
      }
      known.set(name, [...(known.get(name) ?? []), { id, source: first ?? SENT }]);
    }
    next = new Map();
    if (!step.committed) break;
    if (hasManyJumps(step)) after = AFTER_JUMPS;
    for (const { node, via, targets, discarded } of step.routes) {
      if (discarded) continue;
      const from = new Set([`${node}@${index}`]);
      for (const target of new Set(targets)) {
        if (target === "end" || target === "rollback") continue;
        if (via === "send") {
          signal(target, SENT, from);
          continue;
        }
        const isDirect = via === "exclusive" || direct.get(node)?.has(target) === true;
        const isGated = via !== "exclusive" && gated.get(node)?.has(target) === true;
        if (isDirect) signal(target, node, from);
        if (!isGated) continue;
        for (const barrier of table.barriers) {
          if (!barrierTargets(barrier).some((node) => table.nodes[node]?.name === target)) continue;
          barrier.members.forEach((members, member) => {
            if (!members.some((each) => table.nodes[each]?.name === node)) return;
            const slots = held.get(barrier.id) ?? new Map<number, Set<string>>();
            held.set(barrier.id, slots);
            // Where a node both signals a node and is a member of its barrier, which of the two this was is not known.
            const isLost = slots.has(member) && !isDirect && barrier.kind !== "settled";
            if (isLost) found.push(`${node} signals ${barrier.id} again in step ${index}`);
            slots.set(member, new Set([...(slots.get(member) ?? []), ...from]));
          });
        }
      }
    }
    for (const { barrier, targets } of step.fired) {
      const slots = held.get(barrier);
      held.delete(barrier);
      const from = new Set([...(slots?.values() ?? [])].flatMap((ids) => [...ids]));
      for (const target of targets) {
        const gate = table.nodes.find(({ name }) => name === target)?.waits;
        const isGate = gate === undefined || table.barriers[gate]?.id === barrier;
        if (target !== "end" && isGate) signal(target, `*${barrier}`, from);
      }
    }
  }
  return found;
}
