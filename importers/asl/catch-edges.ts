/** `Catch` of a state, as error edges. */
import type { State } from "./machine.ts";
import { sayErrorNames } from "./policies.ts";
import { atom, parsePath, type Said } from "./said.ts";
import { atResultPath, variablesOf, writeData } from "./state-data.ts";
import type { StateEdges } from "./state-edges.ts";
import { sayValue, scopeOf } from "./state-values.ts";

/** The edges that `Catch` describes. */
export function writeCatch(edges: StateEdges, state: State, nodes: readonly string[]): void {
  const { machine } = edges;
  const query = machine.queryOf(state);
  const from = nodes.length === 1 ? nodes[0]! : `any(${nodes.join(", ")})`;
  const catchers = state.source.field("Catch").items();
  if (catchers.length > 0 && nodes.length > 1 && state.type === "Parallel")
    machine.change(state.source.field("Catch").at, "the other branches finish when one has failed");
  const conditions = sayErrorNames(catchers);
  for (const [index, catcher] of catchers.entries()) {
    const target = machine.state(catcher.field("Next"));
    const condition = conditions[index];
    if (condition === undefined) {
      machine.change(catcher.at, "the catchers before this one take every error: it is left out");
      continue;
    }
    const node = machine.local.fresh(`${state.node}_caught`);
    const output = atom("{ Error: error.name ?? error.code, Cause: error.message }", "json");
    const scope = scopeOf(machine, state, { error: output });
    let said: Said | undefined;
    if (query === "JSONata") {
      const own = catcher.field("Output");
      said = own.isPresent ? sayValue(machine, state, own, scope, query, true) : output;
      if (!own.isPresent) for (const field of ["Error", "Cause"]) scope.used.note([field], "string");
    } else {
      const path = catcher.field("ResultPath");
      said = atResultPath(path, output, scope);
      const at = path.isPresent && path.value !== null && path.value !== "$" ? parsePath(path.text()).path : [];
      if (path.value !== null) for (const field of ["Error", "Cause"]) scope.used.note([...at, field], "string");
    }
    const inner = query === "JSONata" ? scope : scopeOf(machine, state, {}, { channel: output.text, path: [] });
    const variables = variablesOf(machine, state, catcher, inner, query);
    const edge = condition === "" ? " on error" : ` on error ${condition}`;
    if (said === undefined && variables.length === 0) {
      const next = edges.isInline(target) ? target.node : edges.target(target);
      machine.edge(`${from} -> ${next}${edge}`);
      continue;
    }
    writeData(machine, node, said, variables, scope);
    machine.edge(`${from} -> ${node}${edge}`);
    machine.edge(`${node} -> ${edges.target(target)}`);
  }
}
