import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { CommandError } from "../process/command-error.ts";
import { allTables } from "../sources/called-tables.ts";
import type { ModelNodes } from "./model-nodes.ts";

/**
 * Checks the models of all `llm` nodes of a graph and of what it calls before the first node runs. A model whose name is computed is
 * checked when its node runs.
 *
 * @throws CommandError for a model that is unknown, or whose API key is missing
 */
export function refuseMissingModels(table: Table | PlanTable, models: Pick<ModelNodes, "problemOfModel">): void {
  for (const each of allTables(table)) {
    for (const { name, call } of "tasks" in each ? each.tasks : each.nodes) {
      if (call.kind !== "builtin" || call.name !== "llm") continue;
      const model = call.args.find((argument) => argument.name === "model");
      const expression = model === undefined ? undefined : each.expressions[model.expression];
      const value = expression?.op === "const" ? expression.value : undefined;
      if (model !== undefined && typeof value !== "string") continue;
      const problem = models.problemOfModel(typeof value === "string" ? value : undefined);
      if (problem === undefined) continue;
      throw new CommandError(`the node \`${name}\` of \`${each.name}\` cannot call its model: ${problem}`, {
        help: "no node has run: set the key or add the model to `models` in ngraph.json, then repeat the command",
      });
    }
  }
}
