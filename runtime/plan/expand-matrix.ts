import { NodeError } from "../interface/errors.ts";
import type { NodeCode } from "../program/program.ts";
import type { Json, JsonObject } from "../value/json.ts";
import type { PlanTable, TaskSpec } from "../table/plan-table.ts";
import { MOST_VALUES, textsOf } from "./matrix-names.ts";
import { nodesOf } from "./plan-nodes.ts";
import type { PlanProgram, TaskCode } from "./plan-program.ts";

/**
 * A plan that is a matrix (`PlanTable.matrix`), with one task for each value of its input, in their order. Links nothing again:
 * all tasks share the code of the one task.
 *
 * @throws NodeError NG_NODE_FAILED for more values than a matrix may have
 */
export function expandMatrix(program: PlanProgram, input: JsonObject): PlanProgram {
  const { plan } = program;
  const [task] = program.tasks;
  if (plan.matrix === undefined || task?.spec.item === undefined) return program;
  const { name: variable } = task.spec.item;
  const values = (input[plan.channels[plan.matrix.list]?.name ?? ""] ?? []) as readonly Json[];
  if (values.length > MOST_VALUES) {
    const message = `a matrix has at most ${MOST_VALUES} values, and \`${task.spec.name}\` has ${values.length}`;
    throw new NodeError("NG_NODE_FAILED", task.spec.name, message);
  }
  const texts = namesOf(values, variable);
  const specs = values.map((value, at): TaskSpec => {
    const name = `${task.spec.name}[${texts[at] ?? ""}]`;
    return { ...task.spec, name, item: { name: variable, value } };
  });
  const expanded: PlanTable = { ...plan, tasks: specs };
  const table = nodesOf(expanded);
  let check = specs.length;
  const tasks = specs.map((spec, index): TaskCode => ({
    ...task,
    index,
    spec,
    node: nodeFor(task.node, spec.name, index),
    checks: task.checks.map((each) => ({ ...each, node: nodeFor(each.node, table.nodes[check]?.name ?? "", check++) })),
  }));
  const checks = tasks.flatMap((each) => each.checks.map(({ node }) => node));
  const nodes = [...tasks.map(({ node }) => node), ...checks];
  return {
    ...program,
    plan: expanded,
    program: { ...program.program, table, nodes, nodeIndex: new Map(nodes.map(({ spec }, at) => [spec.name, at])) },
    tasks,
    successors: tasks.map(() => []),
    writers: program.writers.map((list) => (list.length === 0 ? [] : tasks.map(({ index }) => index))),
    taskIndex: new Map(tasks.map(({ spec, index }) => [spec.name, index])),
  };
}

function nodeFor(node: NodeCode, name: string, index: number): NodeCode {
  const spec = { ...node.spec, name };
  return { ...node, index, spec, stepNames: [name], plainTask: undefined, plainTasks: undefined };
}

/** With several axes, each value is a record of theirs: `test[linux,20]`. */
function namesOf(values: readonly Json[], variable: string): readonly string[] {
  const axes = variable.split(", ");
  if (axes.length === 1) return textsOf(values);
  const known = axes.map((axis) => {
    const own = [...new Set(values.map((value) => (value as JsonObject)[axis] ?? null))];
    const texts = textsOf(own);
    return new Map(own.map((value, index) => [value, texts[index] ?? ""]));
  });
  const joined = values.map((value) =>
    axes.map((axis, at) => known[at]?.get((value as JsonObject)[axis] ?? null) ?? "").join(","),
  );
  const seen = new Set(joined);
  return seen.size === joined.length ? joined : joined.map((text, at) => `${text}#${at + 1}`);
}
