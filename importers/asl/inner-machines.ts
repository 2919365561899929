/** Machines inside of a state, as called graphs: branches of a Parallel, and items of a Map. */
import { ImportError, type Source } from "../imported.ts";
import { writeCatch } from "./catch-edges.ts";
import type { Machine, Outer, State, WrittenMachine } from "./machine.ts";
import { itemPolicies, policiesOf } from "./policies.ts";
import { atom, type Said } from "./said.ts";
import { inputOf, outputOfDropped, replacesData, writeData } from "./state-data.ts";
import { finishState, type StateEdges } from "./state-edges.ts";
import { asPath, block, nameOfResource } from "./state-parts.ts";
import { DATA, rootOf, sayPath, sayValue, scopeOf } from "./state-values.ts";

/** Writes a machine inside of a state as a graph of its own. */
export type WriteMachine = (source: Source, name: string, file: Machine["file"], outer: Outer) => WrittenMachine;

export function writeParallel(edges: StateEdges, state: State, writeMachine: WriteMachine): void {
  const { machine } = edges;
  const { source, node } = state;
  const nodes = edges.branchNodes(state);
  const { said, isNew } = inputOf(machine, state);
  const policies = policiesOf(state, machine);
  if (nodes.length > 1 && policies.length > 0)
    machine.change(source.field("Retry").at, "each branch is retried by itself");
  const results: string[] = [];
  for (const [index, branch] of source.field("Branches").items().entries()) {
    const written = writeInner(
      machine,
      writeMachine,
      branch,
      `${machine.states.size > 0 ? node : ""}_branch_${index + 1}`,
      state,
      !isNew,
    );
    const result = machine.local.fresh(`${node}_${index + 1}_result`);
    machine.channels.push(`  state ${result}: json = null`);
    results.push(result);
    machine.node(
      `${nodes[index]} = ${written.graph}(${inputsOf(machine, said, written)}) into { data: ${result} }${block(policies)}`,
    );
  }
  writeCatch(edges, state, nodes);
  const list = machine.local.fresh(`${node}_results`);
  const isDropped = source.field("ResultPath").value === null;
  const from = nodes.length === 1 ? nodes[0]! : `all(${nodes.join(", ")})`;
  if (isDropped && !source.field("Assign").isPresent) {
    // The data stays, and a node joins the branches.
    if (nodes.length === 1) return edges.next(state, from);
    writeData(machine, list, outputOfDropped(machine, state), [], scopeOf(machine, state));
    machine.edge(`${from} -> ${list}`);
    return edges.next(state, list);
  }
  if (replacesData(state)) {
    writeData(machine, list, atom(`[${results.join(", ")}]`, "json"), [], scopeOf(machine, state));
    machine.edge(`${from} -> ${list}`);
    return edges.next(state, list);
  }
  const channel = machine.local.fresh(`${node}_list`);
  machine.channels.push(`  state ${channel}: json[] = []`);
  machine.node(`${list} = [${results.join(", ")}] into ${channel}`);
  machine.edge(`${from} -> ${list}`);
  finishState(edges, state, channel, list, false);
}

