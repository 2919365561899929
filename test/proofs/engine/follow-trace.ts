import type { TraceStep } from "../../../diagnostics/diagnostic.ts";
import { createChooser, type Chooser, nextScript } from "./choices.ts";
import type { GraphRunner, Guide, RanGraph } from "./run-graph.ts";

export interface Followed {
  /** A run that follows a trace. Its conditions are computed from values. */
  readonly run: RanGraph | undefined;
  /** All choices were tried. */
  readonly exhausted: boolean;
}

/** Looks for values, failures and jumps with which the engine runs a trace. */
export async function followTrace(
  runner: GraphRunner,
  trace: readonly TraceStep[],
  seed: number,
  isShown: (run: RanGraph) => boolean,
  /** Runs that are tried in order, and as many at random. */
  most: number,
): Promise<Followed> {
  const hint = (step: number, node: string): string | undefined => {
    const at = trace[step];
    if (at === undefined || !at.ran.includes(node)) return undefined;
    const said = Object.hasOwn(at.chose, node) ? at.chose[node] : undefined;
    // In its last step a trace may leave open where nodes lead.
    return said ?? (step < trace.length - 1 ? "" : undefined);
  };
  const steps = trace.map(({ ran }) => [...new Set(ran)].sort().join());
  const accepts = (step: number, nodes: readonly string[]): boolean =>
    step >= steps.length || [...new Set(nodes)].sort().join() === steps[step];
  const attempt = async (chooser: Chooser): Promise<{ readonly run?: RanGraph; readonly made: Chooser["made"] }> => {
    const guide: Guide = { hint, accepts, maxSteps: trace.length, left: undefined };
    const [run] = await runner.run(chooser, guide);
    const { left } = guide;
    if (left !== undefined) return { made: chooser.made.slice(0, left) };
    const { made } = chooser;
    return run !== undefined && run.steps.length >= steps.length && isShown(run) ? { run, made } : { made };
  };
  let script: readonly number[] | undefined = [];
  for (let count = 0; count < most && script !== undefined; count++) {
    const { run, made } = await attempt(createChooser(script));
    if (run !== undefined) return { run, exhausted: false };
    script = nextScript(made);
  }
  if (script === undefined) return { run: undefined, exhausted: true };
  for (let count = 0; count < most; count++) {
    const { run } = await attempt(createChooser([], seed * 7919 + count));
    if (run !== undefined) return { run, exhausted: false };
  }
  return { run: undefined, exhausted: false };
}
