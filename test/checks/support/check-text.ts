import { checkGraph, type CheckOptions, type Proof } from "../../../compiler/checks/check-graph.ts";
import type { BoundGraph } from "../../../compiler/bind/bound-graph.ts";
import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import { bindText } from "./bind-text.ts";

export interface Checked {
  readonly diagnostics: readonly Diagnostic[];
  /** Codes of the errors, sorted. */
  readonly errors: readonly string[];
  /** Codes of errors and warnings, sorted. */
  readonly findings: readonly string[];
  /** All codes, each once, sorted. */
  readonly codes: readonly string[];
  /** Codes of what was proven. */
  readonly proofs: readonly string[];
  readonly proofTexts: readonly string[];
  /** The verdict of the first graph in one line; empty if errors prevent the exploration of its runs. */
  readonly verdict: string;
  readonly graph: BoundGraph;
}

/** Checks the graphs of a text. `act` and `check` are imported functions unless the text has imports or is taken `raw`. */
export function checkText(text: string, options: CheckOptions & { readonly raw?: boolean } = {}): Checked {
  const full =
    options.raw === true || /^\s*import\b/.test(text) ? text : `import { act, check } from "functions"\n${text}`;
  const { graphs, diagnostics } = bindText(full);
  const all: Diagnostic[] = [...diagnostics];
  const proofs: Proof[] = [];
  let verdict: string | undefined;
  for (const graph of graphs) {
    const result = checkGraph(graph, options);
    verdict ??= result.verdict?.text ?? "";
    all.push(...result.diagnostics);
    proofs.push(...result.proofs);
  }
  // An import that a small text does not use is no finding about the graph.
  const shown = all.filter((diagnostic) => diagnostic.code !== "NG111");
  const codes = (accept: (diagnostic: Diagnostic) => boolean): string[] =>
    shown
      .filter(accept)
      .map((diagnostic) => diagnostic.code)
      .toSorted();
  return {
    diagnostics: shown,
    errors: codes((diagnostic) => diagnostic.severity === "error"),
    findings: codes((diagnostic) => diagnostic.severity !== "info"),
    codes: [...new Set(codes(() => true))],
    proofs: proofs.map((proof) => proof.code),
    proofTexts: proofs.map((proof) => proof.message),
    verdict: verdict ?? "",
    graph: graphs[0]!,
  };
}
