import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { CallSpec, Table } from "../../runtime/table/table.ts";
import { SUPPLIED_BY_RUNNER } from "../../stdlib/signatures.ts";
import { fieldName } from "./quote.ts";

/**
 * The arguments of `$.createGraph` or `$.createPlan` after the options: the built-in nodes and the parts of the engine that a
 * graph or plan uses, also where it calls others. A bundler leaves out what no module names. `ngraph/generated` exports each built-in
 * node as `<name>Node`; those that the runner supplies are options.
 */
export function engineParts(table: Table | PlanTable): string {
  const uses = usesOf(table);
  const builtins = [...uses.builtins].filter((name) => !SUPPLIED_BY_RUNNER.includes(name)).sort();
  // A plan runs with the whole engine.
  const parts = "tasks" in table || uses.plans ? [] : partsOf(uses);
  const isWhole = !("tasks" in table) && uses.plans;
  const second = isWhole
    ? "$.callingPlans"
    : parts.length > 1
      ? `{ ${parts.map((part) => `...${part}`).join(", ")} }`
      : (parts[0] ?? "");
  if (builtins.length === 0 && second === "") return "";
  const first =
    builtins.length === 0 ? "{}" : `{ ${builtins.map((name) => `${fieldName(name)}: $.${name}Node`).join(", ")} }`;
  return second === "" ? `, ${first}` : `, ${first}, ${second}`;
}

function partsOf({ graphs, tools, finally: hasFinally, undo, secrets }: Uses): readonly string[] {
  return [
    ...(tools ? ["$.callingTools"] : graphs ? ["$.callingGraphs"] : []),
    ...(hasFinally ? ["$.endingFinally"] : []),
    ...(undo ? [secrets ? "$.undoingWithSecrets" : "$.undoing"] : []),
  ];
}

interface Uses {
  readonly builtins: Set<string>;
  graphs: boolean;
  /** A graph is a tool of a model. */
  tools: boolean;
  plans: boolean;
  finally: boolean;
  undo: boolean;
  secrets: boolean;
}

function usesOf(outermost: Table | PlanTable): Uses {
  const uses: Uses = {
    builtins: new Set(),
    graphs: false,
    tools: false,
    plans: false,
    finally: false,
    undo: false,
    secrets: false,
  };
  const seen = new Set<Table | PlanTable>();
  const open = [outermost];
  for (let table = open.pop(); table !== undefined; table = open.pop()) {
    if (seen.has(table)) continue;
    seen.add(table);
    const plans = table.plans ?? [];
    uses.graphs ||= table.graphs.length > 0;
    uses.plans ||= plans.length > 0;
    for (const each of [...table.graphs, ...plans]) open.push(each);
    uses.secrets ||= table.secrets.length > 0;
    for (const call of callsOf(table)) {
      if (call.kind !== "builtin") continue;
      uses.builtins.add(call.name);
      uses.tools ||= (call.tools ?? []).some(({ graph }) => graph !== undefined);
    }
    if ("tasks" in table) continue;
    uses.finally ||= table.finally !== undefined;
    uses.undo ||= table.nodes.some(({ undo }) => undo !== undefined);
  }
  return uses;
}

function callsOf(table: Table | PlanTable): readonly (CallSpec | PlanTable["tasks"][number]["call"])[] {
  if ("tasks" in table) return table.tasks.flatMap(({ call, checks }) => [call, ...checks]);
  return table.nodes.flatMap(({ call, undo }) => (undo === undefined ? [call] : [call, undo.call]));
}
