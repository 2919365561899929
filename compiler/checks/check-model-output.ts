import { unapprovedEffect } from "../../diagnostics/catalog/effects.ts";
import type { BoundNode } from "../bind/bound-graph.ts";
import { startTargets, successorsOf } from "../control/signals.ts";
import { channelsOf } from "../explore/terms.ts";
import type { CheckContext } from "./check-context.ts";
import { outputPlace } from "./check-data.ts";

/**
 * Reports NG412: a command or request contains the output of a model that no person has seen. A forward taint analysis
 * along the edges: the answer of a person and an overwritten channel clear the taint, and so does an imported function.
 */
export function checkModelOutput(context: CheckContext): void {
  const { graph, model } = context;
  if (
    !graph.nodes.some((node) => isModel(node.call)) ||
    !graph.nodes.some((node) => effectArguments(node.call) !== undefined)
  ) {
    return;
  }
  const successors = successorsOf(model);
  /** By node: channel with unseen model output when the node starts -> the node that wrote it. */
  const before = model.nodes.map(() => new Map<number, number>());
  const seen = new Set<number>(startTargets(model));
  const pending = new Set<number>(seen);
  for (const index of pending) {
    pending.delete(index);
    const after = passThrough(context, index, before[index]!);
    for (const next of successors[index]!) {
      let changed = !seen.has(next);
      seen.add(next);
      for (const [channel, source] of after) {
        if (before[next]!.has(channel)) continue;
        before[next]!.set(channel, source);
        changed = true;
      }
      if (changed) pending.add(next);
    }
  }
  graph.nodes.forEach((node, index) => {
    const effect = effectArguments(node.call);
    if (effect === undefined || node.pauseBefore) return;
    for (const { name, value } of effect.args) {
      const channel = channelsOf(value.expression).find((candidate) => before[index]!.has(candidate));
      const source = channel === undefined ? undefined : before[index]!.get(channel);
      if (channel === undefined || source === undefined) continue;
      const written = graph.channels[channel]?.name ?? "";
      context.report(
        unapprovedEffect(context.place(value.span), {
          model: context.nodeName(source),
          effect: effect.what(name),
          channel: written,
          node: node.name,
          labels: [{ ...outputPlace(context, source, written), message: "the model's answer" }],
        }),
      );
      return;
    }
  });
}

function isModel(call: BoundNode["call"]): boolean {
  return call.kind === "builtin" && call.signature.effects.includes("model");
}

function passThrough(
  context: CheckContext,
  index: number,
  before: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const node = context.graph.nodes[index]!;
  // An answer counts as reviewed: the person who answers has read the output.
  const waits = node.pauseBefore || (node.call.kind === "builtin" && node.call.signature.pauses === true);
  const known = waits ? NOTHING_UNSEEN : before;
  if (node.pauseAfter) return NOTHING_UNSEEN;
  const after = new Map(known);
  for (const { channel, expression, optional } of context.model.data.writes[index]!) {
    const isAdded = context.graph.channels[channel]?.reducer !== undefined;
    if (isModel(node.call)) {
      after.set(channel, index);
      continue;
    }
    const from =
      expression === undefined ? undefined : channelsOf(expression).find((candidate) => known.has(candidate));
    if (from !== undefined) after.set(channel, known.get(from)!);
    else if (!isAdded && !optional) after.delete(channel);
  }
  return after;
}

const NOTHING_UNSEEN: ReadonlyMap<number, number> = new Map();

function effectArguments(
  call: BoundNode["call"],
): { args: Extract<BoundNode["call"], { kind: "builtin" }>["args"]; what: (argument: string) => string } | undefined {
  if (call.kind !== "builtin") return undefined;
  switch (call.signature.name) {
    case "shell":
      return { args: call.args, what: () => "a shell command" };
    case "tool":
      return { args: call.args, what: () => "a tool call" };
    case "http":
      return { args: call.args, what: (argument) => (argument === "url" ? "the address of a request" : "a request") };
    default:
      return undefined;
  }
}
