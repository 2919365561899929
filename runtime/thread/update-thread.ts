import { taskOfSegment } from "../program/tool-segment.ts";
import type { Checkpoint, PauseItem, PendingWrite } from "../interface/checkpoint.ts";
import type { UpdateOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { Json, JsonObject } from "../value/json.ts";
import { readRecord } from "../value/read-record.ts";
import { Mismatch } from "../value/validate.ts";
import type { Cancellation } from "../run/cancellation.ts";
import { refuseDrift, withoutNext } from "../checkpoint/drift.ts";
import { underPresentNames } from "../checkpoint/former-names.ts";
import { planStart } from "../routing/plan-step.ts";
import { routeAs } from "../run/replan.ts";
import { NO_LIMITS } from "../run/limits.ts";
import { isInStep, isResult, restoreRun, withAnswers } from "../checkpoint/restore-run.ts";
import { describeError } from "../event/run-events.ts";
import { unfinishedNodes } from "../run/run-end.ts";
import { applyConfig, changeConfig } from "../run/run-config.ts";
import { createShared, type EngineCore } from "../run/run-settings.ts";
import { Run } from "../run/run.ts";
import { newId } from "../checkpoint/ids.ts";
import { setUndos } from "../checkpoint/undo-log.ts";
import { undosOfThread } from "./thread-undos.ts";
import type { Durable, StoredOutcome, StoredUpdate } from "../run/shared.ts";
import { loadHead, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { takeAnswers } from "./answers.ts";
import { editItems, forgetBegunItems } from "../step/item-numbers.ts";
import { endTurnAfter, inTurns } from "../run/cut-work.ts";
import { reduceInParts, reducesInParts } from "../step/apply-updates.ts";
import type { ChannelCode } from "../program/channel-code.ts";
import type { Work } from "../value/work.ts";
import { forgetEnd, nodeNamed } from "./fork-thread.ts";

/**
 * Edits the state of a thread (5.9) with a checkpoint of phase `updated`. Without `as` it changes values only. With
 * `as` it also routes as if that node had written the values, which replaces the next nodes. In an unfinished step
 * with other tasks, the values become the result of that node, and the results of the other tasks stay. Returns the
 * id of the checkpoint.
 */
export async function updateThread(
  core: EngineCore,
  durable: Durable,
  cancellation: Cancellation,
  values: JsonObject,
  options: UpdateOptions,
): Promise<string> {
  const { store, threadId } = durable;
  const { program } = core;
  const latest = await loadHead(store, threadId);
  const found = await loadWrites(store, threadId, latest.id);
  const known = underPresentNames(program, latest, found);
  const answered = withAnswers(known.head, known.writes);
  const ownTasks = options.as === undefined ? [] : tasksToFinish(answered, known.writes, options.as);
  const finishesTask = ownTasks.length > 0;
  // The new route replaces the next nodes, with their tasks, results and pauses: these need not fit the graph.
  const isRouted = options.as !== undefined && !finishesTask;
  const { head, writes } = isRouted
    ? await refuseDrift(program, store, withoutNext(program, answered), [], { known: known.problems })
    : await refuseDrift(program, store, answered, known.writes, { known: known.problems });
  const { answers } = await takeAnswers(store, head, writes, {});
  const shared = createShared(
    core,
    {},
    {
      threadId,
      // The replaced nodes may be next again in the same step. With a new run id, their tasks and pauses have other ids
      // (5.5, 6.2).
      // Mutation point: edited-run-id
      runId: options.as === undefined || finishesTask ? head.runId : newId(),
      durable,
      ttl: head.ttl,
      answers,
      metadata: { ...head.metadata, ...options.metadata },
    },
  );
  const run = new Run(program, shared, { cancellation, limits: NO_LIMITS });
  // Mutation point: edited-results
  restoreRun(run, head, writes, known.moved);
  changeConfig(run, options.config);
  if (options.as === undefined) keepFinallyValues(run);
  // The new route drops results: what their tasks have done is still to be undone.
  if (options.as !== undefined) setUndos(run, await undosOfThread(core, durable, latest));
  const edits = await inTurns(run.shared, admittingEdits(run, values, options));
  if (options.as === undefined) await editItems(run, head, () => applyEdits(run, edits));
  else if (!finishesTask || options.replace === true) applyEdits(run, edits);
  const writer = run.writer!;
  const step = run.step - 1;
  if (finishesTask) {
    const updates =
      options.replace === true
        ? []
        : edits.map(({ name, update, isSet }): StoredUpdate => (isSet ? [name, update, "set"] : [name, update]));
    const pauses = finishTasks(run, head, ownTasks, updates);
    const status = pauses.length > 0 ? "paused" : "running";
    const unfinished = { next: unfinishedNodes(run), children: run.children };
    await writer.save("updated", { status, step, current: head.currentNodes, pauses, unfinished });
    return writer.headId!;
  }
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
  forgetEnd(run);
  run.sends = [];
  run.passed = undefined;
  run.errors = undefined;
  run.unrouted = [];
  shared.answers.clear();
  if (options.as === "end") {
    run.ready = [];
    program.table.barriers.forEach((_, barrier) => run.barriers.clear(barrier));
    await writer.save("updated", { status: "completed", step, current: head.currentNodes });
    return writer.headId!;
  }
  follow(run, options.as);
  await writer.save("updated", { status: "running", step, current: options.as === "start" ? [] : [options.as] });
  return writer.headId!;
}

/**
 * Creates a thread whose run begins with values of the caller: a resume starts with the nodes that follow `start` or another node.
 * Returns the id of the first checkpoint.
 */
export async function createThread(
  core: EngineCore,
  durable: Durable,
  cancellation: Cancellation,
  values: JsonObject,
  options: UpdateOptions,
): Promise<string> {
  const { program } = core;
  const details = { threadId: durable.threadId, durable, metadata: options.metadata ?? {} };
  const run = new Run(program, createShared(core, {}, details), { cancellation, limits: NO_LIMITS });
  applyConfig(run, options.config);
  const edits = await inTurns(run.shared, admittingEdits(run, values, options));
  const missing = program.required.filter(({ name }) => !edits.some((edit) => edit.name === name));
  if (missing.length > 0) {
    const names = missing.map(({ name }) => `\`${name}\``).join(", ");
    throw new RunError("NG_BAD_INPUT", `a new thread of graph \`${program.table.name}\` needs its inputs: ${names}`);
  }
  applyEdits(run, edits);
  follow(run, options.as!);
  const writer = run.writer!;
  await writer.save("updated", { status: "running", step: -1, current: options.as === "start" ? [] : [options.as!] });
  return writer.headId!;
}

/** Replaces the next nodes by those that follow a node, or `start`. @throws NodeError NG_NO_ROUTE */
function follow(run: Run, name: string): void {
  const { routing } = run.program;
  if (name === "start") {
    const plan = planStart(routing, run.scope, undefined);
    run.ready = plan.ready;
    run.unrouted = plan.unrouted.map(({ cause }) => ({ node: -1, cause }));
  } else {
    const node = nodeNamed(run, name, "write as");
    // Mutation point: edited-routes
    routeAs(run, [node], []);
  }
  if (run.unrouted.length > 0) throw run.noRoute();
}

/**
 * The tasks that an edit `as` a node finishes: the node's tasks in an open step with other tasks. A node to which items
 * were sent has a task for each item. The tasks of these items that have a result keep it, as long as one has none.
 */
function tasksToFinish(head: Checkpoint, writes: readonly PendingWrite[], node: string): readonly string[] {
  const results = [...(head.finished ?? []), ...writes].filter(isResult);
  if (!isInStep(head) && results.length === 0) return [];
  const sent = head.pendingSends.map(({ taskId }) => taskId);
  const done = new Set(results.map(({ taskId }) => taskId));
  const tasks = new Set([...head.nextNodes, ...sent]);
  for (const { node: name, taskId } of results) tasks.add(taskId.startsWith(`${name}[`) ? name : taskId);
  const sentHere = new Set(head.pendingSends.filter((send) => send.node === node).map(({ taskId }) => taskId));
  const own = [...tasks].filter((task) => task === node || sentHere.has(task));
  if (tasks.size === 1) return [];
  const open = own.filter((task) => !done.has(task));
  return open.length === 0 ? own : open;
}

/**
 * Stores the updates as the result of the first task, and results without updates for the others, in place of their own
 * results and pauses. Returns the pauses of the other tasks of the step.
 */
function finishTasks(
  run: Run,
  head: Checkpoint,
  tasks: readonly string[],
  updates: StoredOutcome["updates"],
): readonly PauseItem[] {
  const isOwn = (id: string | undefined): boolean => tasks.some((task) => id === task || id?.startsWith(`${task}[`));
  const { results } = run.writer!;
  // Mutation point: results-beside
  for (const { taskId } of results.values()) if (isOwn(taskId)) results.delete(taskId);
  forgetBegunItems(run, isOwn);
  const sent = new Map(head.pendingSends.map(({ taskId, node }) => [taskId, node]));
  tasks.forEach((taskId, at) => {
    const result: StoredOutcome = { edited: true, updates: at === 0 ? updates : [] };
    results.set(taskId, { taskId, node: sent.get(taskId) ?? taskId, result: result as unknown as Json });
  });
  const children = Object.entries(head.children ?? {}).filter(
    ([namespace]) => !isOwn(taskOfSegment(namespace.split("/", 1)[0] ?? "")),
  );
  run.children = Object.fromEntries(children);
  return head.pauses.filter(({ taskId, namespace, node }) => !isOwn(taskOfSegment(namespace[0] ?? taskId ?? node)));
}

export interface Edit {
  readonly channel: number;
  readonly name: string;
  /** The value that is written to the channel: an update, or the whole value in place of the old one. */
  readonly update: Json;
  readonly next: Json;
  readonly isSet: boolean;
  readonly appended: boolean;
}

/**
 * Admits and reduces the values in parts. The values that the thread was read with, the copies of the new ones and what is made of them
 * have a turn each, if they are long.
 *
 * @throws RunError NG_BAD_INPUT naming every value that does not fit
 */
export function* admittingEdits(run: Run, values: JsonObject, options: UpdateOptions): Work<readonly Edit[]> {
  if (endsTurn(run, run.state)) yield;
  const admitted = admitValues(run, values, options);
  if (endsTurn(run, admitted.map(({ update }) => update))) yield; // prettier-ignore
  const edits: Edit[] = [];
  for (const { channel: code, update, isSet, replaces } of admitted) {
    const { index: channel, name, spec } = code;
    const current = run.state[channel]!;
    try {
      const next =
        replaces || code.reduce === undefined
          ? update
          : reducesInParts(code, current, update)
            ? yield* reduceInParts(run, code, current, update)
            : code.reduce(current, update);
      edits.push({ channel, name, update, next, isSet, appended: !replaces && spec.reducer?.kind === "append" });
    } catch (cause) {
      const message = `the reducer of channel \`${name}\` failed: ${describeError(cause, run.shared.redact)}`;
      throw new RunError("NG_REDUCER_FAILED", message, { cause });
    }
  }
  if (endsTurn(run, edits.map(({ next }) => next))) yield; // prettier-ignore
  return edits;
}

function endsTurn({ shared }: Run, values: readonly Json[]): boolean {
  return values.some((value) => endTurnAfter(shared, value));
}

interface AdmittedValue {
  readonly channel: ChannelCode;
  readonly update: Json;
  readonly isSet: boolean;
  readonly replaces: boolean;
}

function admitValues(run: Run, given: JsonObject, { replace, set = [] }: UpdateOptions): readonly AdmittedValue[] {
  const { channels, channelIndex } = run.program;
  const values = readRecord(given);
  if (values instanceof Mismatch) {
    const message = `the state is edited with a record of channels and values: ${values.describe()}`;
    throw new RunError("NG_BAD_INPUT", message);
  }
  const problems: string[] = [];
  const found: AdmittedValue[] = [];
  for (const name of set) {
    if (!Object.hasOwn(values, name)) problems.push(`\`${name}\` is named in \`set\`, but has no value`);
  }
  for (const [name, value] of Object.entries(values)) {
    const isSet = set.includes(name);
    const replaces = replace === true || isSet;
    const index = channelIndex.get(name);
    if (index === undefined) {
      const known = channels.map((channel) => `\`${channel.name}\``).join(", ");
      problems.push(`\`${name}\` is not a channel (the channels are: ${known})`);
      continue;
    }
    const channel = channels[index]!;
    if (channel.spec.role === "config") {
      problems.push(`\`${name}\` is configuration: change it with \`config\``);
      continue;
    }
    const update = replaces ? channel.admit(value) : channel.admitUpdate(value);
    if (update instanceof Mismatch) problems.push(`\`${name}\`: ${update.describe()}`);
    else found.push({ channel, update, isSet, replaces });
  }
  if (problems.length > 0) {
    throw new RunError("NG_BAD_INPUT", `the values do not fit the state: ${run.shared.redact(problems.join("; "))}`);
  }
  return found;
}

export function applyEdits(run: Run, edits: readonly Edit[]): void {
  for (const { channel, next, appended } of edits) {
    run.writer!.touch(channel, run.state[channel]!, appended);
    run.state[channel] = next;
  }
}

/** An edit of a completed run is based on what the run shows, with the values that its `finally` part has written. */
function keepFinallyValues(run: Run): void {
  if (run.finallyEnd === undefined) return;
  const { values } = run.finallyEnd;
  for (const { name, index } of run.program.channels) {
    if (!Object.hasOwn(values, name)) continue;
    run.writer!.touch(index, run.state[index]!, false);
    run.state[index] = values[name]!;
  }
  run.finallyEnd = { ...run.finallyEnd, values: {} };
}
