/** The configuration of a run: `config` of a graph and of all that it calls. A name has one value in a run (C1). */
import { configConflict } from "../../diagnostics/catalog/types.ts";
import { isAssignable } from "../types/assignable.ts";
import { isBroken } from "../types/construct.ts";
import { typeToText } from "../types/type-text.ts";
import type { BoundChannel, BoundConfig } from "./bound-graph.ts";
import { placeIn, type GraphContext } from "./graph-context.ts";

/** The declaration nearest to the graph decides about a name: its type, its default, and whether a run must supply it. */
export function bindConfig(channels: readonly BoundChannel[], context: GraphContext): readonly BoundConfig[] {
  const owner = context.unit.declaration.name.name;
  const own = new Map(channels.map((channel) => [channel.name, channel]));
  const found = new Map<string, BoundConfig>();
  for (const channel of channels) {
    if (channel.role === "config") found.set(channel.name, { channel, owner, file: context.file, depth: 0 });
  }
  for (const called of [...context.called, ...context.calledPlans]) {
    for (const inner of called.config) {
      const { name } = inner.channel;
      const channel = own.get(name);
      const known = found.get(name);
      const isHidden = channel !== undefined && channel.role !== "config";
      if (isHidden) reportHidden(channel, inner, context);
      else if (known !== undefined && !hasSameType(known, inner, context)) reportTypes(known, inner, context);
      if (isHidden || (known !== undefined && known.depth <= inner.depth + 1)) continue;
      found.set(name, { ...inner, depth: inner.depth + 1 });
    }
  }
  return [...found.values()];
}

function hasSameType(a: BoundConfig, b: BoundConfig, { types }: GraphContext): boolean {
  const [one, other] = [a.channel.type, b.channel.type];
  if (isBroken(one) || isBroken(other)) return true;
  return isAssignable(one, other, types) === undefined && isAssignable(other, one, types) === undefined;
}

function reportHidden(channel: BoundChannel, inner: BoundConfig, context: GraphContext): void {
  const { name, role, declaration } = channel;
  const what = { input: "an input", output: "an output", state: "a state", memory: "a memory", config: "" }[role];
  context.report(
    configConflict(placeIn(context, declaration.name.span), {
      name,
      what,
      other: `configuration of \`${inner.owner}\``,
      label: "hides the configuration",
      help: `rename it, or declare \`config ${name}: ${typeToText(inner.channel.type)}\` to read the configuration`,
      labels: [labelOf(inner)],
    }),
  );
}

function reportTypes(known: BoundConfig, inner: BoundConfig, context: GraphContext): void {
  const span = known.depth === 0 ? known.channel.declaration.type.span : context.unit.declaration.name.span;
  const type = typeToText(known.channel.type);
  context.report(
    configConflict(placeIn(context, span), {
      name: known.channel.name,
      what: `a \`${type}\``,
      other: `a \`${typeToText(inner.channel.type)}\` in \`${inner.owner}\``,
      label: known.depth === 0 ? "another type" : `calls both \`${known.owner}\` and \`${inner.owner}\``,
      help: "declare the same type in both, or rename one of them",
      labels: [...(known.depth === 0 ? [] : [labelOf(known)]), labelOf(inner)],
    }),
  );
}

function labelOf({ file, channel }: BoundConfig): {
  readonly file: BoundConfig["file"];
  readonly span: { readonly start: number; readonly end: number };
  readonly message: string;
} {
  return { file, span: channel.declaration.type.span, message: `a \`${typeToText(channel.type)}\` here` };
}
