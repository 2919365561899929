import type { Expression } from "../../runtime/expression/expression.ts";
import { expressionParts } from "../../runtime/expression/expression-depth.ts";
import type { ErrorRouteSpec, NodeSpec, OutputSpec, RouteSpec, Table } from "../../runtime/table/table.ts";
import { routeBranches } from "../../runtime/table/route-branches.ts";
import { givenChannels } from "./replay-table.ts";
import type { Json } from "../../runtime/value/json.ts";

const LAST = { kind: "last" } as const;

/**
 * The table of a graph for a replay that computes conditions. Expressions, lists of `for` nodes, conditions and reducers
 * stay. Calls are replaced (the replay mocks them), and pauses, timeouts, caches and delays are removed. Without
 * `keepRaces` the last of two writers wins.
 */
export function computedTable(table: Table, { keepRaces }: { readonly keepRaces: boolean }): Table {
  const expressions: Expression[] = [...table.expressions];
  const nothing = expressions.push({ op: "const", value: null }) - 1;
  return {
    ...table,
    channels: keepRaces
      ? givenChannels(table)
      : givenChannels(table).map((channel) =>
          channel.reducer === undefined ? { ...channel, reducer: LAST } : channel,
        ),
    nodes: table.nodes.map(({ name, call, each, output, tries, goes, waits, routes, onError }): NodeSpec => ({
      name,
      call: call.kind === "expression" ? call : { kind: "expression", expression: nothing },
      ...(each === undefined ? {} : { each }),
      ...(output === undefined ? {} : { output }),
      ...(tries === undefined ? {} : { tries: { attempts: tries.attempts, backoff: { min: 0, max: 0 } } }),
      ...(goes === undefined ? {} : { goes }),
      ...(waits === undefined ? {} : { waits }),
      routes,
      onError,
    })),
    expressions,
    graphs: [],
    effects: ["code"],
  };
}

/** The channels that decide where a run goes. */
export interface Dependencies {
  /** Channels that some condition, expression or list reads, directly or through another channel. */
  readonly read: ReadonlySet<number>;
  /** Channels that decide where these nodes lead (`""` for `start`), and whether they fail. */
  of(nodes: readonly string[]): ReadonlySet<number>;
}

export function dependenciesOf(table: Table): Dependencies {
  const written = new Map<number, Set<number>>();
  for (const { call, each, output } of table.nodes) {
    const sources = [
      ...(call.kind === "expression" ? channelsIn(table.expressions[call.expression]) : []),
      ...(each === undefined ? [] : channelsIn(table.expressions[each.list])),
    ];
    for (const channel of channelsWritten(output)) {
      const known = written.get(channel) ?? new Set<number>();
      for (const source of sources) known.add(source);
      written.set(channel, known);
    }
  }
  const close = (channels: readonly number[]): ReadonlySet<number> => {
    const found = new Set(channels);
    for (const channel of found) for (const source of written.get(channel) ?? []) found.add(source);
    return found;
  };
  const readBy = ({ call, each, routes, onError }: Pick<NodeSpec, "routes"> & Partial<NodeSpec>): readonly number[] =>
    [
      ...(call?.kind === "expression" ? [call.expression] : []),
      ...(each === undefined ? [] : [each.list]),
      ...routes.flatMap(conditionsOf),
      ...(onError ?? []).flatMap(({ condition }: ErrorRouteSpec) => (typeof condition === "number" ? [condition] : [])),
    ].flatMap((index) => channelsIn(table.expressions[index]));
  // Conditions that hold where a node starts.
  const asserted = table.assertions.flatMap((assertion) => (assertion.kind === "at" ? [assertion] : []));
  const assertedAt = (at: number): readonly number[] =>
    asserted.flatMap(({ node, condition }) => (node === at ? channelsIn(table.expressions[condition]) : []));
  const nodes = new Map(table.nodes.map((node, at) => [node.name, close([...readBy(node), ...assertedAt(at)])]));
  nodes.set("", close(readBy({ routes: table.start })));
  return {
    read: new Set([...nodes.values()].flatMap((channels) => [...channels])),
    of: (names) => new Set(names.flatMap((name) => [...(nodes.get(name) ?? [])])),
  };
}

/** The channels to which the result of a node goes. */
export function channelsWritten(output: OutputSpec | undefined): readonly number[] {
  if (output === undefined) return [];
  return output.kind === "channel" ? [output.channel] : output.fields.map(({ channel }) => channel);
}

/** The values of the arms of `match`, with which subjects are compared. */
export function armValues(table: Table): Json[] {
  return [...table.nodes.map(({ routes }) => routes), table.start].flatMap((routes) =>
    routes.flatMap((route) => routeBranches(route).flatMap(({ values = [] }) => values)),
  );
}

function conditionsOf(route: RouteSpec): readonly number[] {
  return [...new Set(routeBranches(route).flatMap(({ expression }) => expression ?? []))];
}

function channelsIn(expression: Expression | undefined): readonly number[] {
  const found = new Set<number>();
  const pending = expression === undefined ? [] : [expression];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (part.op === "channel") found.add(part.channel);
    for (const child of expressionParts(part)) pending.push(child);
  }
  return [...found];
}
