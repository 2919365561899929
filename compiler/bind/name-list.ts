/**
 * Lists of names that are kept with the graph. Most of them have no name or one, and many nodes have the same: a list of one name
 * is created once for each channel.
 */
import type { GraphContext } from "./graph-context.ts";

export function channelList(
  names: ReadonlySet<string>,
  { channelLists }: Pick<GraphContext, "channelLists">,
): readonly string[] {
  if (names.size === 0) return NO_NAMES;
  if (names.size > 1) return [...names];
  const [name = ""] = names;
  return channelLists.get(name) ?? [name];
}

const NO_NAMES: readonly string[] = [];
