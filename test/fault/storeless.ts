/** The same graphs without a store: the engine has a shorter path for them. */
import type { Model } from "./model.ts";
import { below, randomOf } from "./random.ts";
import { begin, ending, step } from "./reference.ts";
import { modelOfSeed, newLife, type Subject } from "./simulate.ts";
import { modelsByName, tableOfModel } from "./table-of-model.ts";
import { functionsOf } from "./watched-body.ts";
import { World } from "./world.ts";

const LIMIT = 8;

/**
 * The problem; `undefined` for graphs that pause (they need a store), and for graphs that need a resume after a
 * failure.
 */
export async function simulateStoreless(subject: Subject, seed: number): Promise<readonly string[] | undefined> {
  const random = randomOf(seed ^ 0x0dd5);
  const model = modelOfSeed(seed);
  if (pauses(model)) return undefined;
  const input = below(random, 20);
  const world = new World(random, new Map(), subject.makeStore);
  const act = { kind: "run", input, abandon: false } as const;
  const life = newLife(world, "the run", { act }, { isExit: false, maxSteps: LIMIT, aborts: false });
  // Nothing is stored or claimed, so there is no order to check.
  life.claimed = true;
  world.heads.set("t|", "none");
  const setting = { world, model, models: modelsByName(model), triedAgain: new Set<string>() };
  const engine = subject.createEngine(tableOfModel(model), {
    clock: world.clockOf(life),
    functions: functionsOf(setting, life),
  });
  let shown = "";
  let isDone = false;
  void engine.run({ input }, { thread: "t", maxSteps: LIMIT }).then(
    ({ status, output, steps }) => {
      isDone = true;
      shown = JSON.stringify([status, output, steps]);
    },
    (error: unknown) => {
      isDone = true;
      shown = String(error);
    },
  );
  const went = await world.drive(
    () => isDone,
    () => undefined,
  );
  if (!went) return ["it hangs"];
  const wanted = JSON.stringify(expected(model, input));
  return shown === wanted ? world.problems : [`found ${shown}\n  expected ${wanted}`];
}

function expected(model: Model, input: number): unknown {
  let at = begin(model, input);
  const steps: string[][] = [];
  const end = (status: string): unknown => {
    const { log, counter, last } = at.values;
    return [status, { log, counter, last }, steps];
  };
  for (;;) {
    const over = ending(at);
    if (over !== undefined) return end(over);
    if (at.step >= LIMIT) return end("limit");
    const { next, tasks } = step(model, at);
    if (next === undefined) return end("failed");
    steps.push(tasks.map(({ node }) => model.nodes[node]!.name));
    at = next;
  }
}

function pauses({ nodes, graphs }: Model): boolean {
  return (
    nodes.some(({ pauseBefore, pauseAfter, does }) => pauseBefore || pauseAfter || does.asks > 0 || does.breaks > 0) ||
    graphs.some(pauses)
  );
}
