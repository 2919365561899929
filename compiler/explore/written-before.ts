import { type ControlGraph, controlGraphOf } from "../control/control-graph.ts";
import type { ControlNet } from "../control/net.ts";
import { unwrittenChannels } from "../control/unwritten.ts";
import type { ControlModel } from "./model.ts";

/** Whether every path from `start` has written a channel. */
export type Written = (node: number, channel: number) => boolean;

export interface ChannelsWritten {
  /** When the step of the node begins. */
  readonly before: Written;
  /** When the step of the node ends. */
  readonly after: Written;
}

/** Computes for each node which of the `wanted` channels have been written, by nodes that always write them. */
export function channelsWritten(model: ControlModel, wanted: ReadonlySet<number>): ChannelsWritten {
  const positions = new Map([...wanted].map((channel, position) => [channel, position]));
  const channels = [...wanted].map((channel) => ({ name: "", writers: new Array<number>(), channel }));
  for (const { index, isSent } of model.nodes) {
    for (const { channel, optional } of isSent ? [] : model.data.writes[index]!)
      if (!optional) channels[positions.get(channel) ?? -1]?.writers.push(index);
  }
  const mayBeUnwritten = unwrittenChannels(graphOf(model.net), channels);
  const isWritten =
    (when: "before" | "after"): Written =>
    (node, channel) => {
      const position = positions.get(channel);
      const vertex = model.nodes[node]?.declared;
      // `start` writes nothing.
      return position !== undefined && vertex !== undefined && !mayBeUnwritten({ vertex, when }, position);
    };
  return { before: isWritten("before"), after: isWritten("after") };
}

function graphOf(net: ControlNet): ControlGraph {
  const found = knownGraphs.get(net) ?? controlGraphOf(net);
  knownGraphs.set(net, found);
  return found;
}

const knownGraphs = new WeakMap<ControlNet, ControlGraph>();
