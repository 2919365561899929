/**
 * Graphs as state machines of Amazon States Language, with JSONata. A machine has one state at a time: the channels are its
 * variables, branches that meet in a barrier are a Parallel, a called graph is a Parallel of one branch, and a node with `for` is a
 * Map. Inner machines have variables with other names, because they cannot assign those of the machine around.
 */
import { FINALLY, START, type BoundChannel, type BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { Json } from "../../runtime/value/json.ts";
import { continueFrom } from "./asl/control-flow.ts";
import { findHelpers, readModuleFile, type ReadModule } from "./asl/imported-stubs.ts";
import { constantValue, fieldText, inPercent, JSONATA_FUNCTIONS } from "./asl/jsonata-text.ts";
import { freshName, Machine, type Shared, type State } from "./asl/machine.ts";
import { writeNode } from "./asl/node-states.ts";
import { ExportError, Losses, type Exported } from "./losses.ts";

/** Machines nest at most so deep, as in the importer. */
const DEEPEST = 12;

/** @throws ExportError */
export function exportAmazonStates(graph: BoundGraph, readModule: ReadModule = readModuleFile): Exported {
  const shared: Shared = {
    losses: new Losses(),
    stateNames: new Set(),
    variables: new Set(["states", ...JSONATA_FUNCTIONS]),
    helperOf: findHelpers(readModule),
    writeNode,
    writeGraph: graphMachine,
  };
  const machine = graphMachine(graph, shared, 0);
  const text = JSON.stringify({ Comment: graph.doc ?? graph.name, QueryLanguage: "JSONata", ...machine }, null, 2);
  return { text: `${text}\n`, losses: shared.losses.list };
}

/** The machine of a graph: its input has the inputs, and its output the outputs. */
function graphMachine(graph: BoundGraph, shared: Shared, depth: number): State {
  if (depth > DEEPEST)
    throw new ExportError({
      file: graph.file,
      span: graph.declaration.name.span,
      message: `graphs call each other more than ${DEEPEST} levels deep`,
      help: "export the inner graph by itself",
    });
  const variables = new Map(graph.channels.map(({ name }) => [name, freshName(name, shared.variables)]));
  const writer = new Machine(graph, shared, depth, variables, undefined);
  reportGraph(writer);
  const start: State = {
    Type: "Pass",
    Assign: Object.fromEntries(graph.channels.map((channel) => [variables.get(channel.name)!, startValue(channel)])),
  };
  const outputs = graph.channels.filter(({ role }) => role === "output");
  const output = Object.fromEntries(outputs.map(({ name }) => [name, inPercent(`$${variables.get(name)!}`)]));
  return writer.write(start, { Type: "Succeed", Output: output }, (): string =>
    continueFrom(writer, [START], graph.declaration.name.span),
  );
}

function startValue({ name, role, initial, reducer, type }: BoundChannel): Json {
  const kind = reducer?.kind;
  const empty: Json =
    kind === "append" || kind === "union" || (kind === "merge" && type.kind === "list")
      ? []
      : kind === "merge"
        ? {}
        : kind === "sum"
          ? 0
          : null;
  const value = initial ?? empty;
  if (role !== "input" && role !== "config") return constantValue(value);
  const given = `$states.input.${fieldText(name)}`;
  return inPercent(initial === undefined ? given : `$exists(${given}) ? ${given} : ${JSON.stringify(value)}`);
}

/** Reports the parts of a graph, apart from its nodes and edges, that a machine has no form for. */
function reportGraph(machine: Machine): void {
  const { graph } = machine;
  for (const { kind, span } of graph.declaration.statements) {
    if (kind === "Limit")
      machine.lose(span, "a state machine has no such limit", "set `TimeoutSeconds` of the machine instead");
    if (kind === "Assert")
      machine.lose(span, "a state machine has no assertions", "keep the `.ngraph` file, and check it with `ngc`");
  }
  const typed = graph.channels.find(({ type }) => type.kind !== "json");
  if (typed !== undefined)
    machine.lose(
      typed.declaration.type.span,
      "variables of a state machine have no types",
      "check values in the functions",
    );
  for (const { source, span } of graph.edges) {
    if (source.kind === "nodes" && source.nodes.some(({ name }) => name === FINALLY))
      machine.refuse(span, "`finally` has no form in a state machine", "clean up in the system that starts it");
  }
  for (const { role, name, declaration } of graph.channels) {
    if (role === "memory")
      machine.lose(declaration.span, `\`${name}\` does not outlive an execution`, "read and write it in the functions");
  }
}
