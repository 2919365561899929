/** Walks over the syntax tree, for properties of every node. */
import { SourceFile, type Span } from "../../diagnostics/source.ts";

export interface AnyNode {
  readonly kind?: string;
  readonly span: Span;
}

/** Calls `visit` for every object with a span, parents before children; `parent` is the nearest one around it. */
export function visitNodes(
  root: unknown,
  visit: (node: AnyNode, parent: AnyNode | undefined) => void,
  parent?: AnyNode,
): void {
  if (typeof root !== "object" || root === null || root instanceof SourceFile) return;
  if (Array.isArray(root)) {
    for (const item of root) visitNodes(item, visit, parent);
    return;
  }
  let around = parent;
  if ("span" in root) {
    around = root as AnyNode;
    visit(around, parent);
  }
  for (const key in root) {
    if (key !== "span" && key !== "operatorSpan") visitNodes((root as Record<string, unknown>)[key], visit, around);
  }
}

/** Sentences about spans that are not where they should be. */
export function misplacedSpans(root: unknown, length: number): string[] {
  const wrong: string[] = [];
  visitNodes(root, (node, parent) => {
    const { start, end } = node.span;
    const kind = node.kind ?? "?";
    if (!(start >= 0 && start <= end && end <= length)) wrong.push(`${kind} at ${start}..${end} of ${length}`);
    // Documentation precedes its declaration.
    if (parent === undefined || (node.kind === undefined && "text" in node)) return;
    if (start >= parent.span.start && end <= parent.span.end) return;
    wrong.push(
      `${kind} at ${start}..${end} outside of ${parent.kind ?? "?"} at ${parent.span.start}..${parent.span.end}`,
    );
  });
  return wrong;
}

export function countKinds(root: unknown): Map<string, number> {
  const counts = new Map<string, number>();
  visitNodes(root, ({ kind }) => {
    if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  });
  return counts;
}

/** The tree on one line, without places: `Channel(role: state, name: x, type: NamedType(name: int))`. */
export function outline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(outline).join(", ")}]`;
  if (typeof value !== "object" || value === null) return typeof value === "string" ? value : String(value);
  const kind = "kind" in value ? String(value.kind) : "";
  const fields = Object.entries(value).filter(
    ([key, field]) => !["kind", "span", "operatorSpan", "raw"].includes(key) && !(field instanceof SourceFile),
  );
  const [only] = fields;
  if (kind === "Identifier" || kind === "Name" || kind === "NamedType") return String(only?.[1]);
  if (kind === "Key")
    return "quoted" in value && value.quoted === true && "name" in value
      ? JSON.stringify(value.name)
      : outline(only?.[1]);
  if (kind === "String") return JSON.stringify(only?.[1]);
  return `${kind}(${fields.map(([key, field]) => `${key}: ${outline(field)}`).join(", ")})`;
}
