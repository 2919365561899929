import { sortDiagnostics, type Diagnostic } from "../../diagnostics/diagnostic.ts";
import type { Steps } from "../algorithms/steps.ts";
import type { BoundProject } from "../bind/bind-project.ts";
import type { BoundGraph } from "../bind/bound-graph.ts";
import { checkGraph, type CheckOptions, type CheckResult } from "./check-graph.ts";
import { checkJumps } from "./check-jumps.ts";
import { checkUnusedNames } from "./check-names.ts";
import { checkPlan } from "./check-plan.ts";

export interface ProjectCheck {
  /** Findings about the entry file, and errors of the graphs and plans of other files that it calls. Sorted. */
  readonly diagnostics: readonly Diagnostic[];
  /** By graph: its proofs and its verdict. */
  readonly results: ReadonlyMap<BoundGraph, Pick<CheckResult, "proofs" | "verdict">>;
}

/** Checks the graphs and plans of the entry file and those that they call, and proves what it can: a step for each graph. Never throws. */
export function* checkProject(project: BoundProject, options: CheckOptions = {}): Steps<ProjectCheck> {
  const { source } = project.entry;
  const diagnostics: Diagnostic[] = [];
  const report = (diagnostic: Diagnostic): void => {
    if (diagnostic.severity === "error" || diagnostic.file === source) diagnostics.push(diagnostic);
  };
  const results = new Map<BoundGraph, CheckResult>();
  for (const graph of project.allGraphs) {
    const result = checkGraph(graph, options);
    results.set(graph, result);
    result.diagnostics.forEach(report);
    checkJumps(graph, project.scopes.get(graph), report);
    yield;
  }
  for (const plan of project.allPlans) checkPlan(plan).forEach(report);
  checkUnusedNames(project, report);
  return { diagnostics: sortDiagnostics(diagnostics), results };
}
