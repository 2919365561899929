import type { Diagnostic, TraceStep } from "../diagnostic.ts";

/**
 * A run on one line, as reports show it: `start · triage ("ok") · [legal, docs]`. Several nodes of one step are in
 * brackets. The signals that the last step leaves in barriers follow.
 */
export function formatTrace(trace: readonly TraceStep[]): string {
  const steps = trace.map((step) => {
    const names = step.ran.map((name) => {
      const choice = choiceOf(step, name);
      return choice === undefined ? name : `${name} (${choice})`;
    });
    return names.length === 1 ? (names[0] ?? "") : `[${names.join(", ")}]`;
  });
  const entry = trace[0]?.entry ?? "start";
  if (trace[0]?.ran[0] !== entry) {
    const choice = choiceOf(trace[0], entry);
    steps.unshift(choice === undefined ? entry : `${entry} (${choice})`);
  }
  return steps.join(" · ");
}

/** Names come from users: `constructor` is valid. */
function choiceOf(step: TraceStep | undefined, name: string): string | undefined {
  return step !== undefined && Object.hasOwn(step.chose, name) ? step.chose[name] : undefined;
}

/** The barriers that are partly filled at the end of a run: `publish has legal`. */
export function formatBarriers(step: TraceStep | undefined): string {
  if (step === undefined) return "";
  return Object.entries(step.barriers)
    .filter(([, nodes]) => nodes.length > 0)
    .map(([barrier, nodes]) => `${barrier} has ${nodes.join(", ")}`)
    .join("; ");
}

/** The end of the run that the trace of a diagnostic shows; empty if the trace has nothing to add. */
export function formatTraceEnd({ trace, traceEnd }: Diagnostic): string {
  return traceEnd ?? formatBarriers(trace?.at(-1));
}

/** The trace of a diagnostic with its end, on one line; `undefined` without a trace. */
export function formatTraceOf(diagnostic: Diagnostic): string | undefined {
  if (diagnostic.trace === undefined || diagnostic.trace.length === 0) return undefined;
  const end = formatTraceEnd(diagnostic);
  return formatTrace(diagnostic.trace) + (end === "" ? "" : ` · ${end}`);
}
