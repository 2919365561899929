import type { Span } from "../../diagnostics/source.ts";
import type { ValueType } from "../../runtime/table/value-type.ts";
import type { BoundChannel, BoundGraph } from "../bind/bound-graph.ts";
import { docComment, propertyName } from "./quote.ts";

/** Marks a name with its place in the graph file, where a source map is wanted. */
export type Mark = (span: Span, name: string) => string;

export const unmarked: Mark = (_, name) => name;

/** The interfaces of a run's input, output and state. */
export function emitChannelTypes(
  bound: Pick<BoundGraph, "name" | "channels" | "config"> & {
    readonly declaration: { readonly name: { readonly span: Span } };
  },
  names: {
    readonly input: string;
    readonly output: string;
    readonly completed?: string;
    readonly state?: string;
    readonly config: string;
  },
  type: (type: ValueType) => string,
  mark: Mark = unmarked,
): readonly string[] {
  const ofRole = (role: BoundChannel["role"]): readonly BoundChannel[] =>
    bound.channels.filter((channel) => channel.role === role);
  const input = ofRole("input").map((channel) =>
    emitProperty(channel, mark, channel.initial !== undefined, type(channel.type)),
  );
  const stored = (channel: BoundChannel): string => emitProperty(channel, mark, false, storedType(channel, type));
  return [
    emitInterface(mark(bound.declaration.name.span, names.input), `The inputs of a run of \`${bound.name}\`.`, input),
    emitInterface(
      mark(bound.declaration.name.span, names.output),
      `The outputs of a run of \`${bound.name}\`; \`null\` where it has not written one.`,
      ofRole("output").map(stored),
    ),
    ...(names.completed === undefined || names.completed === names.output
      ? []
      : [
          emitInterface(
            mark(bound.declaration.name.span, names.completed),
            `The outputs of a completed run of \`${bound.name}\`.`,
            ofRole("output").map((channel) => emitProperty(channel, mark, false, completedType(channel, type))),
          ),
        ]),
    ...(names.state === undefined
      ? []
      : [
          emitInterface(
            mark(bound.declaration.name.span, names.state),
            `All channels of \`${bound.name}\`.`,
            bound.channels.map(stored),
          ),
        ]),
    ...(bound.config.length === 0
      ? []
      : [
          emitInterface(
            mark(bound.declaration.name.span, names.config),
            `The configuration of a run of \`${bound.name}\`.`,
            bound.config.map(({ channel, depth }) =>
              emitProperty(channel, depth === 0 ? mark : unmarked, channel.initial !== undefined, type(channel.type)),
            ),
          ),
        ]),
  ];
}

function emitInterface(name: string, doc: string, properties: readonly string[]): string {
  const body = properties.length === 0 ? "{}" : `{\n${properties.join("\n")}\n}`;
  return `${docComment(doc)}export interface ${name} ${body}`;
}

function emitProperty(channel: BoundChannel, mark: Mark, isOptional: boolean, type: string): string {
  const doc = docComment(channel.declaration.doc?.text, "  ");
  return `${doc}  readonly ${mark(channel.declaration.name.span, propertyName(channel.name))}${isOptional ? "?" : ""}: ${type};`;
}

/** The type of an output after a completed run: `null` only where some completed run leaves it unwritten. */
export function completedType(channel: BoundChannel, type: (type: ValueType) => string): string {
  return channel.mayEndNull === true ? storedType(channel, type) : type(channel.type);
}

/** The type of a channel's value. Includes `null` where the channel starts as `null`. */
export function storedType(channel: BoundChannel, type: (type: ValueType) => string): string {
  const startsNull =
    channel.role !== "input" &&
    channel.role !== "config" &&
    channel.initial === undefined &&
    !["append", "union", "sum", "merge", "function"].includes(channel.reducer?.kind ?? "");
  const { kind } = channel.type;
  const hasNull =
    kind === "null" ||
    kind === "json" ||
    (kind === "union" && channel.type.members.some((item) => item.kind === "null"));
  const text = type(channel.type);
  return startsNull && !hasNull ? `${text} | null` : text;
}
