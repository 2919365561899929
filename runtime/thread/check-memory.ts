import type { Checkpoint } from "../interface/checkpoint.ts";
import { recordedShapes } from "../checkpoint/channel-shapes.ts";
import { drift } from "../checkpoint/drift-problem.ts";
import { visitItems } from "../checkpoint/visit-items.ts";
import { loadChildHead } from "../checkpoint/load-checkpoint.ts";
import type { Program } from "../program/program.ts";
import { memoryProblems } from "../run/follow-run.ts";
import type { EngineCore } from "../run/run-settings.ts";
import type { Durable } from "../run/shared.ts";

/**
 * Prepares the head of a thread for the check of a new run under an edited graph: adds the channels that an ancestor has
 * recorded, and refuses the run if a called graph would lose its memory. The refusal comes before the run writes or runs anything.
 *
 * @throws ThreadError NG_DRIFT
 */
export async function checkMemory({ program }: EngineCore, durable: Durable, head: Checkpoint): Promise<Checkpoint> {
  if (head.digest === program.table.digest) return head;
  // The run of another graph is refused for this reason alone.
  if (isOfGraph(program, head)) await checkCalls(durable, program, [""]);
  return withChannels(durable, head);
}

/** @param places the namespaces under which the caller is or was stored, the present one first */
async function checkCalls(durable: Durable, program: Program, places: readonly string[]): Promise<void> {
  for (const { spec, call } of program.nodes) {
    if (call.kind !== "graph") continue;
    const names = [spec.name, ...(spec.was ?? [])];
    const visit = (task: string): Promise<boolean> => {
      const calls = places.flatMap((at) => names.map((name) => `${at === "" ? "" : `${at}/`}${name}${task}`));
      return checkCall(durable, call.graph, calls);
    };
    if (spec.each === undefined) await visit("");
    else await visitItems((item) => visit(`[${item}]`), 0);
  }
}

async function checkCall(durable: Durable, program: Program, places: readonly string[]): Promise<boolean> {
  for (const namespace of places) {
    const stored = await loadChildHead(durable, namespace);
    if (stored === undefined) continue;
    // A node that calls another graph than before calls it without memory.
    const isChanged = stored.digest !== program.table.digest && isOfGraph(program, stored);
    const problems = isChanged ? memoryProblems(program, await withChannels(durable, stored)) : [];
    if (problems.length > 0) {
      const what = `a new run on thread \`${stored.threadId}\` would lose memory of \`${namespace}\` under this version of graph \`${program.table.name}\``;
      throw drift(stored, what, problems, "start another thread");
    }
    await checkCalls(durable, program, places);
    return true;
  }
  return false;
}

function isOfGraph({ table }: Program, { graph }: Checkpoint): boolean {
  return graph === undefined || graph === table.name || table.was?.includes(graph) === true;
}

async function withChannels({ store }: Durable, head: Checkpoint): Promise<Checkpoint> {
  if (head.channels !== undefined) return head;
  const channels = await recordedShapes(store, head);
  return channels === undefined ? head : { ...head, channels };
}
