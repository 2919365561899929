/**
 * Programs of LangGraph JS: the calls of `StateGraph` builders, read from the syntax tree. Nothing of the program runs. The nodes
 * stay functions of TypeScript.
 */
import { Changes, ImportError, type Imported } from "./imported.ts";
import { writeStateGraph, type StateGraph } from "./state-graph.ts";
import { constants, declarations, type ReadModule } from "./program-modules.ts";
import { line, parseProgram } from "./program-tree.ts";
import { BuilderCalls } from "./langgraph/builder-calls.ts";
import { findBuilders, methodOf, type Builder, type FoundBuilders } from "./langgraph/builders.ts";
import { FunctionNames } from "./langgraph/function-names.ts";
import type { CalledGraph, NodeReading } from "./langgraph/nodes.ts";
import { readState } from "./langgraph/state.ts";
import { renamedEnds } from "./langgraph/trees.ts";

/**
 * @param readModule reads the files that the program imports, in which the state and the node functions may be
 * @throws ImportError
 */
export function importLangGraphJs(text: string, name: string, module: string, readModule?: ReadModule): Imported {
  const program = parseProgram(text);
  const declared = new Map([...renamedEnds(program), ...declarations(program, readModule)]);
  const found = findBuilders(program);
  if (found.builders.length === 0)
    throw new ImportError(
      "line 1",
      "the program creates no `StateGraph`",
      "import the file that has `new StateGraph(…)`",
    );
  const changes = new Changes();
  const header = found.unread.map(([at, message]) => changes.add(at, message));
  const written = new Map<Builder, CalledGraph>();
  const shared = {
    declared,
    constants: constants(program, declared),
    names: new FunctionNames(),
    changes,
    routers: new Map(),
    graphOf: (tree) => {
      const builder = found.arguments.get(tree);
      return builder === undefined ? undefined : written.get(builder);
    },
  } satisfies Partial<NodeReading>;
  const graphs: StateGraph[] = [];
  const taken: GraphNames = { names: new Set(), last: new Map() };
  const problems: ImportError[] = [];
  for (const builder of found.builders) {
    const graphName = nameOfGraph(builder, name, taken);
    try {
      const graph = readGraph(builder, graphName, found, shared);
      taken.names.add(graphName);
      written.set(builder, { name: graphName, channels: new Set(graph.channels.map((channel) => channel.name)) });
      graphs.push(graph);
    } catch (error) {
      if (!(error instanceof ImportError)) throw error;
      problems.push(error);
      header.push(changes.add(error.at, `the graph \`${graphName}\` is left out: ${error.message}`));
    }
  }
  const main = graphs.pop();
  if (main === undefined) throw problems[0]!;
  const { text: graphText, stubs } = writeStateGraph({ ...main, graphs }, module, header);
  return { text: graphText, stubs, changes: changes.list };
}

/** Everything that the graphs of a file share. */
type SharedReading = Omit<NodeReading, "channels" | "end" | "functions">;

/** @throws ImportError */
function readGraph(
  builder: Builder,
  name: string,
  { conditional, unread }: FoundBuilders,
  shared: SharedReading,
): StateGraph {
  const { changes } = shared;
  const at = line(builder.creation);
  const notes: string[] = [];
  const channels = readState(builder.creation, { ...shared, notes });
  const calls = new BuilderCalls({
    ...shared,
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    functions: new Map(),
    end: (tree) => calls.end(tree),
  });
  for (const call of builder.calls) {
    const method = methodOf(call);
    if (conditional.has(call) && method !== "compile")
      notes.push(
        changes.add(line(call), `\`${method}\` is under a condition or in a loop, and counts here as if it ran once`),
      );
    calls.read(method, call);
  }
  if (calls.nodes.size === 0 && unread.length > 0)
    throw new ImportError(...unread[0]!, "keep the graph in one variable, from `new StateGraph(…)` on");
  if (calls.nodes.size === 0)
    throw new ImportError(at, "the `StateGraph` has no nodes in this file", "import the file that adds the nodes");
  return {
    name,
    notes: [...notes, ...calls.notes],
    channels,
    nodes: calls.pausedNodes(),
    edges: calls.edges(at),
    graphs: [],
  };
}

interface GraphNames {
  readonly names: Set<string>;
  /** By name without a number: the last number of a name. */
  readonly last: Map<string, number>;
}

/** The name of a variable of the graph, or else that of the file. */
function nameOfGraph({ variables }: Builder, file: string, taken: GraphNames): string {
  const wish = variables.find((variable) => !GENERIC.has(variable)) ?? file;
  let count = taken.last.get(wish) ?? 1;
  let name = count === 1 ? wish : `${wish}_${count}`;
  while (taken.names.has(name)) name = `${wish}_${++count}`;
  taken.last.set(wish, count);
  return name;
}

const GENERIC: ReadonlySet<string> = new Set([
  "graph",
  "workflow",
  "builder",
  "graphBuilder",
  "app",
  "stateGraph",
  "module",
]);
