/** Edges as the next states: a Choice for conditions, and a Parallel for branches that meet in a barrier. */
import type { Span } from "../../../diagnostics/source.ts";
import {
  END_NAME,
  type BoundEdge,
  type BoundReference,
  type TypedExpression,
} from "../../../compiler/bind/bound-graph.ts";
import type { Json } from "../../../runtime/value/json.ts";
import { areExclusive } from "./exclusive-conditions.ts";
import { fieldText, inPercent } from "./jsonata-text.ts";
import { freshName, Machine, type State } from "./machine.ts";
import { branchesOf, type Branches } from "./parallel-branches.ts";

/** The state that runs after some sources have ended: one node, `start`, or the members of a barrier. */
export function continueFrom(
  machine: Machine,
  sources: readonly string[],
  span: Span,
  edges = edgesFrom(machine, sources),
): string {
  if (sources.some((source) => machine.exit?.members.has(source))) {
    if (edges[0] !== undefined)
      machine.refuse(
        edges[0].span,
        "a member of the barrier also leads elsewhere, and a branch of a Parallel has one way on",
        "lead the other edge from the node behind the barrier",
      );
    return machine.last;
  }
  const decisions = edges.filter(({ to }) => to.kind !== "plain");
  const plain = edges.filter(({ to }) => to.kind === "plain");
  if (decisions.length > 0 && plain.length > 0)
    machine.refuse(
      decisions[0]!.span,
      "a state has one next state, and here a condition stands beside other edges",
      "lead one edge to a node, and decide behind it",
    );
  if (decisions.length > 0) return decide(machine, sources, decisions);
  return goTo(machine, plain.flatMap(targetsOf), span);
}

function edgesFrom(machine: Machine, sources: readonly string[]): readonly BoundEdge[] {
  return machine.graph.edges.filter(({ source, onError, span }) => {
    if (onError) return false;
    if (source.kind === "nodes") return source.nodes.some(({ name }) => sources.includes(name));
    const isMember = source.members.some((group) => group.some(({ name }) => sources.includes(name)));
    if (isMember && !sources.some((name) => machine.exit?.members.has(name)))
      machine.refuse(
        span,
        "the branches of this barrier do not begin at one node",
        "start them with one edge: `a -> b, c`",
      );
    return false;
  });
}

/** The state that follows: the target, a Parallel for several, or the last state. */
export function goTo(machine: Machine, references: readonly BoundReference[], span: Span): string {
  const seen = new Map(references.map((reference) => [reference.name, reference]));
  for (const { name, span: at } of seen.values())
    if (name === "rollback")
      machine.refuse(at, "`rollback` has no form in a state machine", "undo the results with nodes");
  // A branch that ends at once does nothing.
  seen.delete(END_NAME);
  const [only, ...more] = seen.values();
  if (only === undefined) {
    if (machine.exit !== undefined && machine.exit.members.size > 0)
      machine.refuse(
        references[0]?.span ?? span,
        "a branch ends before the barrier behind its Parallel",
        "lead each branch to the barrier",
      );
    return machine.last;
  }
  return more.length === 0 ? machine.stateOf(only.name) : writeParallel(machine, [only, ...more]);
}

