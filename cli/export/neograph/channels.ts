/** The channels of a topology, and the statements that it has no form for. */
import type { Json } from "../../../runtime/value/json.ts";
import type { Topology } from "./topology.ts";

export function loseStatements(topology: Topology): void {
  for (const statement of topology.graph.declaration.statements) {
    if (statement.kind === "Limit")
      topology.lose(statement.span, "a topology has no limits", "pass the limit to the run in the program");
    if (statement.kind === "Assert")
      topology.lose(statement.span, "a topology has no assertions", "keep the `.ngraph` file, and check it with `ngc`");
  }
}

export function topologyChannels(topology: Topology): Json {
  const graph = topology.graph;
  const channels = graph.channels.filter((channel) => channel !== topology.writer?.channel);
  const typed = channels.find(
    ({ type }) => !(type.kind === "json" || (type.kind === "list" && type.item.kind === "json")),
  );
  if (typed !== undefined)
    topology.lose(
      typed.declaration.type.span,
      "channels of a topology have no types",
      "keep the `.ngraph` file, which `ngc check` can type",
    );
  const plain = channels.find(({ reducer, role }) => reducer === undefined && role !== "input" && role !== "config");
  if (plain !== undefined)
    topology.lose(
      plain.declaration.name.span,
      "channels without a reducer are `overwrite`: a second writer in one step is no error there",
      "nothing, if `ngc check` reports no second writer",
    );
  const renamed = [...(topology.writer?.channels ?? [])].filter(([field, channel]) => field !== channel);
  if (topology.writer !== undefined && renamed.length > 0)
    topology.lose(
      topology.writer.node.declaration.span,
      `a run of a topology gets the values of its channels: ${renamed.map(([field, channel]) => `\`${field}\` is \`${channel}\``).join(", ")} there`,
      "give the values the names of the channels in the program",
    );
  return Object.fromEntries(
    channels.map(({ name, role, reducer, initial, declaration }) => {
      if (role === "memory")
        topology.lose(
          declaration.span,
          `\`${name}\` does not outlive a thread in NeoGraph`,
          "read and write it in the nodes",
        );
      if (role === "config")
        topology.lose(
          declaration.span,
          `the configuration \`${name}\` is a channel in NeoGraph`,
          "write it with the input of the run",
        );
      const kind = reducer === undefined ? "last" : reducer.kind;
      const named = reducer?.kind === "function" ? reducer.function.name.replace(/^reduce_(?=.)/, "") : kind;
      const known = kind === "last" ? "overwrite" : kind === "append" ? "append" : named;
      if (kind !== "last" && kind !== "append")
        topology.lose(
          declaration.reducer?.span ?? declaration.span,
          `NeoGraph has no reducer \`${known}\``,
          `register a reducer with the name \`${known}\` in the program`,
        );
      const isEmpty =
        initial === undefined ||
        initial === null ||
        (known === "append" && Array.isArray(initial) && initial.length === 0);
      return [
        name,
        Object.fromEntries<Json>([["reducer", known], ...(isEmpty ? [] : [["initial", initial] as const])]),
      ];
    }),
  );
}
