/** Model checking of assertions: searches a state graph for a run that violates one. */
import { END_TARGET } from "../control/net.ts";
import { createRunFinder, isExactEdge, pathTo, type Run, type RunFinder, searchFrom } from "./runs.ts";
import { endingOf, FLAG_ENDS, FLAG_FAILED, type State, type StateGraph } from "./state-graph.ts";

export type Assertion =
  /**
   * When `then` runs (or, with `END_TARGET`, when a branch ends), `first` has finished in an earlier step or in this
   * one.
   */
  | { readonly form: "before"; readonly first: number; readonly then: number }
  /** Before each run of `then`, `first` has finished since the step of the last run of `then`. */
  | { readonly form: "before each"; readonly first: number; readonly then: number }
  /** The node runs at most once. */
  | { readonly form: "once"; readonly node: number }
  /** Every completed run has run the node without a failure. */
  | { readonly form: "eventually"; readonly node: number }
  /** The two nodes never run in the same step. */
  | { readonly form: "never"; readonly node: number; readonly with: number }
  /** A condition of the node (by its position in `ControlNode.asserted`) holds whenever the node starts. */
  | { readonly form: "at"; readonly node: number; readonly condition: number };

/** Nodes whose failures decide assertions. The exploration must watch them (`ExploreOptions.watched`). */
export function watchedNodes(assertions: readonly Assertion[]): number[] {
  const found = new Set<number>();
  for (const assertion of assertions) {
    if (assertion.form === "before" || assertion.form === "before each") found.add(assertion.first);
    else if (assertion.form === "eventually") found.add(assertion.node);
  }
  return [...found].sort((a, b) => a - b);
}

/** A shortest run that violates an assertion, preferably a feasible one; `undefined` if the state graph has none. */
export function findViolation(
  graph: StateGraph,
  assertion: Assertion,
  finder: RunFinder = createRunFinder(graph),
): Run | undefined {
  switch (assertion.form) {
    case "never":
      return finder.toState(
        (state) => runsAtAll(graph, state, assertion.node) && runsAtAll(graph, state, assertion.with),
      );
    case "before":
      return firstOf((exactOnly) => runWithout(graph, assertion.first, assertion.then, exactOnly));
    case "before each":
      return firstOf((exactOnly) => runWithoutSince(graph, assertion.first, assertion.then, exactOnly));
    case "eventually":
      return firstOf((exactOnly) => completionWithout(graph, assertion.node, exactOnly));
    case "once":
      return firstOf((exactOnly) => secondRun(graph, assertion.node, exactOnly));
    case "at":
      return startWithout(graph, assertion.node, assertion.condition, finder);
  }
}

/** Whether the state graph decides an assertion: it must have watched the nodes that may fail. */
export function canAnswer(graph: StateGraph, assertion: Assertion): boolean {
  return watchedNodes([assertion]).every(
    (node) => graph.watched.includes(node) || graph.model.nodes[node]?.errorRouting === undefined,
  );
}

function runs(state: State, node: number): boolean {
  const position = state.places.indexOf(node);
  return position !== -1 && position < state.ready;
}

/** Whether a node, or a task that was sent to it, runs in a state. */
function runsAtAll(graph: StateGraph, state: State, node: number): boolean {
  return countRuns(graph, state, node) > 0;
}

/** How many times a node runs in a state. A `send` can create several tasks, so it counts as two. */
function countRuns({ model }: StateGraph, state: State, node: number): number {
  let count = runs(state, node) ? 1 : 0;
  for (let index = 0; index < state.ready; index++) {
    const { isSent, declared } = model.nodes[state.places[index]!]!;
    if (isSent && declared === node) count += 2;
  }
  return count;
}

/** A run to a state in which a node, or a task that was sent to it, starts although a condition of it does not hold. */
function startWithout(graph: StateGraph, node: number, condition: number, finder: RunFinder): Run | undefined {
  const { nodes } = graph.model;
  const violates = (state: State, isSure: boolean): boolean =>
    state.places.slice(0, state.ready).some((place) => {
      const { declared, index } = nodes[place]!;
      if (declared !== nodes[node]!.declared) return false;
      const violation = graph.violation(state.id, index, condition);
      return isSure ? violation === "sure" : violation !== "never";
    });
  const sure = finder.toState((state) => violates(state, true));
  if (sure?.feasible === true) return sure;
  const found = finder.toState((state) => violates(state, false));
  return found === undefined ? undefined : { ...found, feasible: false };
}

function firstOf(search: (exactOnly: boolean) => Run | undefined): Run | undefined {
  return search(true) ?? search(false);
}

