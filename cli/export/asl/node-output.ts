/** The result of a node as the variables that its state assigns. */
import type { Span } from "../../../diagnostics/source.ts";
import type { BoundNode } from "../../../compiler/bind/bound-graph.ts";
import { fieldText, inPercent } from "./jsonata-text.ts";
import type { Machine, State } from "./machine.ts";

/** `result`: the text of the result; a list if the node has items. */
export function assignOutput(
  machine: Machine,
  { output, declaration }: BoundNode,
  result: string,
  isList = false,
): State {
  if (output === undefined) return {};
  const span = declaration.output?.span ?? declaration.span;
  const fields = output.kind === "channel" ? [{ ...output, field: undefined }] : output.fields;
  return {
    Assign: Object.fromEntries(
      fields.map(({ field, channel, optional, set }) => {
        const part =
          field === undefined
            ? result
            : isList
              ? `[$map(${result}, function($each) { $each.${fieldText(field)} })]`
              : `${result}.${fieldText(field)}`;
        const update = set === true ? part : updated(machine, channel, part, span);
        const variable = machine.variables.get(channel)!;
        return [variable, inPercent(optional === true ? `$exists(${part}) ? ${update} : $${variable}` : update)];
      }),
    ),
  };
}

/** The new value of a channel, by its reducer. */
function updated(machine: Machine, name: string, value: string, span: Span): string {
  const { reducer, type } = machine.graph.channels.find((channel) => channel.name === name)!;
  const current = `$${machine.variables.get(name)!}`;
  switch (reducer?.kind) {
    case "append":
      return `$append(${current}, ${value})`;
    case "sum":
      return `${current} + ${value}`;
    case "union":
      return `$distinct($append(${current}, ${value}))`;
    case "min":
    case "max":
      return `${current} = null ? ${value} : $${reducer.kind}([${current}, ${value}])`;
    case "merge":
      if (type.kind === "list")
        machine.refuse(
          span,
          `\`merge\` of the list \`${name}\` has no form in JSONata`,
          "merge it in an imported function",
        );
      return `$merge([${current}, ${value}])`;
    case "function":
      return machine.refuse(
        span,
        `the reducer of \`${name}\` is an imported function`,
        "call it in a node, and write its result to a channel without a reducer",
      );
    default:
      return value;
  }
}
