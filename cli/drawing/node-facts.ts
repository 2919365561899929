/** What the source states about the nodes of a drawing: their documentation, places, channels and effects. */
import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { BoundPlan } from "../../compiler/bind/plan/bound-plan.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type { Effect } from "../../runtime/table/table.ts";
import type { Drawing, DrawnNode } from "./drawing.ts";

export interface NodeFacts {
  readonly doc?: string;
  /** Where it is declared; lines and columns are counted from 1. */
  readonly place?: { readonly file: string; readonly line: number; readonly column: number };
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  readonly effects: readonly Effect[];
  /** The declaration in the source. */
  readonly text: string;
}

/** Declarations are cut here: a page with thousands of nodes stays small. */
const LONGEST = 2_000;

/** Adds to each node what the source states about it. Effects beyond code and people also become marks. */
export function withFacts(drawing: Drawing, bound: BoundGraph | BoundPlan): Drawing {
  const facts = new Map<string, NodeFacts>();
  const steps = "nodes" in bound ? bound.nodes : bound.tasks;
  for (const { name, doc, declaration, reads, writes, effects } of steps) {
    const { span } = declaration;
    facts.set(name, {
      ...(doc === undefined ? {} : { doc }),
      place: { file: bound.file.path, ...bound.file.position(declaration.name.span.start) },
      reads,
      writes,
      effects,
      text: textOf(bound.file, span),
    });
  }
  const nodes = drawing.nodes.map((node): DrawnNode => {
    const found = node.kind === "node" ? facts.get(node.label) : undefined;
    if (found === undefined) return node;
    const shown = found.effects.filter((effect) => effect !== "code" && effect !== "person");
    const marks = [...(shown.length === 0 ? [] : [`⚡ ${shown.join(", ")}`]), ...(node.marks ?? [])];
    return { ...node, facts: found, ...(marks.length === 0 ? {} : { marks }) };
  });
  return { ...drawing, nodes };
}

function textOf(file: SourceFile, { start, end }: Span): string {
  const text = file.text.slice(start, end);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
