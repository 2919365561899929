import type { Expression } from "../../runtime/expression/expression.ts";
import type {
  AssertionSpec,
  ChannelSpec,
  ErrorRouteSpec,
  ExpressionIndex,
  NodeSpec,
  RouteSpec,
  Table,
} from "../../runtime/table/table.ts";
import { routeBranches } from "../../runtime/table/route-branches.ts";
import { branchKey } from "./read-choice.ts";

/** The imported function that replaces every condition. */
export const DECIDE = "ngraph replay";

/**
 * The argument of `DECIDE`: whether this branch of this node (`""` for `start`) is taken, or whether the conditions of its
 * assertions hold.
 */
export interface BranchQuery {
  readonly node: string;
  readonly kind: "own" | "error" | "asserted";
  readonly branch: string;
}

/**
 * The table of a graph for a replay. Nodes, edges, barriers and outputs stay. Every condition calls `DECIDE`, nodes compute nothing
 * (the replay mocks them), and pauses, caches, delays and `for` items are removed. Without `keepRaces` the last of two writers wins.
 */
export function replayTable(table: Table, { keepRaces }: { readonly keepRaces: boolean }): Table {
  const expressions: Expression[] = [...table.expressions];
  const decide = table.functions.length;
  const ask = (query: BranchQuery): ExpressionIndex =>
    expressions.push({ op: "call", function: decide, args: [{ op: "const", value: { ...query } }] }) - 1;
  const nothing = expressions.push({ op: "const", value: null }) - 1;
  const nodes = table.nodes.map((node): NodeSpec => {
    const { name, output, goes, waits } = node;
    return {
      name,
      call: { kind: "expression", expression: nothing },
      ...(output === undefined ? {} : { output }),
      ...(goes === undefined ? {} : { goes }),
      ...(waits === undefined ? {} : { waits }),
      routes: askRoutes(node.routes, (branch) => ask({ node: name, kind: "own", branch })),
      onError: askErrorRoutes(node.onError, (branch) => ask({ node: name, kind: "error", branch })),
    };
  });
  const assertions = table.assertions.map((assertion): AssertionSpec => {
    if (assertion.kind !== "at") return assertion;
    return { ...assertion, condition: ask({ node: nodes[assertion.node]?.name ?? "", kind: "asserted", branch: "" }) };
  });
  const start = askRoutes(table.start, (branch) => ask({ node: "", kind: "own", branch }));
  return {
    ...table,
    channels: keepRaces
      ? givenChannels(table)
      : givenChannels(table).map((channel) =>
          channel.reducer === undefined ? { ...channel, reducer: LAST } : channel,
        ),
    nodes,
    start,
    assertions,
    expressions,
    functions: [...table.functions, { name: DECIDE, module: "ngraph", export: DECIDE }],
    graphs: [],
    secrets: [],
    effects: ["code"],
  };
}

/** The channels with configuration as inputs: a replay chooses both. */
export function givenChannels({ channels }: Table): readonly ChannelSpec[] {
  return channels.map((channel) => (channel.role === "config" ? { ...channel, role: "input" } : channel));
}

const LAST = { kind: "last" } as const;

/** Numbers groups as the proofs do: all conditional edges are group 0 if there are any, then each `match` is a group. */
function askRoutes(routes: readonly RouteSpec[], ask: (branch: string) => ExpressionIndex): RouteSpec[] {
  const hasConditions = routes.some((route) => route.kind === "when" || route.kind === "otherwise");
  let when = 0;
  let group = hasConditions ? 1 : 0;
  return routes.map((route): RouteSpec => {
    if (route.kind === "plain" || route.kind === "otherwise") return route;
    if (route.kind === "when") return { ...route, condition: ask(branchKey(0, when++)) };
    const own = group++;
    const branches = routeBranches(route);
    const last = branches.find(({ kind }) => kind === "otherwise");
    return {
      kind: "cases",
      arms: branches
        .filter((branch) => branch !== last)
        .map(({ targets }, branch) => ({ condition: ask(branchKey(own, branch)), targets })),
      ...(last === undefined ? {} : { otherwise: last.targets }),
    };
  });
}

function askErrorRoutes(routes: readonly ErrorRouteSpec[], ask: (branch: string) => ExpressionIndex): ErrorRouteSpec[] {
  let when = 0;
  return routes.map((route) =>
    typeof route.condition === "number" ? { ...route, condition: ask(branchKey(0, when++)) } : route,
  );
}