function decide(machine: Machine, sources: readonly string[], edges: readonly BoundEdge[]): string {
  const name = machine.fresh(`${sources.join(" and ")} decides`);
  const calls: State[] = [];
  const textOf = (value: TypedExpression): string => {
    const text = machine.text(value);
    calls.push(...machine.calls.splice(0));
    return text;
  };
  const choices: Json[] = [];
  let otherwise: readonly BoundReference[] | undefined;
  const choose = (condition: string, targets: readonly BoundReference[], span: Span): void =>
    void choices.push({ Condition: inPercent(condition), Next: goTo(machine, targets, span) });
  const kinds = new Set(edges.map(({ to }) => (to.kind === "otherwise" ? "when" : to.kind)));
  const whens = edges.filter(({ to }) => to.kind === "when");
  const conditions = whens.flatMap(({ to }) => (to.kind === "when" ? [to.condition.expression] : []));
  if (kinds.size > 1 || !areExclusive(conditions) || (whens.length === 0 && edges.length > 1))
    machine.refuse(
      edges[1]!.span,
      "several conditions of one node can hold at once, and a state has one next state",
      "write them as one `match { … }`",
    );
  for (const { to, span } of edges) {
    switch (to.kind) {
      case "when":
        choose(textOf(to.condition), to.targets, span);
        break;
      case "otherwise":
        otherwise = to.targets;
        break;
      case "match": {
        const subject = textOf(to.subject);
        for (const arm of to.arms)
          choose(
            arm.values.map((value) => `${subject} = ${JSON.stringify(value)}`).join(" or "),
            arm.targets,
            arm.span,
          );
        otherwise = to.otherwise?.targets;
        break;
      }
      case "cases":
        for (const arm of to.arms) choose(textOf(arm.condition), arm.targets, arm.span);
        otherwise = to.otherwise?.targets;
        break;
      default:
    }
  }
  // Without a rule that holds, a branch of `when` ends, and a `match` fails.
  const ends = whens.length > 0 && otherwise === undefined;
  if (ends) otherwise = [];
  machine.states.set(name, {
    Type: "Choice",
    Choices: choices,
    ...(otherwise === undefined ? {} : { Default: goTo(machine, otherwise, edges[0]!.span) }),
  });
  return machine.enterThroughCalls(name, calls);
}

function writeParallel(machine: Machine, targets: readonly BoundReference[]): string {
  const found = branchesOf(machine.graph, targets, machine.variables);
  if ("message" in found) return machine.refuse(found.span, found.message, found.help);
  const { branches, join, shared } = found satisfies Branches;
  const name = machine.fresh(targets.map((target) => target.name).join(" and "));
  const state: State = { Type: "Parallel" };
  machine.states.set(name, state);
  const updates = new Map<string, string>();
  state["Branches"] = branches.map(({ first, writes }, index) => {
    const own = new Map(machine.variables);
    const assign: [string, Json][] = [];
    const output: [string, Json][] = [];
    for (const channel of writes) {
      const outer = `$${machine.variables.get(channel)!}`;
      const variable = freshName(`${channel}_${index + 1}`, machine.shared.variables);
      own.set(channel, variable);
      const kind = shared.get(channel);
      assign.push([variable, kind === undefined ? inPercent(outer) : kind === "append" ? [] : 0]);
      output.push([channel, inPercent(`$${variable}`)]);
      const result = `$states.result[${index}].${fieldText(channel)}`;
      const before = updates.get(channel) ?? outer;
      updates.set(
        channel,
        kind === undefined ? result : kind === "append" ? `$append(${before}, ${result})` : `${before} + ${result}`,
      );
    }
    const members = new Set(
      join?.source.kind === "nodes" ? [] : (join?.source.members.flat() ?? []).map(({ name }) => name),
    );
    const writer = new Machine(machine.graph, machine.shared, machine.depth + 1, own, { members }, machine);
    return writer.write(
      { Type: "Pass", ...(assign.length === 0 ? {} : { Assign: Object.fromEntries(assign) }) },
      { Type: "Succeed", Output: Object.fromEntries(output) },
      () => writer.stateOf(first),
    );
  });
  if (updates.size > 0)
    state["Assign"] = Object.fromEntries(
      [...updates].map(([channel, text]) => [machine.variables.get(channel)!, inPercent(text)]),
    );
  state["Next"] =
    join === undefined
      ? goTo(machine, [], targets[0]!.span)
      : continueFrom(machine, [`${name} joined`], join.span, [join]);
  return name;
}

/** The targets of an edge without arms. */
export function targetsOf({ to }: BoundEdge): readonly BoundReference[] {
  return to.kind === "match" || to.kind === "cases" ? [] : to.targets;
}
