import { findSimilar } from "../../diagnostics/similar.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { CommandError } from "../process/command-error.ts";
import { parseTyped } from "../threads/parse-answers.ts";

/**
 * The option `config` of the `--config NAME=VALUE` flags; empty without flags. A value that is JSON is parsed as JSON if the type of the
 * name accepts that; otherwise it is a text.
 *
 * @throws CommandError for a name that the graph does not have, or that has two values
 */
export function parseConfig(
  given: readonly string[] | undefined,
  table: Table | PlanTable,
): { readonly config?: JsonObject } {
  if (given === undefined) return {};
  const known = new Map(table.channels.flatMap((each) => (each.role === "config" ? [[each.name, each.type]] : [])));
  const values = new Map<string, Json>();
  for (const text of given) {
    const [, name = "", value = ""] = /^(\w+)=(.*)$/s.exec(text) ?? [];
    if (name === "") throw new CommandError(`--config takes NAME=VALUE, not \`${text}\``);
    const type = known.get(name);
    if (type === undefined) {
      const names = [...known.keys()];
      const similar = findSimilar(name, names);
      throw new CommandError(`${table.kind} \`${table.name}\` has no configuration \`${name}\``, {
        help:
          similar !== undefined
            ? `did you mean \`${similar}\`?`
            : names.length === 0
              ? `it has none: a graph declares it as \`config ${name}: string\``
              : `its configuration is ${names.map((one) => `\`${one}\``).join(", ")}`,
      });
    }
    if (values.has(name)) throw new CommandError(`--config has two values for \`${name}\``);
    values.set(name, parseTyped(value, { type, types: table.types }));
  }
  return { config: Object.fromEntries(values) };
}
