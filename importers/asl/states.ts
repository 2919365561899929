/** The states of a machine as nodes and edges. */
import { ImportError } from "../imported.ts";
import { writeArms } from "./choice-arms.ts";
import { writeMap, writeParallel, type WriteMachine } from "./inner-machines.ts";
import type { Machine, State } from "./machine.ts";
import { plainOutput, writeData } from "./state-data.ts";
import { isPlainEnd, StateEdges } from "./state-edges.ts";
import { writeFail, writePass, writeWait } from "./states-without-calls.ts";
import { scopeOf } from "./state-values.ts";
import { writeTask } from "./task-state.ts";

export function writeStates(machine: Machine, start: State, writeMachine: WriteMachine): void {
  const states = [...machine.states.values()];
  const edges = new StateEdges(machine, start);
  // The branches of a Choice are known before an edge leads to it.
  for (const state of states) if (state.type === "Choice") edges.setArms(state, writeArms(edges, state));
  edges.lead("start -> begin", start);
  for (const state of states) writeState(edges, state, writeMachine);
}

function writeState(edges: StateEdges, state: State, writeMachine: WriteMachine): void {
  const { machine } = edges;
  const { source, type, name } = state;
  const doc = source.field("Comment");
  const isNode = !isPlainEnd(state) && !(type === "Choice" && edges.isInline(state));
  if (isNode && typeof doc.value === "string" && doc.value !== "") machine.say(doc.value);
  switch (type) {
    case "Choice":
      if (edges.isInline(state)) return;
      machine.node(`${state.node} = null`);
      edges.match(state.node, state);
      return;
    case "Succeed":
      if (isPlainEnd(state)) return;
      writeData(machine, state.node, plainOutput(machine, state), [], scopeOf(machine, state));
      machine.edge(`${state.node} -> end`);
      return;
    case "Fail":
      writeFail(edges, state);
      return;
    case "Wait":
      writeWait(edges, state);
      return;
    case "Pass":
      writePass(edges, state);
      return;
    case "Task":
      writeTask(edges, state);
      return;
    case "Parallel":
      writeParallel(edges, state, writeMachine);
      return;
    case "Map":
      writeMap(edges, state, writeMachine);
      return;
    default:
      throw new ImportError(source.at, `the state \`${name}\` has no type`);
  }
}
