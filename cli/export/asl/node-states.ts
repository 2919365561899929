/** Nodes as states: Task, Pass, Wait, Fail, a Parallel for a called graph, and a Map for items. */
import type { BoundCall, BoundNode } from "../../../compiler/bind/bound-graph.ts";
import type { Json } from "../../../runtime/value/json.ts";
import { constantOf } from "../constant.ts";
import { textOf } from "../state-idiom.ts";
import { continueFrom } from "./control-flow.ts";
import { filterText, helperText, inPercent, jsonataFields } from "./jsonata-text.ts";
import type { Machine, State } from "./machine.ts";
import { assignOutput } from "./node-output.ts";
import { retryOf, writeCatch } from "./retry-and-catch.ts";

/** Writes the state of a node, and those that it calls before. */
export function writeNode(machine: Machine, node: BoundNode): void {
  reportPolicies(machine, node);
  const name = machine.stateOf(node.name);
  const state: State = { ...(node.doc === undefined ? {} : { Comment: node.doc }) };
  machine.states.set(name, state);
  const next = (): void => {
    leave();
    state["Next"] = continueFrom(machine, [node.name], node.declaration.name.span);
  };
  /** The node's name is that of the state that is entered. */
  const leave = (): void => {
    if (machine.calls.length === 0) return;
    const policies = Object.fromEntries(
      ["Retry", "Catch"].flatMap((key) => (key in state ? [[key, state[key]!]] : [])),
    );
    const own = machine.fresh(`${node.name} called`);
    machine.states.set(own, state);
    const [first, ...calls] = machine.calls.map((call): State => ({ ...call, ...policies }));
    machine.states.set(name, { ...first, Next: machine.enterThroughCalls(own, calls) });
  };
  const { call } = node;
  const hasItems = node.each !== undefined;
  if (call.kind === "builtin" && !hasItems && call.signature.name === "fail") {
    const message = call.args[0]?.value;
    Object.assign(state, {
      Type: "Fail",
      Error: "failed",
      ...(message === undefined ? {} : { Cause: machine.value(message) }),
    });
    leave();
    return;
  }
  if (call.kind === "builtin" && !hasItems && call.signature.name === "sleep") {
    const amount = call.args[0]!.value;
    const milliseconds = constantOf(amount.expression);
    if (typeof milliseconds === "number" && milliseconds % 1000 !== 0)
      machine.lose(amount.span, "a Wait has whole seconds: the time is rounded up", "use whole seconds");
    Object.assign(state, {
      Type: "Wait",
      Seconds:
        typeof milliseconds === "number"
          ? Math.ceil(milliseconds / 1000)
          : inPercent(`$ceil(${machine.text(amount)} / 1000)`),
    });
    return next();
  }
  const computed = hasItems ? undefined : computedValue(machine, node, state);
  if (computed === "fails") {
    leave();
    return;
  }
  if (computed !== undefined) {
    writeCatch(machine, node, state, false);
    Object.assign(state, { Type: "Pass", ...assignOutput(machine, node, computed) });
    return next();
  }
  if (hasItems) writeMap(machine, node, state);
  else if (call.kind === "graph") {
    Object.assign(state, {
      Type: "Parallel",
      Arguments: argumentsOf(machine, call),
      Branches: [machine.shared.writeGraph(call.graph, machine.shared, machine.depth + 1)],
      ...assignOutput(machine, node, "$states.result[0]"),
    });
  } else
    Object.assign(state, {
      ...taskOf(machine, node),
      Arguments: argumentsOf(machine, call),
      ...assignOutput(machine, node, "$states.result"),
    });
  Object.assign(state, retryOf(machine, node));
  writeCatch(machine, node, state, true);
  next();
}

/** The value of a node that calls nothing outside, as JSONata. A call of the imported `raise` is a Fail. */
function computedValue(machine: Machine, { call, declaration }: BoundNode, state: State): string | undefined {
  if (call.kind === "expression") return machine.text(call.expression);
  const helper = call.kind === "function" ? machine.shared.helperOf(machine.graph, call.function) : undefined;
  if (helper === undefined || call.kind !== "function") return undefined;
  if (helper !== "raise") {
    const args = call.args.map(({ expression }) => expression);
    return machine.say(declaration.call.span, () => helperText(helper, args, machine.scope()));
  }
  const failure = call.args[0]!;
  const text = machine.text(failure);
  Object.assign(state, { Type: "Fail", Error: inPercent(`${text}.error`), Cause: inPercent(`${text}.cause`) });
  return "fails";
}

