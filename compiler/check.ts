import type { DiagnosticCode } from "../diagnostics/codes.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Range } from "../diagnostics/source.ts";
import type { Digest, Effect } from "../runtime/table/table.ts";
import { sourcesOf, targetsOf } from "./bind/edge-parts.ts";
import { compile, type CompiledGraph, type CompiledPlan, type CompileOptions } from "./compile.ts";

/** The entry of a graph or plan in `ngc check --json`. */
export interface GraphSummary {
  readonly name: string;
  readonly kind: "graph" | "plan";
  /** `null` where the file has errors. */
  readonly digest: Digest | null;
  /** The number of nodes or tasks; a matrix task counts once for each value. */
  readonly nodes: number;
  /**
   * The number of pairs of source and target; each member of a barrier counts as a source. In a plan, the number of
   * dependencies.
   */
  readonly edges: number;
  readonly effects: readonly Effect[];
  readonly proofs: readonly { readonly code: DiagnosticCode; readonly message: string; readonly range: Range }[];
  /** The summary of all checks, with the undecided properties; `null` for plans and for files with errors. */
  readonly verdict: GraphVerdict | null;
}

export interface GraphVerdict {
  readonly kind: "sound" | "unsound" | "not proven";
  /** `sound`, `unsound: …` or `not proven: …`. */
  readonly text: string;
  /** Properties that are neither proven nor refuted, each with the reason. */
  readonly open: readonly { readonly property: string; readonly why: string }[];
}

export interface CheckReport {
  /** There are no errors. */
  readonly ok: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly graphs: readonly GraphSummary[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Checks a text: returns its findings and what is proven about its graphs. Never throws. */
export function check(text: string, options: CompileOptions = {}): CheckReport {
  const { diagnostics, graphs, plans } = compile(text, options);
  const count = (severity: Diagnostic["severity"]): number =>
    diagnostics.filter((item) => item.severity === severity).length;
  const errors = count("error");
  const summaries = [...graphs.map(summariseGraph), ...plans.map(summarisePlan)];
  return { ok: errors === 0, errors, warnings: count("warning"), graphs: summaries, diagnostics };
}

export function summariseGraph({ name, bound, table, proofs, verdict }: CompiledGraph): GraphSummary {
  return {
    name,
    kind: "graph",
    digest: table?.digest ?? null,
    nodes: bound.nodes.length,
    edges: bound.edges.reduce((sum, edge) => sum + sourcesOf(edge).length * targetsOf(edge).length, 0),
    effects: table?.effects ?? [...new Set(bound.nodes.flatMap((node) => node.effects))].sort(),
    proofs: proofs.map(({ code, message, span }) => ({ code, message, range: bound.file.range(span) })),
    verdict:
      verdict === undefined
        ? null
        : {
            kind: verdict.kind,
            text: verdict.text,
            open: verdict.open.map(({ property, why }) => ({ property, why })),
          },
  };
}

export function summarisePlan({ name, bound, table }: CompiledPlan): GraphSummary {
  return {
    name,
    kind: "plan",
    digest: table?.digest ?? null,
    nodes: bound.tasks.length,
    edges: bound.tasks.reduce((sum, task) => sum + task.after.length, 0),
    effects: table?.effects ?? [...new Set(bound.tasks.flatMap((task) => task.effects))].sort(),
    proofs: [],
    verdict: null,
  };
}
