import type { Span } from "../../diagnostics/source.ts";

/**
 * A node of a YAML document. Duplicate keys, tags, aliases and depth have been checked, and aliases are resolved. The
 * target of an alias is shared, so a document is an acyclic graph of nodes.
 */
export type YamlNode = YamlScalar | YamlList | YamlMap | YamlBroken;

export interface YamlScalar {
  readonly kind: "scalar";
  /** Includes the quotes; for block scalars it begins at `|` or `>`. */
  readonly span: Span;
  readonly value: string | number | boolean | null;
  readonly style: "plain" | "single" | "double" | "block";
  /** The source text of a plain scalar; empty for other styles. */
  readonly written: string;
}

export interface YamlList {
  readonly kind: "list";
  readonly span: Span;
  readonly items: readonly YamlNode[];
}

export interface YamlMap {
  readonly kind: "map";
  readonly span: Span;
  readonly entries: readonly YamlEntry[];
}

export interface YamlEntry {
  readonly key: string;
  readonly keyNode: YamlScalar;
  readonly value: YamlNode;
}

/** A value that could not be read. An error has been reported. */
export interface YamlBroken {
  readonly kind: "broken";
  readonly span: Span;
}

/** From the start of an entry's key to the end of its value. */
export function entrySpan({ keyNode, value }: YamlEntry): Span {
  return { start: keyNode.span.start, end: Math.max(keyNode.span.end, value.span.end) };
}

/** Completes "found …". */
export function describeNode(node: YamlNode): string {
  switch (node.kind) {
    case "map":
      return node.entries.length === 0 ? "an empty map" : "a map";
    case "list":
      return node.items.length === 0 ? "an empty list" : "a list";
    case "broken":
      return "something unreadable";
    case "scalar":
      return describeScalar(node);
  }
}

function describeScalar({ value, span, written }: YamlScalar): string {
  switch (typeof value) {
    case "string":
      return value === "" ? "an empty string" : `the string \`${shorten(value)}\``;
    case "number":
      return `the number ${shorten(written === "" ? String(value) : written)}`;
    case "boolean":
      return `\`${String(value)}\``;
    default:
      return span.start === span.end ? "nothing" : "`null`";
  }
}

function shorten(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length > 40 || line.length < text.length ? `${line.slice(0, 39)}…` : line;
}