/** Whether a node finishes in a step, that is, runs without a failure. */
function finishes(graph: StateGraph, state: number, edge: number, node: number): boolean {
  if (!runs(graph.states[state]!, node)) {
    // The failures of sent tasks are not recorded. Without error edges, a failure ends the run.
    return graph.model.nodes[node]?.errorRouting === undefined && runsAtAll(graph, graph.states[state]!, node);
  }
  const bit = graph.watched.indexOf(node);
  return bit === -1 || (graph.flags[state]![edge]! & (FLAG_FAILED << bit)) === 0;
}

function runWithout(graph: StateGraph, first: number, then: number, exactOnly: boolean): Run | undefined {
  const allow = (state: number, edge: number): boolean =>
    !finishes(graph, state, edge, first) && (!exactOnly || isExactEdge(graph, state, edge));
  const search = searchFrom(graph, [0], allow);
  for (const id of search.order) {
    if (then !== END_TARGET) {
      if (runsAtAll(graph, graph.states[id]!, then))
        return { states: pathTo(search, id), last: undefined, feasible: exactOnly, without: first };
      continue;
    }
    const edge = (graph.flags[id] ?? []).findIndex((flags, index) => (flags & FLAG_ENDS) !== 0 && allow(id, index));
    if (edge === -1) continue;
    const target = graph.successors[id]![edge]!;
    const isExact = isExactEdge(graph, id, edge);
    const failed = graph.watched.includes(first);
    const step = graph
      .steps(id)
      .find(
        (candidate) =>
          candidate.to === target &&
          candidate.ends &&
          candidate.exact === isExact &&
          (!failed || !runs(graph.states[id]!, first) || candidate.failed.includes(first)),
      );
    return { states: pathTo(search, id), last: step, feasible: exactOnly, without: first };
  }
  return undefined;
}

function completionWithout(graph: StateGraph, node: number, exactOnly: boolean): Run | undefined {
  const search = searchFrom(
    graph,
    [0],
    (state, edge) => !finishes(graph, state, edge, node) && (!exactOnly || isExactEdge(graph, state, edge)),
  );
  const end = search.order.find((id) => endingOf(graph, id) === "completed");
  return end === undefined
    ? undefined
    : { states: pathTo(search, end), last: undefined, feasible: exactOnly, without: node };
}

function secondRun(graph: StateGraph, node: number, exactOnly: boolean): Run | undefined {
  const isViolated = (id: number, hasRun: boolean): boolean => {
    const count = countRuns(graph, graph.states[id]!, node);
    return count > 1 || (hasRun && count > 0);
  };
  return searchWithFlag(
    graph,
    exactOnly,
    isViolated,
    (id, _edge, hasRun) => hasRun || runsAtAll(graph, graph.states[id]!, node),
  );
}

/**
 * A run in which `then` runs although `first` has not finished yet, or not since the step of the last run of `then`.
 * Two tasks in one step are two runs.
 */
function runWithoutSince(graph: StateGraph, first: number, then: number, exactOnly: boolean): Run | undefined {
  const isViolated = (id: number, isReleased: boolean): boolean => {
    const count = countRuns(graph, graph.states[id]!, then);
    return count > 1 || (count > 0 && !isReleased);
  };
  const found = searchWithFlag(
    graph,
    exactOnly,
    isViolated,
    (id, edge, isReleased) =>
      !runsAtAll(graph, graph.states[id]!, then) && (isReleased || finishes(graph, id, edge, first)),
  );
  if (found === undefined) return undefined;
  const decides = (position: number): boolean =>
    !found.flags[position]! && !runsAtAll(graph, graph.states[found.states[position]!]!, then);
  const finishing = found.flags.map((_, position) => (decides(position) ? found.flags[position + 1] : undefined));
  return { ...found, without: first, finishes: finishing };
}

/** A breadth-first search over the product of the states and a flag, which is false at the start. The run has the flag at each state. */
function searchWithFlag(
  graph: StateGraph,
  exactOnly: boolean,
  isViolated: (state: number, flag: boolean) => boolean,
  next: (state: number, edge: number, flag: boolean) => boolean,
): (Run & { readonly flags: readonly boolean[] }) | undefined {
  const size = graph.states.length;
  const parents = new Int32Array(2 * size).fill(-2);
  const queue = [0];
  parents[0] = -1;
  for (const at of queue) {
    const id = at % size;
    const flag = at >= size;
    if (isViolated(id, flag)) {
      const path: number[] = [];
      for (let step = at; step >= 0; step = parents[step]!) path.push(step);
      path.reverse();
      return {
        states: path.map((step) => step % size),
        flags: path.map((step) => step >= size),
        last: undefined,
        feasible: exactOnly,
      };
    }
    const targets = graph.successors[id];
    for (let edge = 0; edge < (targets?.length ?? 0); edge++) {
      const successor = targets![edge]! + (next(id, edge, flag) ? size : 0);
      if (parents[successor] !== -2 || (exactOnly && !isExactEdge(graph, id, edge))) continue;
      parents[successor] = at;
      queue.push(successor);
    }
  }
  return undefined;
}
