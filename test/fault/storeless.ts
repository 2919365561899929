/** The same graphs without a store: the shortest way through the engine, which has code of its own. */
import { randomModel, type Model } from "./model.ts";
import { below, randomOf } from "./random.ts";
import { expectedOf, newLife, type Subject } from "./simulate.ts";
import { modelsByName, tableOfModel } from "./table-of-model.ts";
import { work } from "./watched-body.ts";
import { World } from "./world.ts";

/** What went wrong; `undefined` for graphs that pause, which need a store. */
export async function simulateStoreless(subject: Subject, seed: number): Promise<readonly string[] | undefined> {
  const random = randomOf(seed);
  const model = randomModel(random);
  if (pauses(model)) return undefined;
  const input = below(random, 20);
  const { limit, expected } = expectedOf(model, input);
  const world = new World(random, new Map(), subject.makeStore);
  const life = newLife(world, "the run", false);
  // Nothing is stored and nothing claimed, so there is no order of it to watch.
  life.claimed = true;
  world.heads.set("", "none");
  const setting = { world, models: modelsByName(model), triedAgain: new Set<string>() };
  const engine = subject.createEngine(tableOfModel(model), {
    clock: world.clockOf(life),
    random: () => 0.5,
    functions: { work: (...args: unknown[]) => work(setting, life, args) },
  });
  let shown = "";
  let isDone = false;
  void engine.run({ input }, { maxSteps: limit }).then(
    ({ status, output, steps }) => {
      isDone = true;
      shown = JSON.stringify([status, output, status === "failed" ? [] : steps]);
    },
    (error: unknown) => {
      isDone = true;
      shown = String(error);
    },
  );
  if (
    !(await world.drive(
      () => isDone,
      () => undefined,
    ))
  )
    return ["it hangs"];
  const { status, log, counter, last, steps } = expected;
  const wanted = JSON.stringify([status, { log, counter, last }, status === "failed" ? [] : steps]);
  return shown === wanted ? world.problems : [`found ${shown}\n  expected ${wanted}`];
}

function pauses({ nodes, graphs }: Model): boolean {
  return nodes.some((node) => node.pauseBefore || node.pauseAfter || node.does.asks > 0) || graphs.some(pauses);
}
