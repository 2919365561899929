/** Checkpoints from before versions existed, and a run that resumes from one. */
import { expect } from "vitest";
import {
  CHECKPOINT_SCHEMA_VERSION,
  type Checkpoint,
  type CheckpointHeader,
} from "../../runtime/interface/checkpoint.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { engineOf } from "../support/graph.ts";

const GRAPH = `graph g {
  input start_at: int   output x: int = 0   output list: string[] = [] reduce append
  node a = a(start_at) into { x, list }   node b = b(x) into { x, list }   node c = c(x) into { x, list }
  start -> a -> b -> c
}`;

/**
 * 5.1: the store keeps a checkpoint of schema version 0 unchanged, without the newer fields; a resume continues from
 * it, runs what had not run,
 * and appends checkpoints of the current version.
 */
export async function expectMigrationOnResume(store: Store): Promise<void> {
  const ran: string[] = [];
  const node = (name: string) => (x: number) => (ran.push(name), { x: x + 1, list: name });
  const functions = { a: node("a"), b: node("b"), c: node("c") };
  const no = () => Promise.reject(new Error("no"));
  await engineOf(GRAPH, { ...functions, b: no }, { store }).run({ start_at: 5 }, { thread: "new" });
  const stopped = (await store.list("new")).find(({ nextNodes }) => nextNodes.includes("b"))!;
  expect(ran).toEqual(["a"]);

  const saved = await saveAsVersionZero(store, stopped);
  const { values, versions, ...header } = saved;
  expect(await store.loadById("old", header.id)).toMatchObject({ ...header, values, versions });

  const result = await engineOf(GRAPH, functions, { store }).resume("old");
  expect(result).toMatchObject({ status: "completed", output: { x: 8, list: ["a", "b", "c"] } });
  expect(ran).toEqual(["a", "b", "c"]);
  const history = await store.list("old");
  expect(history.map(({ schemaVersion }) => schemaVersion)).toEqual([
    CHECKPOINT_SCHEMA_VERSION,
    CHECKPOINT_SCHEMA_VERSION,
    0,
  ]);
  expect(history[2]).toMatchObject({ ...header, values, versions });
}

/** The same state on the thread `old`, without the fields of version 1. */
async function saveAsVersionZero(store: Store, checkpoint: Checkpoint): Promise<Checkpoint> {
  const { values, versions, ...today } = checkpoint;
  const { pendingSends: _1, barrierState: _2, pauses: _3, answers: _4, errors: _5, metadata: _6, ...rest } = today;
  const header = { ...rest, schemaVersion: 0, id: "from before", threadId: "old", parentId: null };
  const claim = await store.claim("old", { owner: "before", leaseMs: 60_000 });
  await store.save(claim, {
    header: header as unknown as CheckpointHeader,
    changes: Object.entries(values).map(([channel, value]) => ({
      channel,
      version: versions[channel]!,
      kind: "set",
      value,
    })),
    snapshot: () => ({ values, versions }),
    expectedHead: null,
    releaseClaim: true,
  });
  return { ...header, values, versions } as Checkpoint;
}
