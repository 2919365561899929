import type { Json } from "../../runtime/value/json.ts";
import type { ChannelSpec } from "../../runtime/table/table.ts";
import { mergesById, type BoundChannel, type BoundGraph } from "../bind/bound-graph.ts";
import type { BoundPlan } from "../bind/plan/bound-plan.ts";
import type { ExpressionPool } from "./expression-pool.ts";

const ROLES = ["input", "output", "state", "memory", "config"] as const;

/** Channels in the table's order (by role, then by declaration), with their positions in the bound graph. */
export function orderChannels(bound: Pick<BoundGraph, "channels"> & Pick<BoundPlan, "numbers">): {
  readonly ordered: readonly BoundChannel[];
  /** Position in the table by index in the expressions of the bound graph. */
  readonly index: readonly number[];
} {
  const order = ROLES.flatMap((role) =>
    bound.channels.map((channel, at) => ({ channel, at })).filter(({ channel }) => channel.role === role),
  );
  const { numbers } = bound;
  const index: number[] = [];
  order.forEach(({ at }, position) => {
    index[numbers?.[at] ?? at] = position;
  });
  return { ordered: order.map(({ channel }) => channel), index };
}

export function lowerChannel(channel: BoundChannel, pool: ExpressionPool): ChannelSpec {
  const { name, role, type, was, reducer } = channel;
  const initial = channel.initial === undefined ? startValue(channel) : channel.initial;
  return {
    name,
    role,
    type,
    ...(was === undefined ? {} : { was }),
    ...(initial === undefined ? {} : { initial }),
    ...(reducer === undefined
      ? {}
      : {
          reducer:
            reducer.kind === "function"
              ? { kind: "function", function: pool.function(reducer.function) }
              : { kind: reducer.kind },
        }),
  };
}

/** The start value of a channel without a default; `undefined` for an input or a configuration, which the caller must pass. */
function startValue(channel: BoundChannel): Json | undefined {
  if (channel.role === "input" || channel.role === "config") return undefined;
  switch (channel.reducer?.kind) {
    case "append":
    case "union":
      return [];
    case "sum":
      return 0;
    case "merge":
      return mergesById(channel) ? [] : {};
    default:
      return null;
  }
}

/** The configuration of called graphs as channels, behind those of the graph itself. */
export function lowerInheritedConfig({ config }: Pick<BoundGraph, "config">, pool: ExpressionPool): ChannelSpec[] {
  return config.filter(({ depth }) => depth > 0).map(({ channel }) => lowerChannel(channel, pool));
}
