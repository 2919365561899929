import type { UpdateOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { Mismatch } from "../value/validate.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { refuseDrift } from "../checkpoint/drift.ts";
import { routeAs } from "../run/replan.ts";
import { restoreRun, withAnswers } from "../checkpoint/restore-run.ts";
import { describeError } from "../event/run-events.ts";
import { unfinishedNodes } from "../run/run-end.ts";
import { createShared, type EngineCore } from "../run/run-settings.ts";
import { Run } from "../run/run.ts";
import { newId } from "../checkpoint/ids.ts";
import type { Durable } from "../run/shared.ts";
import { loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { takeAnswers } from "./answers.ts";

/**
 * Edits the state of a thread (5.9) with a checkpoint of phase `updated`. Without `as` it changes values only. With
 * `as` it also routes as if that node had written the values, which replaces the next nodes. Returns the id of the
 * checkpoint.
 */
export async function updateThread(
  core: EngineCore,
  durable: Durable,
  cancellation: Cancellation,
  values: JsonObject,
  options: UpdateOptions,
): Promise<string> {
  const { store, threadId } = durable;
  const latest = await loadHead(store, threadId);
  const writes = await loadWrites(store, threadId, latest.id);
  const head = withAnswers(latest, writes);
  await refuseDrift(core.program, store, head, writes);
  const { answers } = await takeAnswers(store, head, writes, {});
  const shared = createShared(
    core,
    {},
    {
      threadId,
      // The replaced nodes may be next again in the same step. With a new run id, their tasks and pauses have other ids
      // (5.5, 6.2).
      // Mutation point: edited-run-id
      runId: options.as === undefined ? head.runId : newId(),
      durable,
      answers,
      metadata: { ...head.metadata, ...options.metadata },
    },
  );
  const run = new Run(core.program, shared, { cancellation, maxSteps: null });
  // Mutation point: edited-results
  restoreRun(run, head, writes);
  editState(run, values, options.replace === true);
  const writer = run.writer!;
  const step = run.step - 1;
  if (options.as === undefined) {
    run.children = head.children ?? {};
    await writer.save("updated", {
      status: head.status,
      step,
      current: head.currentNodes,
      pauses: head.pauses,
      unfinished: { next: unfinishedNodes(run), children: run.children },
    });
    return writer.headId!;
  }
  const node = core.program.nodeIndex.get(options.as);
  if (node === undefined) throw new RunError("NG_BAD_INPUT", `there is no node \`${options.as}\` to write as`);
  run.sends = [];
  run.passed = undefined;
  run.errors = undefined;
  run.unrouted = [];
  shared.answers.clear();
  // Mutation point: edited-routes
  routeAs(run, [node], []);
  if (run.unrouted.length > 0) throw run.noRoute();
  await writer.save("updated", { status: "running", step, current: [options.as] });
  return writer.headId!;
}

/** @throws RunError NG_BAD_INPUT naming every value that does not fit */
function editState(run: Run, values: JsonObject, replaces: boolean): void {
  const { channels, channelIndex } = run.program;
  if (typeof values !== "object" || values === null || Array.isArray(values)) {
    throw new RunError("NG_BAD_INPUT", "the state is edited with a record of channels and values");
  }
  const problems: string[] = [];
  const edits: [number, Json, boolean][] = [];
  for (const [name, value] of Object.entries(values)) {
    const index = channelIndex.get(name);
    if (index === undefined) {
      const known = channels.map((channel) => `\`${channel.name}\``).join(", ");
      problems.push(`\`${name}\` is not a channel (the channels are: ${known})`);
      continue;
    }
    const channel = channels[index]!;
    const admitted = replaces ? channel.admit(value) : channel.admitUpdate(value);
    if (admitted instanceof Mismatch) {
      problems.push(`\`${name}\`: ${admitted.describe()}`);
      continue;
    }
    try {
      const next = replaces || channel.reduce === undefined ? admitted : channel.reduce(run.state[index]!, admitted);
      edits.push([index, next, !replaces && channel.spec.reducer?.kind === "append"]);
    } catch (cause) {
      const message = `the reducer of channel \`${name}\` failed: ${describeError(cause)}`;
      throw new RunError("NG_REDUCER_FAILED", message, { cause });
    }
  }
  if (problems.length > 0) {
    throw new RunError("NG_BAD_INPUT", `the values do not fit the state: ${run.shared.redact(problems.join("; "))}`);
  }
  for (const [index, value, appended] of edits) {
    run.writer!.touch(index, run.state[index]!, appended);
    run.state[index] = value;
  }
}
