import { CHECKPOINT_SCHEMA_VERSION, type Checkpoint, type CheckpointId } from "../interface/checkpoint.ts";
import type { MigrateOptions } from "../interface/engine-options.ts";
import type { Claim } from "../interface/store.ts";
import type { JsonObject } from "../value/json.ts";
import { channelShapes, recordedShapes } from "../checkpoint/channel-shapes.ts";
import { otherGraph } from "../checkpoint/drift.ts";
import { drift } from "../checkpoint/drift-problem.ts";
import { newId } from "../checkpoint/ids.ts";
import { InnerCalls } from "../checkpoint/inner-calls.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { presentPauses } from "../checkpoint/present-pauses.ts";
import { resumeStep } from "../checkpoint/restore-run.ts";
import type { Program } from "../program/program.ts";
import type { EngineCore } from "../run/run-settings.ts";
import type { Durable } from "../run/shared.ts";
import { migrateCalls, type MigratedCall } from "./migrate-called.ts";
import { changesBetween, migrateContent } from "./migrate-checkpoint.ts";
import { readChanges, type Changes } from "./migrate-options.ts";
import { refuseMisspelledDrops } from "./refuse-misspelled.ts";

/** Without a claim, a migration only checks. */
type ThreadToMigrate = Pick<Durable, "store" | "threadId"> & Partial<Pick<Durable, "claim">>;

/**
 * Moves a thread to the table of the engine: renames, drops and converts what an edit of the graph has changed, in a checkpoint
 * of phase `updated`. All of it is checked before the first write. The runs of called graphs come first: a process that dies
 * between the writes leaves the thread to its former graph, and the migration can be repeated. Returns the id of the thread's head.
 *
 * @throws RunError NG_BAD_INPUT for options that contradict the graph; ThreadError NG_DRIFT with what still does not fit
 */
export async function migrateThread(
  core: EngineCore,
  thread: ThreadToMigrate,
  options: MigrateOptions,
): Promise<string> {
  const { store, threadId, claim } = thread;
  const { program } = core;
  const { table } = program;
  const changes = readChanges(program, options);
  const latest = await loadHead(store, threadId);
  if (latest.digest === table.digest && (latest.graph ?? table.name) === table.name) return latest.id;
  await refuseMisspelledDrops(store, latest, options);
  refuseOtherGraph(latest, program, changes);
  const writes = await loadWrites(store, threadId, latest.id);
  const shapes = await recordedShapes(store, latest);
  const { checkpoint: migrated, problems } = migrateContent(core, program, changes, { head: latest, writes, shapes });
  const called = await migrateCalls({ core, changes, store, threadId, head: latest, migrated });
  const all = [...problems, ...called.problems];
  if (all.length > 0) {
    const what = `thread \`${threadId}\` does not fit this version of graph \`${table.name}\``;
    throw drift(latest, what, all);
  }
  if (options.dryRun === true || claim === undefined) return latest.id;

  const children: Record<string, CheckpointId> = { ...migrated.children };
  const inner = new InnerCalls(children);
  // Inner graphs first: a checkpoint refers to those of the graphs it calls.
  const calls = [...called.calls].sort((a, b) => b.namespace.length - a.namespace.length);
  for (const call of calls) {
    const id = await saveCall(core, store, claim, call, inner.of(call.namespace) ?? {});
    // A called graph that has begun since the head was stored is recorded, too.
    if (call.checkpoint.status !== "completed" || Object.hasOwn(children, call.namespace)) {
      children[call.namespace] = id;
      inner.add(call.namespace, id);
    }
  }
  return save(core, store, claim, {
    program,
    stored: latest,
    migrated: Object.keys(children).length === 0 ? migrated : { ...migrated, children },
    head: latest.id,
    details: {
      step: resumeStep(latest) - 1,
      phase: "updated",
      metadata: { ...latest.metadata, ...options.metadata },
    },
  });
}

/** Stores the migrated checkpoint of a called graph. */
function saveCall(
  core: EngineCore,
  store: Durable["store"],
  claim: Claim,
  { program, stored, checkpoint, latest, namespace }: MigratedCall,
  inner: Readonly<Record<string, CheckpointId>>,
): Promise<CheckpointId> {
  const { children: _, ...own } = checkpoint;
  return save(core, store, claim, {
    program,
    // A chain of checkpoints stays in its namespace.
    stored: stored.namespace === namespace ? stored : undefined,
    migrated: Object.keys(inner).length === 0 ? own : { ...own, children: inner },
    head: latest?.id ?? null,
    details: {},
  });
}

interface MigratedSave {
  /** Absent for a plan. */
  readonly program: Program | undefined;
  /** The parent; `undefined` for the start of a chain. */
  readonly stored: Checkpoint | undefined;
  readonly migrated: Checkpoint;
  /** The head of the namespace. */
  readonly head: CheckpointId | null;
  readonly details: { readonly step?: number; readonly phase?: "updated"; readonly metadata?: JsonObject };
}

async function save(
  { clock }: EngineCore,
  store: Durable["store"],
  claim: Claim,
  { program, stored, migrated, head, details }: MigratedSave,
): Promise<CheckpointId> {
  const parent = stored ?? { values: {}, versions: {} };
  const { changes, versions } = changesBetween(parent, migrated);
  const pauses = program === undefined ? migrated.pauses : presentPauses(program, migrated);
  const { values, versions: _, ...header } = { ...migrated, pauses };
  const id = newId();
  await asStoreError(() =>
    store.save(claim, {
      header: {
        ...header,
        ...(program && { digest: program.table.digest, graph: program.table.name, channels: channelShapes(program) }),
        schemaVersion: CHECKPOINT_SCHEMA_VERSION,
        id,
        parentId: stored?.id ?? null,
        label: null,
        timestamp: clock.now(),
        ...details,
      },
      changes,
      snapshot: () => ({ values, versions }),
      expectedHead: head,
      ...(head === null ? {} : { clearWritesOf: head }),
    }),
  );
  return id;
}

function refuseOtherGraph(head: Checkpoint, { table }: Program, { formerGraphs }: Changes): void {
  const was = head.graph;
  if (was === undefined || was === table.name || table.was?.includes(was) === true) return;
  if (formerGraphs.get(table.name) === was) return;
  throw otherGraph(head, table.name);
}
