/**
 * The rollback of a run (10): the open entries of its undo log, the newest first, one at a time. An entry that is done is
 * stored before the next one starts, so that a crash repeats at most one undo.
 */
import type { UndoEntry } from "../interface/undo.ts";
import type { RollbackResult, UndoItem } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { Evaluate } from "../expression/compile-expression.ts";
import { NO_LIMITS } from "../run/limits.ts";
import { Cancellation } from "../run/cancellation.ts";
import { dropSignals } from "../run/drop-signals.ts";
import { cancelledEnd, isDraining, saveBetweenSteps } from "../run/run-end.ts";
import { Run, type RunEnd } from "../run/run.ts";
import { findUndo, openUndos, setUndos, undoLog, withDone } from "../checkpoint/undo-log.ts";
import { runTask } from "./run-task.ts";
import type { Task } from "./task.ts";

/** Runs the open undos of a run whose checkpoint says that it rolls back. */
export async function rollBack(run: Run): Promise<RunEnd> {
  const open = openUndos(withDone(undoLog(run), run.undone));
  const undone: UndoItem[] = [];
  const failures = new Map<string, string>();
  // Mutation point: undo-order
  const inOrder = open.toReversed();
  for (const entry of inOrder) {
    // R4: a cancel stops the rollback after the current undo.
    if (run.cancellation.aborted || isDraining(run)) break;
    const renewed = run.shared.durable?.ensureClaimed();
    if (renewed !== undefined) await renewed;
    const failure = await undo(run, entry);
    if (failure === CUT_OFF) break;
    if (failure !== undefined) {
      failures.set(entry.key, failure);
      continue;
    }
    undone.push(itemOf(entry));
    run.undone.add(entry.key);
    // Mutation point: stored-undone
    await storeUndone(run, entry);
  }
  setUndos(run, withDone(undoLog(run), run.undone));
  const left = inOrder.filter(({ key }) => !run.undone.has(key));
  const isCutOff = left.some(({ key }) => !failures.has(key));
  const rollback: RollbackResult = {
    undone,
    open: left.map((entry) => ({ ...itemOf(entry), error: failures.get(entry.key) ?? null })),
  };
  const end: RunEnd = { ...(isCutOff ? cancelledEnd(run) : endOf(left, failures)), rollback };
  const emptied = dropSignals(run, end);
  if (emptied !== undefined) await emptied;
  const saved = saveBetweenSteps(run, "completed", run.step - 1, [], end);
  if (saved !== undefined) await saved;
  return end;
}

function endOf(left: readonly UndoEntry[], failures: ReadonlyMap<string, string>): RunEnd {
  const none = { pauses: [], incompleteBarriers: [] };
  const [first] = left;
  if (first === undefined) return { ...none, status: "rolled_back", error: null };
  const what = left.length === 1 ? "1 undo is open" : `${left.length} undos are open`;
  const message = `${what}: \`${first.call}\` of task \`${first.task}\`: ${failures.get(first.key)}`;
  const error = new RunError("NG_UNDO_FAILED", message, { nodeIds: [...new Set(left.map((entry) => nodeOf(entry)))] });
  return { ...none, status: "failed", error };
}

function itemOf(entry: UndoEntry): UndoItem {
  const { task, call, key } = entry;
  return { task, node: nodeOf(entry), call, key };
}

function nodeOf({ nodes }: UndoEntry): string {
  return nodes.at(-1) ?? "";
}

/** The engine is drained. */
const CUT_OFF = Symbol("cut off");

/** Runs one undo with its retries. Returns why it failed. */
async function undo(run: Run, entry: UndoEntry): Promise<string | undefined | typeof CUT_OFF> {
  if (entry.args === undefined) return `it cannot be undone: ${entry.broken ?? "its arguments are not stored"}`;
  const found = findUndo(run.program, entry);
  if (found === undefined)
    return `node \`${nodeOf(entry)}\` has no \`undo ${entry.call}(…)\` in this version of the graph`;
  const namesSecret = entry.args.some((argument) => "expression" in argument);
  if (namesSecret && found.program.secrets === undefined)
    return `the arguments of \`undo ${entry.call}(…)\` name a secret, and this version of the graph has none`;
  const args = entry.args.map((argument): Evaluate => {
    if ("expression" in argument) return run.program.linker.interpret(argument.expression);
    const { value } = argument;
    return () => value;
  });
  const path = [...run.path, ...entry.task.split("/").slice(0, -1)];
  // A run of its own: a cancellation lets the current undo finish.
  const own = new Run(found.program, run.shared, {
    cancellation: new Cancellation(false),
    limits: NO_LIMITS,
    ...(path.length === 0 ? {} : { place: { path, runId: run.runId, keyId: run.keyId } }),
  });
  own.step = entry.step;
  const task: Task = {
    node: found.node.undo!.code(args),
    id: entry.task.split("/").at(-1) ?? entry.task,
    item: undefined,
    itemIndex: -1,
    error: null,
    items: undefined,
    broken: undefined,
    undo: entry,
  };
  const { failure, cancelled, pauses } = await runTask(own, task);
  if (cancelled) return CUT_OFF;
  if (pauses !== undefined) return "an undo cannot wait";
  return failure?.reason;
}

async function storeUndone(run: Run, entry: UndoEntry): Promise<void> {
  const { writer } = run;
  if (writer === undefined) return;
  const kept = writer.keepUndone(entry);
  if (kept !== false) return kept;
  // The store keeps no results between checkpoints.
  setUndos(run, withDone(undoLog(run), run.undone));
  await saveBetweenSteps(run, "completed", run.step - 1, [], undefined);
}
