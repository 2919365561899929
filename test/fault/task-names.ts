/** Maps an idempotency key to its task. Keys are digests, so all candidate tasks are tried. */
import { createHash } from "node:crypto";
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { Model } from "./model.ts";

/** A task in a step of a run. */
export interface TaskName {
  readonly runId: string;
  readonly task: string;
  readonly step: number;
}

/** The name without the digests of items, which ids of items contain. */
export function withoutDigests(name: string): string {
  return name.replaceAll(/#[0-9a-f]{12}/g, "");
}

/** The name as the engine hashes it. The lists of models hold their own indexes. */
export function withDigests(name: string): string {
  return name.replaceAll(/\[(\d+)\]/g, (item, index: string) => {
    return withDigest(item, Number(index));
  });
}

/** The name of a task of an item as the engine hashes it. */
export function withDigest(task: string, item: Json): string {
  return `${task}#${createHash("sha256").update(JSON.stringify(item)).digest("hex").slice(0, 12)}`;
}

export function nameOf({ runId, task, step }: TaskName): string {
  return `${runId}:${task}@${step}`;
}

/** Maximum step of the candidates. */
const STEPS = 16;

/**
 * @param root the id of the outermost run
 * @param from the step that its newest checkpoint continues with
 * @param known ids of runs of called graphs, which are tried first: there are too many others in deep calls
 */
export function taskOfKey(
  main: Model,
  { root, from }: { readonly root: string; readonly from: number },
  { model, node }: { readonly model: Model; readonly node: string },
  { idempotencyKey: key, step, item }: NodeContext,
  known: ReadonlySet<string>,
): TaskName | undefined {
  const tasks =
    item === undefined
      ? [node]
      : [...(typeof item === "number" ? [`${node}[${item}]`] : []), ...sentTo(node, step, model)];
  const search = (runs: Iterable<string>): TaskName | undefined => {
    for (const runId of runs) {
      const run = withDigests(runId);
      for (const task of tasks) if (key === keyOf(`${run}:${withDigests(task)}@${step}`)) return { runId, task, step };
    }
    return undefined;
  };
  const found = main === model ? undefined : search(knownRuns(known, root));
  return found ?? search(runsOf(main, model, root, from));
}

/** The idempotency key of a task: `run:task@step`. */
export function keyOf(name: string): string {
  return `sha256:${createHash("sha256").update(name).digest("hex")}`;
}

/** Known runs of called graphs, newest first, in every round of their arguments. */
function* knownRuns(known: ReadonlySet<string>, root: string): Generator<string> {
  const tried = new Set<string>();
  for (const runId of [...known].reverse()) {
    const [first, ...calls] = runId.split("/");
    if (first !== root) continue;
    let ids = [root];
    for (const call of calls) {
      const plain = call.replace(/(@\d+)\.\d+$/, "$1");
      ids = ids.flatMap((id) => ARGUMENTS.map((round) => `${id}/${plain}${round}`));
    }
    for (const id of ids) {
      if (!tried.has(id)) yield id;
      tried.add(id);
    }
  }
}

function sentTo(node: string, step: number, { nodes }: Model): string[] {
  const most = 3 * nodes.reduce((sum, { items }) => sum + Math.max(1, items ?? 1), 0) + 9;
  return Array.from({ length: most }, (_, index) => `${node}~${step - 1}.${index}`);
}

/** An edit that changes the arguments of a call makes it another task. */
const ARGUMENTS = ["", ".2", ".3"];

/** Ids of all runs of called graphs, given the id of `main`. */
function* runsOf(main: Model, model: Model, runId: string, from: number): Generator<string> {
  if (main === model) {
    yield runId;
    return;
  }
  for (let step = from; step < from + STEPS; step++) {
    for (const { graph, name, items } of main.nodes) {
      if (graph === undefined) continue;
      const own = items === undefined ? [name] : Array.from({ length: items }, (_, index) => `${name}[${index}]`);
      for (const task of [...own, ...sentTo(name, step, main)])
        for (const round of ARGUMENTS) yield* runsOf(main.graphs[graph]!, model, `${runId}/${task}@${step}${round}`, 0);
    }
  }
}
