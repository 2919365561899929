/** Walks over the syntax tree, for what must hold of every node of it. */
import type { Span } from "../../diagnostics/source.ts";

export interface AnyNode {
  readonly kind?: string;
  readonly span: Span;
}

/** Every object with a span, parents before children; `parent` is the nearest one around it. */
export function* nodesOf(root: unknown, parent?: AnyNode): Generator<{ node: AnyNode; parent: AnyNode | undefined }> {
  if (typeof root !== "object" || root === null) return;
  if (Array.isArray(root)) {
    for (const item of root) yield* nodesOf(item, parent);
    return;
  }
  let around = parent;
  if ("span" in root) {
    around = root as AnyNode;
    yield { node: around, parent };
  }
  for (const [key, value] of Object.entries(root)) {
    if (key !== "span" && key !== "source" && key !== "operatorSpan") yield* nodesOf(value, around);
  }
}

/** Sentences about spans that are not where they should be. */
export function misplacedSpans(root: unknown, length: number): string[] {
  const wrong: string[] = [];
  for (const { node, parent } of nodesOf(root)) {
    const { start, end } = node.span;
    if (!(start >= 0 && start <= end && end <= length))
      wrong.push(`${node.kind ?? "?"} at ${start}..${end} of ${length}`);
    // Documentation stands before what it documents.
    const isDoc = node.kind === undefined && "text" in node;
    if (parent !== undefined && !isDoc && (start < parent.span.start || end > parent.span.end)) {
      wrong.push(
        `${node.kind ?? "?"} at ${start}..${end} outside of ${parent.kind ?? "?"} at ${parent.span.start}..${parent.span.end}`,
      );
    }
  }
  return wrong;
}

export function countKinds(root: unknown): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { node } of nodesOf(root)) {
    if (node.kind !== undefined) counts.set(node.kind, (counts.get(node.kind) ?? 0) + 1);
  }
  return counts;
}

/** The tree without spans and source: what two texts that mean the same have in common. */
export function withoutSpans(root: unknown): unknown {
  if (Array.isArray(root)) return root.map(withoutSpans);
  if (typeof root !== "object" || root === null) return root;
  return Object.fromEntries(
    Object.entries(root)
      .filter(([key]) => key !== "span" && key !== "operatorSpan" && key !== "source" && key !== "raw")
      .map(([key, value]) => [key, withoutSpans(value)]),
  );
}
