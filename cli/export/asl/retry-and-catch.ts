/** `tries` and error edges, as `Retry` and `Catch`. */
import type { BoundEdge, BoundNode } from "../../../compiler/bind/bound-graph.ts";
import { goTo, targetsOf } from "./control-flow.ts";
import { areExclusive } from "./exclusive-conditions.ts";
import { inPercent } from "./jsonata-text.ts";
import type { Machine, State } from "./machine.ts";

export function retryOf(machine: Machine, { tries, declaration }: BoundNode): State {
  if (tries === undefined || tries.attempts <= 1) return {};
  const { min = 0, max = 0 } = tries.backoff ?? {};
  const span = declaration.policies.find(({ kind }) => kind === "Tries")?.span ?? declaration.name.span;
  if (min < 1000 || min % 1000 !== 0 || max % 1000 !== 0)
    machine.lose(span, "a Retry waits whole seconds, and at least one", "use `backoff` with whole seconds");
  const first = Math.max(1, Math.ceil(min / 1000));
  return {
    Retry: [
      {
        ErrorEquals: ["States.ALL"],
        MaxAttempts: tries.attempts - 1,
        IntervalSeconds: first,
        ...(tries.backoff === undefined
          ? { BackoffRate: 1 }
          : { BackoffRate: 2, MaxDelaySeconds: Math.max(first + 1, Math.ceil(max / 1000)) }),
      },
    ],
  };
}

export function writeCatch(machine: Machine, node: BoundNode, state: State, canFail: boolean): void {
  const edges = machine.graph.edges.filter(
    ({ source, onError }) => onError && source.kind === "nodes" && source.nodes.some(({ name }) => name === node.name),
  );
  const [edge, second] = edges;
  if (edge === undefined) return;
  if (!canFail)
    machine.refuse(
      edge.span,
      `an error of the expression \`${node.name}\` cannot be caught in a state machine`,
      "compute it in a function",
    );
  const next =
    second === undefined && edge.to.kind === "plain"
      ? goTo(machine, targetsOf(edge), edge.span)
      : decideError(machine, node.name, edges);
  state["Catch"] = [{ ErrorEquals: ["States.ALL"], Next: next }];
}

/** A Catch takes every error; the state behind it decides by conditions, and fails with the error if none holds. */
function decideError(machine: Machine, node: string, edges: readonly BoundEdge[]): string {
  const rules = edges.flatMap(({ to, span }) => (to.kind === "when" ? [{ ...to, span }] : []));
  const rest = edges.filter(({ to }) => to.kind === "otherwise");
  if (rules.length + rest.length < edges.length || !areExclusive(rules.map(({ condition }) => condition.expression)))
    machine.refuse(
      edges[1]?.span ?? edges[0]!.span,
      "several error edges can apply at once, and a state has one next state",
      "let each condition exclude those before it: `on error when b && !(a)`",
    );
  const name = machine.fresh(`${node} caught`);
  const fails = machine.fresh(`${node} fails`);
  machine.states.set(name, {
    Type: "Choice",
    Choices: rules.map(({ condition, targets, span }) => ({
      Condition: inPercent(machine.text(condition)),
      Next: goTo(machine, targets, span),
    })),
    Default: rest[0] === undefined ? fails : goTo(machine, targetsOf(rest[0]), rest[0].span),
  });
  if (rest.length === 0) {
    const error = machine.errorVariable();
    machine.states.set(fails, {
      Type: "Fail",
      Error: inPercent(`$${error}.Error`),
      Cause: inPercent(`$${error}.Cause`),
    });
  }
  return name;
}
