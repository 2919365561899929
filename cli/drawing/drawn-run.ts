import { duration } from "../run/progress.ts";
import type { Drawing, DrawnEdge, DrawnNode } from "./drawing.ts";

/** A run that is drawn over a graph: a counterexample of a check, the run of a thread, or what all tests take (`coverage`). */
export interface DrawnRun {
  readonly kind: "trace" | "thread" | "coverage";
  readonly title: string;
  readonly steps: readonly DrawnStep[];
  /** How the run ends, or what it waits for. */
  readonly end: string;
}

export interface DrawnStep {
  readonly step: number;
  /** Once for each task. */
  readonly ran: readonly string[];
  /** Node -> the way that its choice went. */
  readonly chose: Readonly<Record<string, string>>;
  /** How long the step took; absent if it is not known, and where the run has waited inside of the step. */
  readonly milliseconds?: number;
}

/** What a run did at a node. */
export interface NodeRun {
  readonly state: "ran" | "next" | "waits" | "failed" | "missed";
  /** Tasks that ran. */
  readonly count: number;
  /** The steps in which the node ran, in order. */
  readonly steps: readonly number[];
  /** Time of these steps together, without those whose time is not known. */
  readonly milliseconds?: number;
  /** All of it in a few words. */
  readonly text: string;
}

/** A run to draw, and the places where it stopped. */
export interface RunFacts extends DrawnRun {
  /** Node or barrier -> where the run stopped, in a few words. */
  readonly stopped: ReadonlyMap<string, { readonly state: "next" | "waits" | "failed"; readonly text: string }>;
  /** Whether the last step led to `end`. */
  readonly completed: boolean;
}

/** Draws a run over a graph. Nodes of the run that the graph does not have are not drawn. Linear in both. */
export function drawRun(drawing: Drawing, { stopped, completed, ...run }: RunFacts): Drawing {
  const visits = new Map<string, { count: number; steps: number[]; milliseconds?: number }>();
  run.steps.forEach(({ step, ran, milliseconds }) => {
    for (const name of ran) {
      let visit = visits.get(name);
      if (visit === undefined) visits.set(name, (visit = { count: 0, steps: [] }));
      visit.count++;
      if (visit.steps.at(-1) === step) continue;
      visit.steps.push(step);
      if (milliseconds !== undefined) visit.milliseconds = (visit.milliseconds ?? 0) + milliseconds;
    }
  });
  const nodes = drawing.nodes.map((node): DrawnNode => {
    const visit = visits.get(node.id);
    const stop = stopped.get(node.id);
    if (node.kind !== "node" && stop === undefined) return node;
    if (visit === undefined && stop === undefined) return node;
    const { count, steps } = visit ?? { count: 0, steps: [] };
    const time = visit?.milliseconds;
    const text = [
      ...(count > 1 ? [`${count}×`] : []),
      ...(steps.length > 0 ? [stepsText(steps)] : []),
      ...(time === undefined ? [] : [duration(time)]),
      ...(stop === undefined ? [] : [stop.text]),
    ].join(" · ");
    return {
      ...node,
      run: {
        state: stop?.state ?? "ran",
        count,
        steps,
        ...(time === undefined ? {} : { milliseconds: time }),
        text,
      },
    };
  });
  const taken = takenEdges(drawing, run.steps, stopped, completed);
  const edges = drawing.edges.map((edge) => (taken.has(edge) ? { ...edge, taken: true } : edge));
  return { ...drawing, nodes, edges, run };
}

/** Steps that a label lists; of more, the first ones and the last. */
const LISTED_STEPS = 6;

function stepsText(steps: readonly number[]): string {
  if (steps.length === 1) return `step ${steps[0]}`;
  if (steps.length <= LISTED_STEPS) return `steps ${steps.join(", ")}`;
  return `steps ${steps.slice(0, LISTED_STEPS - 2).join(", ")}, … ${steps.at(-1)}`;
}

/** The edges whose ends ran one after the other; a barrier counts from the step of a member to the step that it starts. */
function takenEdges(
  drawing: Drawing,
  steps: readonly DrawnStep[],
  stopped: RunFacts["stopped"],
  completed: boolean,
): ReadonlySet<DrawnEdge> {
  const out = new Map<string, DrawnEdge[]>();
  for (const edge of drawing.edges) {
    const list = out.get(edge.from);
    if (list === undefined) out.set(edge.from, [edge]);
    else list.push(edge);
  }
  const last = new Map<string, number>();
  steps.forEach(({ ran }, index) => {
    for (const name of ran) {
      last.set(name, index);
    }
  });
  // A node that waits or runs next has been reached after the last step.
  const reached = (name: string): number => (stopped.has(name) ? steps.length : (last.get(name) ?? -1));
  const barriers = new Map(drawing.nodes.flatMap(({ id, kind }) => (kind === "barrier" ? [[id, -1]] : [])));
  for (const { from, to } of drawing.edges) {
    const known = barriers.get(from);
    if (known !== undefined) barriers.set(from, Math.max(known, reached(to)));
  }
  const taken = new Set<DrawnEdge>();
  const follow = (from: readonly string[], to: ReadonlySet<string>, at: number): void => {
    for (const name of new Set(from)) {
      for (const edge of out.get(name) ?? []) {
        const fires = barriers.get(edge.to);
        if (fires === undefined ? to.has(edge.to) : fires > at || stopped.has(edge.to)) taken.add(edge);
      }
    }
  };
  follow(["start"], new Set(steps[0]?.ran), -1);
  steps.forEach(({ ran }, index) => {
    const isLast = index === steps.length - 1;
    const next = isLast ? [...stopped.keys(), ...(completed ? ["end"] : [])] : (steps[index + 1]?.ran ?? []);
    follow(ran, new Set(next), index);
  });
  for (const [id, fired] of barriers) {
    if (fired < 0) continue;
    for (const edge of out.get(id) ?? []) if (reached(edge.to) >= 0) taken.add(edge);
  }
  return taken;
}
