import type { BoundGraph } from "../../compiler/bind/bound-graph.ts";
import type { BoundPlan } from "../../compiler/bind/plan/bound-plan.ts";
import type { CompileResult } from "../../compiler/compile.ts";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Table } from "../../runtime/table/table.ts";
import { drawTable, type Drawing } from "./drawing.ts";
import { withFindings } from "./findings.ts";
import { withFacts } from "./node-facts.ts";
import { drawPlan } from "./plan.ts";
import type { Called, CalledDrawing } from "./unfold.ts";

/** A drawing with what the source states about it, and the drawings of what it calls. */
export interface CompiledDrawing extends CalledDrawing {
  /** Texts of its source files by path. */
  readonly sources: ReadonlyMap<string, string>;
}

/**
 * Draws a graph or plan of a compiled file.
 *
 * @param findings adds the findings of `ngc check`
 */
export function drawCompiled(
  { graphs, plans, diagnostics }: CompileResult,
  table: Table | PlanTable,
  { findings = false }: { readonly findings?: boolean } = {},
): CompiledDrawing {
  const bound = [...graphs, ...plans].find((each) => each.bound.name === table.name)?.bound;
  const sources = new Map<string, string>();
  const draw = (of: Table | PlanTable, from: BoundGraph | BoundPlan | undefined): Drawing => {
    const drawing = of.kind === "plan" ? drawPlan(of) : drawTable(of);
    if (from === undefined) return drawing;
    sources.set(from.file.path, from.file.text);
    const known = withFacts(drawing, from);
    return findings ? withFindings(known, from, diagnostics) : known;
  };
  const calledBy =
    (of: Table | PlanTable, from: BoundGraph | BoundPlan | undefined): Called =>
    (name) => {
      const call = (of.kind === "plan" ? of.tasks : of.nodes).find((each) => each.name === name)?.call;
      const open = (inner: Table | PlanTable | undefined, tool?: string): readonly CalledDrawing[] => {
        if (inner === undefined) return [];
        const found = [...(from?.graphs ?? []), ...(from?.plans ?? [])].find((each) => each.name === inner.name);
        return [
          { drawing: draw(inner, found), called: calledBy(inner, found), ...(tool === undefined ? {} : { tool }) },
        ];
      };
      if (call?.kind === "graph") return open(of.graphs[call.graph]);
      if (call?.kind === "plan") return open(of.plans?.[call.plan]);
      if (call?.kind !== "builtin") return [];
      return (call.tools ?? []).flatMap(({ name: tool, graph }) =>
        graph === undefined ? [] : open(of.graphs[graph], tool),
      );
    };
  return { drawing: draw(table, bound), called: calledBy(table, bound), sources };
}
