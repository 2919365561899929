import type { ValueType } from "./value-type.ts";
import { ROLLBACK, type ChannelSpec, type NodeSpec, type RouteSpec, type Table, type TargetSpec } from "./table.ts";

/** The built-in nodes that use no more of their context than a body without the engine has. */
const DIRECT_BUILTINS: ReadonlySet<string> = new Set(["fail", "json", "print"]);

/**
 * Whether a run without a store needs only the bodies, channels, edges and barriers of a graph. The module of such a graph runs it directly
 * (`runtime/direct/`); for all others, it opens the engine.
 */
export function runsDirectly(table: Table): boolean {
  const { limits } = table;
  return (
    table.finally === undefined &&
    table.graphs.length === 0 &&
    (table.plans ?? []).length === 0 &&
    limits.parallel === null &&
    limits.tokens === undefined &&
    limits.cost === undefined &&
    table.assertions.every(({ kind }) => kind !== "at") &&
    table.barriers.every(({ kind, target }) => kind !== "settled" && target !== ROLLBACK) &&
    table.channels.every((channel) => isDirectChannel(channel, table)) &&
    table.start.every(isDirectRoute) &&
    table.nodes.every((node) => isDirectNode(node, table))
  );
}

function isDirectChannel({ type: declared, reducer }: ChannelSpec, { types }: Table): boolean {
  const type = resolved(declared, types);
  switch (reducer?.kind) {
    case "function":
      return false;
    case "append":
    case "union":
      return type?.kind === "list";
    case "merge":
      return type?.kind === "record" || type?.kind === "map";
    default:
      return true;
  }
}

function resolved(type: ValueType, types: Table["types"]): ValueType | undefined {
  return type.kind === "ref" ? types.find(({ name }) => name === type.name)?.type : type;
}

function isDirectNode(node: NodeSpec, table: Table): boolean {
  return (
    isDirectCall(node.call) &&
    (node.each === undefined || hasDirectItems(node, table)) &&
    node.within === undefined &&
    node.cache === undefined &&
    node.pauseBefore === undefined &&
    node.pauseAfter === undefined &&
    node.goes?.includes(ROLLBACK) !== true &&
    node.undo === undefined &&
    (node.output?.kind === "channel" ? [node.output] : (node.output?.fields ?? [])).every(({ set }) => set !== true) &&
    node.routes.every(isDirectRoute) &&
    node.onError.every(({ targets }) => targets.every(isDirectTarget))
  );
}

/** The results of items become one update of one channel: a list, or what a reducer of numbers or records makes of them. */
function hasDirectItems({ output, goes }: NodeSpec, { channels, types }: Table): boolean {
  if (goes !== undefined || output?.kind === "fields") return false;
  if (output === undefined) return true;
  const { type, reducer } = channels[output.channel]!;
  const isList = resolved(type, types)?.kind === "list";
  return isList || (reducer !== undefined && reducer.kind !== "last");
}

function isDirectCall(call: NodeSpec["call"]): boolean {
  return (
    call.kind === "function" ||
    call.kind === "expression" ||
    (call.kind === "builtin" && DIRECT_BUILTINS.has(call.name))
  );
}

function isDirectRoute(route: RouteSpec): boolean {
  const arms =
    route.kind === "match" || route.kind === "cases" ? [...route.arms, { targets: route.otherwise ?? [] }] : [route];
  return arms.every(({ targets }) => targets.every(isDirectTarget));
}

function isDirectTarget(target: TargetSpec): boolean {
  return !("node" in target) || target.node !== ROLLBACK;
}
