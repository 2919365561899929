/** A Task: a node that calls a function, and one that waits for a signal if the call has a task token. */
import { duration, quoted } from "../imported.ts";
import { writeCatch } from "./catch-edges.ts";
import type { State } from "./machine.ts";
import { policiesOf } from "./policies.ts";
import { atom, type Said } from "./said.ts";
import { inputOf, outputOfDropped, replacesData, writeData } from "./state-data.ts";
import { finishState, type StateEdges } from "./state-edges.ts";
import { block, callbackOf, nameOfResource } from "./state-parts.ts";
import { scopeOf } from "./state-values.ts";

export function writeTask(edges: StateEdges, state: State): void {
  const { machine } = edges;
  const { source, node } = state;
  const resource = source.field("Resource");
  const { name, isCallback } = nameOfResource(resource);
  const token = callbackOf(state.name);
  const context = new Map<string, Said>(isCallback ? [["Task.Token", atom(quoted(token), "string")]] : []);
  const { said } = inputOf(machine, state, context);
  const call = `${machine.file.task(name, `\`${resource.text().replaceAll("`", "'")}\``)}(${said.text})`;
  for (const [field, message] of [
    ["Credentials", "the credentials are those of the process of the run"],
    ["HeartbeatSeconds", "a node has no heartbeat: `timeout` limits the whole attempt"],
    ["HeartbeatSecondsPath", "a node has no heartbeat: `timeout` limits the whole attempt"],
    ["TimeoutSecondsPath", "the time limit of a node is a constant, and is left out"],
  ] as const)
    if (source.field(field).isPresent) machine.change(source.field(field).at, message);
  const seconds = source.field("TimeoutSeconds");
  const isConstant = typeof seconds.value === "number" && seconds.value > 0;
  if (seconds.isPresent && !isConstant)
    machine.change(seconds.at, "the time limit of a node is a constant, and is left out");
  const limit = isConstant ? duration(Math.min(seconds.value as number, 99_999_999) * 1000) : undefined;
  const policies = policiesOf(state, machine);
  const replaces = replacesData(state);
  const dropped =
    source.field("ResultPath").value === null && !source.field("Assign").isPresent && !source.field("Output").isPresent;
  let result = "data";
  let target = " into data";
  if (dropped) target = "";
  else if (!replaces) {
    result = machine.local.fresh(`${node}_result`);
    machine.channels.push(`  state ${result}: json = null`);
    target = ` into ${result}`;
  }
  let last = node;
  if (isCallback) {
    machine.change(resource.at, `the run waits for the signal \`${token}\` in the place of a call with the task token`);
    machine.node(`${node} = ${call}${block(policies)}`);
    last = machine.local.fresh(`${node}_callback`);
    machine.node(
      `${last} = receive(${quoted(token)})${target}${block(limit === undefined ? [] : [`within ${limit}`])}`,
    );
    machine.edge(`${node} -> ${last}`);
  } else
    machine.node(
      `${node} = ${call}${target}${block([...policies, ...(limit === undefined ? [] : [`timeout ${limit}`])])}`,
    );
  writeCatch(edges, state, last === node ? [node] : [node, last]);
  if (dropped) {
    const output = outputOfDropped(machine, state);
    if (output === undefined) edges.next(state, last);
    else {
      const after = machine.local.fresh(`${node}_output`);
      writeData(machine, after, output, [], scopeOf(machine, state));
      machine.edge(`${last} -> ${after}`);
      edges.next(state, after);
    }
  } else finishState(edges, state, result, last, replaces);
}