function taskOf(machine: Machine, node: BoundNode): State {
  const { call } = node;
  const name = call.kind === "function" ? call.function.name : call.kind === "builtin" ? call.signature.name : "";
  if (name === "")
    machine.refuse(
      node.declaration.call.span,
      "a state machine has no form for this call",
      "move it into an imported function",
    );
  if (call.kind === "builtin")
    machine.lose(
      node.declaration.call.span,
      `\`${name}\` is a function that is to be written for the state machine`,
      `replace the resource \`\${${name}}\` by one that does the same`,
    );
  return {
    Type: "Task",
    // A substitution of the template that deploys the machine.
    Resource: `\${${name}}`,
    ...(node.timeout === undefined ? {} : { TimeoutSeconds: Math.ceil(node.timeout / 1000) }),
  };
}

/** A single record is the input of the function as it is. */
function argumentsOf(machine: Machine, call: BoundNode["call"], locals?: ReadonlyMap<string, string>): Json {
  const scope = machine.scope(locals);
  if (call.kind === "function") {
    const [only] = call.args;
    const fields =
      call.args.length === 1 ? machine.say(only!.span, () => jsonataFields(only!.expression, scope)) : undefined;
    if (fields !== undefined) return fields;
    return { arguments: call.args.map((arg) => machine.value(arg, scope)) };
  }
  const named = (call as Extract<BoundCall, { readonly kind: "graph" | "builtin" }>).args;
  return Object.fromEntries(named.map(({ name, value }) => [name, machine.value(value, scope)]));
}

function writeMap(machine: Machine, node: BoundNode, state: State): void {
  const { call, each, declaration } = node;
  const { item, index, list, condition } = each!;
  if (condition !== undefined && index !== undefined)
    machine.refuse(
      declaration.each?.span ?? declaration.span,
      "positions of items that a condition leaves out have no form in a Map",
      "compute the list in a node before",
    );
  const items = machine.text(list);
  const locals = new Map([[item, "$states.context.Map.Item.Value"]]);
  if (index !== undefined) locals.set(index, "$states.context.Map.Item.Index");
  let processor: State;
  if (call.kind === "graph") processor = machine.shared.writeGraph(call.graph, machine.shared, machine.depth + 1);
  else if (call.kind === "expression")
    machine.refuse(
      declaration.call.span,
      "an expression for each item has no form in a Map",
      "write it as a list: `[x for …]`",
    );
  else {
    const name = machine.fresh(`${node.name} item`);
    processor = {
      StartAt: name,
      States: { [name]: { ...taskOf(machine, node), Arguments: inPercent("$states.input"), End: true } },
    };
  }
  Object.assign(state, {
    Type: "Map",
    Items: inPercent(
      condition === undefined
        ? items
        : machine.say(condition.span, () => filterText(items, item, condition.expression, machine.scope())),
    ),
    ItemSelector: argumentsOf(machine, call, locals),
    ...(node.maxParallel === undefined ? {} : { MaxConcurrency: node.maxParallel }),
    ...(node.allowsFailure === true ? { ToleratedFailurePercentage: 100 } : {}),
    ItemProcessor: processor,
    ...assignOutput(machine, node, "$states.result", true),
  });
  if (node.allowsFailure === true)
    machine.lose(
      declaration.span,
      "results of failed items are error objects in a Map",
      "filter the list in the next node",
    );
}

function reportPolicies(machine: Machine, { name, declaration }: BoundNode): void {
  for (const { kind, span } of declaration.policies) {
    switch (kind) {
      case "Waits":
      case "Goes":
      case "Undo":
      case "Pause":
      case "Within":
        machine.refuse(
          span,
          `\`${textOf(machine.graph, span)}\` of \`${name}\` has no form in a state machine`,
          kind === "Pause" || kind === "Within" ? "wait in a task with a task token" : "say it with edges and nodes",
        );
        break;
      case "Cache":
        machine.lose(span, "a state machine has no cache", "cache the result in the function");
        break;
      default:
    }
  }
}
