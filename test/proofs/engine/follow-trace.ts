import type { TraceStep } from "../../../diagnostics/diagnostic.ts";
import { createChooser, type Chooser, nextScript } from "./choices.ts";
import type { GraphRunner, RanGraph } from "./run-graph.ts";

/** Runs that are tried for one trace. */
const DEEP = 60;
const RANDOM = 120;

export interface Followed {
  /** A run that goes as the trace says, its conditions computed from values. */
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
): Promise<Followed> {
  const hint = (step: number, node: string): string | undefined => {
    const at = trace[step];
    if (at === undefined || !at.ran.includes(node)) return undefined;
    const said = Object.hasOwn(at.chose, node) ? at.chose[node] : undefined;
    // In its last step a trace may leave open where nodes lead.
    return said ?? (step < trace.length - 1 ? "" : undefined);
  };
  const attempt = async (chooser: Chooser): Promise<RanGraph | undefined> => {
    const runs = await runner.run(chooser, { hint, maxSteps: trace.length });
    return runs.find((run) => goesAs(run, trace) && isShown(run));
  };
  let script: readonly number[] | undefined = [];
  for (let count = 0; count < DEEP && script !== undefined; count++) {
    const chooser = createChooser(script);
    const run = await attempt(chooser);
    if (run !== undefined) return { run, exhausted: false };
    script = nextScript(chooser.made);
  }
  if (script === undefined) return { run: undefined, exhausted: true };
  for (let count = 0; count < RANDOM; count++) {
    const run = await attempt(createChooser([], seed * 7919 + count));
    if (run !== undefined) return { run, exhausted: false };
  }
  return { run: undefined, exhausted: false };
}

function goesAs({ steps }: RanGraph, trace: readonly TraceStep[]): boolean {
  return trace.every(({ ran }, index) => {
    const nodes = [...new Set(steps[index]?.nodes)].sort();
    return nodes.join() === [...new Set(ran)].sort().join();
  });
}
