/** The text of the graph of a machine. */
import { comment, ImportError, isObject, type Source } from "../imported.ts";
import type { FileText } from "./file-text.ts";
import { Machine, type Outer, type WrittenMachine } from "./machine.ts";
import { writeStates } from "./states.ts";

/** Machines nest at most so deep. */
const DEEPEST = 12;

/** @throws ImportError */
export function writeMachine(source: Source, name: string, file: FileText, outer?: Outer): WrittenMachine {
  const depth = outer?.depth ?? 0;
  if (depth > DEEPEST) throw new ImportError(source.at, `machines nest more than ${DEEPEST} levels deep`);
  if (!isObject(source.value)) throw source.wrong("a state machine");
  const machine = new Machine(source, file, outer);
  if (machine.states.size === 0) throw source.field("States").wrong("states");
  const graph = file.globals.of("graph", depth === 0 ? name : `${name} ${source.at}`);
  const graphName = depth === 0 ? graph : file.globals.fresh(name);
  const start = machine.state(source.field("StartAt"));
  writeStates(machine, start, writeMachine);

  for (const [field, message] of [
    ["TimeoutSeconds", "a graph has no time limit: the caller of the run cancels it"],
    ["ProcessorConfig", "each item runs in the process of the run"],
  ] as const) {
    const value = source.field(field);
    if (!value.isPresent || (field === "ProcessorConfig" && value.field("Mode").value !== "DISTRIBUTED")) continue;
    machine.change(value.at, message);
  }
  const type = machine.isTyped ? file.typeOf(machine.shape, graphName) : "json";
  if (machine.isTyped && depth === 0) {
    machine.change(
      source.at,
      "the type of the data follows from the use of its fields: a value of another type fails the run, and a missing field is `null`",
    );
  }
  const doc = source.field("Comment");
  const text = [
    ...machine.restOfNotes.map((note) => note.trimStart()),
    ...(typeof doc.value === "string" && doc.value !== "" ? [comment(doc.value, "///")] : []),
    `graph ${graphName} {`,
    `  input input: ${type} = {}`,
    ...[...machine.captured.values()].map((channel) => `  input ${channel}: json = null`),
    `  output data: ${type}${machine.isTyped ? " = {}" : ""}`,
    ...machine.channels,
    "",
    "  node begin = input into data",
    ...machine.nodes,
    "",
    ...machine.edges,
    "}",
  ];
  file.graphs.push(text.join("\n"));
  return { graph: graphName, captured: machine.captured };
}
