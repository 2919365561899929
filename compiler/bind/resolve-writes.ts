/** The channels of an `into`: resolves `into channel` and `into { field: channel }`. */
import {
  notSupported,
  unknownChannel,
  writesDefinition,
  writesInput,
  writtenTwice,
} from "../../diagnostics/catalog/names.ts";
import { needlessSet } from "../../diagnostics/catalog/types.ts";
import { suggest } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import type { BoundNode } from "./bound-graph.ts";
import { isSilenced, placeIn, type ChannelEntry, type GraphContext } from "./graph-context.ts";

/** A channel that a node writes. `field`: the field of the result that it receives; absent for the whole result. */
export interface Write {
  readonly channel: ChannelEntry;
  readonly field?: string;
  /** The result may lack the field. */
  readonly isOptional?: true;
  /** The value replaces the value of the channel; the reducer does not apply. */
  readonly isSet?: true;
  /** Where it is written: `reply` in `into { reply }`. */
  readonly span: Span;
}

/** The channels of an `into`. Reports and omits unknown and read-only channels. */
export function resolveWrites(output: Ast.Output | undefined, context: GraphContext): readonly Write[] {
  if (output === undefined) return [];
  const writes: Write[] = [];
  const parts: readonly OutputPart[] =
    output.kind === "ChannelOutput" ? [output] : output.fields.map((each) => ({ ...each, field: each.field.name }));
  // One channel is written once.
  const seen = parts.length > 1 ? new Map<string, Span>() : undefined;
  const isSet = (name: string): boolean => parts.some(({ channel, set }) => set === true && channel.name === name);
  for (const part of parts) {
    const { channel: identifier, field } = part;
    const { name, span } = identifier;
    const channel = writableChannel(identifier, context);
    if (channel === undefined) continue;
    if (part.set === true) checkSet(part, channel, context);
    const first = seen?.get(name);
    if (first !== undefined && (channel.reducer === undefined || isSet(name))) {
      context.report(
        writtenTwice(placeIn(context, span), { channel: name, first: placeIn(context, first), noun: context.noun }),
      );
      continue;
    }
    seen?.set(name, span);
    writes.push({
      channel,
      ...(field === undefined ? {} : { field }),
      ...(part.optional === true ? { isOptional: true } : {}),
      ...(part.set === true ? { isSet: true } : {}),
      span,
    });
  }
  // A list that has grown has room for sixteen more, and lives as long as the graph.
  return writes.slice();
}

interface OutputPart {
  readonly span: Span;
  readonly channel: Ast.Identifier;
  readonly field?: string;
  readonly optional?: true;
  readonly set?: true;
}

/** Reports `set` for a channel without a reducer, where it has no effect. */
function checkSet(part: OutputPart, channel: ChannelEntry, context: GraphContext): void {
  if (context.noun === "task") {
    const help = "the updates of all tasks are combined: write a channel without a reducer";
    context.report(notSupported(placeIn(context, part.span), { what: "`set` in a plan is", help }));
  } else if (channel.reducer === undefined && channel.declaration.reducer === undefined) {
    const { start, end } = part.channel.span;
    const text = context.file.text.slice(part.span.start, start);
    const from = part.span.start + Math.max(0, text.lastIndexOf("set"));
    context.report(
      needlessSet(placeIn(context, { start: from, end }), {
        channel: channel.name,
        remove: text.includes("set") ? { start: from, end: start } : undefined,
      }),
    );
  }
}

/** The form of an `into` in the bound graph. */
export function boundOutput(output: Ast.Output | undefined, writes: readonly Write[]): BoundNode["output"] {
  if (output === undefined || writes.length === 0) return undefined;
  const marks = ({ isOptional, isSet }: Write): { readonly optional?: true; readonly set?: true } => ({
    ...(isOptional === true ? { optional: true } : {}),
    ...(isSet === true ? { set: true } : {}),
  });
  const [first] = writes;
  if (output.kind === "ChannelOutput" && first !== undefined) {
    return { kind: "channel", channel: first.channel.name, ...marks(first) };
  }
  return {
    kind: "fields",
    fields: writes.map((write) => ({
      field: write.field ?? write.channel.name,
      channel: write.channel.name,
      ...marks(write),
    })),
  };
}

function writableChannel({ name, span }: Ast.Identifier, context: GraphContext): ChannelEntry | undefined {
  const channel = context.channels.get(name);
  if (channel?.role === "input" || channel?.role === "config") {
    const declared = placeIn(context, channel.declaration.name.span);
    context.report(writesInput(placeIn(context, span), { channel: name, role: channel.role, declared }));
    return undefined;
  }
  if (channel !== undefined) return channel;
  const derived = context.derived.get(name);
  const isConstant = derived === undefined && context.scope.names.get(name)?.kind === "const";
  if (derived !== undefined || isConstant) {
    context.report(
      writesDefinition(placeIn(context, span), {
        name,
        what: isConstant ? "a constant" : "a derived name",
        declared: derived === undefined ? undefined : placeIn(context, derived),
      }),
    );
    return undefined;
  }
  if (isSilenced(name, context)) return undefined;
  const all = (): string[] =>
    [...context.channels.values()].flatMap((entry) =>
      entry.role === "input" || entry.role === "config" ? [] : [entry.name],
    );
  const { similar, known } = suggest(name, all, context.scope.suggestions);
  const help = context.nodes.has(name) ? `\`${name}\` is a ${context.noun}: store into a channel` : undefined;
  context.report(unknownChannel(placeIn(context, span), { name, use: "write", similar, known, help }));
  context.poisoned.add(name);
  // The channel that was probably meant counts as written: no finding about an unused or unwritten channel follows.
  if (similar !== undefined) context.poisoned.add(similar);
  return undefined;
}
