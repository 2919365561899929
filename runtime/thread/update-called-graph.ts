import type { UpdateOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { JsonObject } from "../value/json.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import { loadChildHead, loadHead, loadRecorded, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { moveCalled, moveCalledWrites, outermostRun } from "../checkpoint/move-called.ts";
import { NO_LIMITS } from "../run/limits.ts";
import { restoreRun, withAnswers } from "../checkpoint/restore-run.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { inTurns } from "../run/cut-work.ts";
import { FINALLY, Run } from "../run/run.ts";
import { unfinishedNodes } from "../run/run-end.ts";
import { createShared, type EngineCore } from "../run/run-settings.ts";
import type { Durable } from "../run/shared.ts";
import { takeAnswers } from "./answers.ts";
import { programAt } from "./fork-thread.ts";
import { editItems } from "../step/item-numbers.ts";
import { admittingEdits, applyEdits } from "./update-thread.ts";

/**
 * Edits the state of an unfinished called graph. Writes a checkpoint in its namespace, and a checkpoint of the thread
 * that refers to it. Returns the id of the second one.
 *
 * @throws RunError NG_BAD_INPUT if no unfinished graph has this namespace, and for inputs, which come from the call
 */
export async function updateCalledGraph(
  core: EngineCore,
  durable: Durable,
  cancellation: Cancellation,
  values: JsonObject,
  options: UpdateOptions,
): Promise<string> {
  const { store, threadId } = durable;
  const namespace = options.in!;
  if (options.as !== undefined) throw new RunError("NG_BAD_INPUT", "`in` edits values only: it takes no `as`");
  const latest = await loadHead(store, threadId);
  const found = await loadWrites(store, threadId, latest.id);
  const outer = await refuseDrift(core.program, store, withAnswers(latest, found), found);
  const { head } = outer;
  const children = head.children ?? {};
  const path = namespace.split("/");
  const called = programAt(core.program, path);
  const recorded = Object.hasOwn(children, namespace) ? children[namespace] : undefined;
  const newest = recorded === undefined ? undefined : await loadChildHead(durable, namespace);
  const isOwn = newest !== undefined && outermostRun(newest) === head.runId;
  const stored = recorded === undefined || isOwn ? newest : await loadRecorded(durable, recorded, head.runId);
  if (called === undefined || stored === undefined) {
    const open = Object.keys(children).map((name) => `\`${name}\``);
    const hint = open.length === 0 ? "none is unfinished" : `the unfinished ones are ${open.join(", ")}`;
    throw new RunError("NG_BAD_INPUT", `thread \`${threadId}\` has no unfinished graph \`${namespace}\`: ${hint}`);
  }
  const calledPlace = { namespace, runId: head.runId };
  const moved = moveCalled(stored, calledPlace);
  const writes = moveCalledWrites(await loadWrites(store, threadId, stored.id), stored, calledPlace);
  const inner = await refuseDrift(called, store, moved, writes, { stored });
  const child = inner.head;
  const { answers } = await takeAnswers(store, head, outer.writes, {});
  const metadata = { ...head.metadata, ...options.metadata };
  const shared = createShared(core, {}, { threadId, runId: head.runId, durable, answers, metadata });
  const place = { path, runId: child.runId, keyId: child.runId, attempt: child.attempt ?? 1 };
  const run = new Run(called, shared, { cancellation, limits: NO_LIMITS, place });
  run.argumentsRound = child.argumentsRound ?? 1;
  restoreRun(run, child, inner.writes, inner.moved);
  if (options.config !== undefined) {
    throw new RunError("NG_BAD_INPUT", "a called graph has the configuration of its caller: change it without `in`");
  }
  const edits = await inTurns(run.shared, admittingEdits(run, values, options));
  // The inputs of a `finally` part are a copy, as its other channels are.
  const input =
    path.at(-1) === FINALLY ? undefined : edits.find(({ channel }) => called.channels[channel]!.spec.role === "input");
  if (input !== undefined) {
    const message = `\`${input.name}\` is an input of graph \`${called.table.name}\`, which its call sets: edit the caller's state instead`;
    throw new RunError("NG_BAD_INPUT", message);
  }
  await editItems(run, child, () => applyEdits(run, edits));
  if (newest !== moved) run.writer!.branch(newest?.id ?? null, stored.namespace === namespace ? stored.id : null);
  await run.writer!.save("updated", {
    status: child.status,
    keepsWrites: newest !== moved,
    step: run.step - 1,
    current: child.currentNodes,
    pauses: child.pauses,
    unfinished: { next: unfinishedNodes(run), children: child.children ?? {} },
  });

  const caller = new Run(core.program, shared, { cancellation, limits: NO_LIMITS });
  restoreRun(caller, head, outer.writes, outer.moved);
  caller.children = { ...children, [namespace]: run.writer!.headId! };
  await caller.writer!.save("updated", {
    status: head.status,
    step: caller.step - 1,
    current: head.currentNodes,
    pauses: head.pauses,
    unfinished: { next: unfinishedNodes(caller), children: caller.children },
  });
  return caller.writer!.headId!;
}