export function writeMap(edges: StateEdges, state: State, writeMachine: WriteMachine): void {
  const { machine } = edges;
  const { source, node } = state;
  const query = machine.queryOf(state);
  const processor = source.field("ItemProcessor").isPresent ? source.field("ItemProcessor") : source.field("Iterator");
  if (!processor.isPresent) throw source.field("ItemProcessor").wrong("a state machine");
  const batcher = source.field("ItemBatcher");
  if (batcher.isPresent)
    throw new ImportError(
      batcher.at,
      "a graph is called for each item, and not for batches of items",
      "let the task before the Map make lists of items",
    );
  for (const [field, message] of [
    ["ResultWriter", "the results stay in the run: write them with a node behind the Map"],
    ["Label", "the label has no meaning here"],
    ["MaxConcurrencyPath", "the number of items that run at once is a constant, and is left out"],
  ] as const)
    if (source.field(field).isPresent) machine.change(source.field(field).at, message);
  const scope = scopeOf(machine, state);
  const root = query === "JSONPath" ? rootOf(machine, state, scope) : DATA;
  const listScope = scopeOf(machine, state, {}, root);
  const reader = source.field("ItemReader");
  const items = query === "JSONata" ? source.field("Items") : source.field("ItemsPath");
  let list: Said;
  let first = node;
  if (reader.isPresent) {
    const { name } = nameOfResource(reader.field("Resource"));
    machine.change(
      reader.at,
      `the function \`${machine.file.task(name, `\`${reader.field("Resource").text().replaceAll("`", "'")}\`: returns the items`)}\` reads the items`,
    );
    const argumentsOf = reader.field(query === "JSONata" ? "Arguments" : "Parameters");
    const said = argumentsOf.isPresent
      ? sayValue(machine, state, argumentsOf, listScope, query, false)
      : atom("data", "json");
    const read = machine.local.fresh(`${node}_items`);
    machine.channels.push(`  state ${read}: json[] = []`);
    machine.node(`${node} = ${machine.file.task(name, "")}(${said.text}) into ${read}`);
    first = machine.local.fresh(`${node}_each`);
    machine.edge(`${node} -> ${first}`);
    list = atom(read, "any");
  } else if (query === "JSONata") {
    list = items.isPresent ? sayValue(machine, state, items, scope, query, false) : atom("data", "json");
  } else list = sayPath(machine, state, items.isPresent ? items : asPath(items), listScope);
  const listText =
    list.kind === "any" || list.text.startsWith("[") ? list.text : `${scope.helper("untyped")}(${list.text})`;
  const context = new Map<string, Said>([
    ["Map.Item.Value", atom("item", "any")],
    ["Map.Item.Index", atom("index", "float")],
  ]);
  const selector =
    query === "JSONata" || source.field("ItemSelector").isPresent
      ? source.field("ItemSelector")
      : source.field("Parameters");
  const own = selector.isPresent
    ? sayValue(machine, state, selector, scopeOf(machine, state, { context }, root), query, false)
    : atom(`${scope.helper("untyped")}(item)`, "any");
  const written = writeInner(machine, writeMachine, processor, `${node}_item`, state, false, !selector.isPresent);
  const result = machine.local.fresh(`${node}_results`);
  machine.channels.push(`  state ${result}: json[] = []`);
  const policies = policiesOf(state, machine);
  if (policies.length > 0) machine.change(source.field("Retry").at, "each item is retried by itself");
  itemPolicies(state, machine, policies);
  const index = /\bindex\b/.test(own.text) ? ", index" : "";
  machine.node(
    `${first} = ${written.graph}(${inputsOf(machine, own, written)}) for item${index} in ${listText} into { data: ${result} }${block(policies)}`,
  );
  writeCatch(edges, state, first === node ? [node] : [node, first]);
  if (source.field("ResultPath").value === null && !source.field("Assign").isPresent) return edges.next(state, first);
  finishState(edges, state, result, first, false);
}

function writeInner(
  machine: Machine,
  writeMachine: WriteMachine,
  source: Source,
  wish: string,
  state: State,
  isSame: boolean,
  isOwn = false,
): WrittenMachine {
  return writeMachine(source, wish.replace(/^_/, ""), machine.file, {
    depth: (machine.outer?.depth ?? 0) + 1,
    query: machine.queryOf(state),
    isTyped: isOwn || (isSame && machine.isTyped),
    ...(isSame ? { shape: machine.shape } : {}),
    hasVariable: (name) => machine.hasVariable(name),
  });
}

function inputsOf(machine: Machine, input: Said, { captured }: WrittenMachine): string {
  const variables = [...captured].map(([name, channel]) => `${channel}: ${machine.variable(name)}`);
  return [`input: ${input.text}`, ...variables].join(", ");
}
