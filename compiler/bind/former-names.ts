/** Names of earlier versions: `was` of a graph, its nodes and its channels, and `drop`. */
import { formerNameInUse, statedTwice } from "../../diagnostics/catalog/names.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { Declarations } from "./declarations.ts";
import { placeIn, type GraphContext } from "./graph-context.ts";

type Listed = readonly { readonly name: Ast.Identifier; readonly word: "was" | "drop" }[];

/**
 * Reports former names that are still in use or listed twice (NG102). The renaming of a thread is then idempotent, so every
 * resume can apply it.
 */
export function checkFormerNames(
  graph: Ast.GraphDecl,
  { channels, nodes, drops }: Pick<Declarations, "channels" | "nodes" | "drops">,
  context: GraphContext,
): void {
  check(was(graph.was), [graph.name], "graph", context);
  const ofChannels = [
    ...was(channels.flatMap((channel) => channel.was ?? [])),
    ...drops.flatMap((drop) => drop.channels.map((name) => ({ name, word: "drop" as const }))),
  ];
  check(
    ofChannels,
    channels.map(({ name }) => name),
    "channel",
    context,
  );
  const ofNodes = nodes.flatMap(({ declaration }) =>
    declaration.policies.flatMap((policy) => (policy.kind === "Was" ? policy.names : [])),
  );
  check(
    was(ofNodes),
    nodes.map(({ declaration }) => declaration.name),
    "node",
    context,
  );
}

function was(names: readonly Ast.Identifier[] | undefined): Listed {
  return (names ?? []).map((name) => ({ name, word: "was" as const }));
}

function check(listed: Listed, names: readonly Ast.Identifier[], what: string, context: GraphContext): void {
  if (listed.length === 0) return;
  const declared = new Map(names.map(({ name, span }) => [name, span]));
  const first = new Map<string, Span>();
  for (const { name: identifier, word } of listed) {
    const { name, span } = identifier;
    const place = placeIn(context, span);
    const inUse = declared.get(name);
    const earlier = first.get(name);
    if (inUse !== undefined) {
      context.report(formerNameInUse(place, { name, word, what, declared: placeIn(context, inUse) }));
    } else if (earlier !== undefined) {
      const facts = { what: `the former name \`${name}\` of a ${what}`, first: placeIn(context, earlier) };
      context.report(statedTwice(place, facts));
    }
    if (earlier === undefined) first.set(name, span);
  }
}
