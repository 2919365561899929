/**
 * One invocation drives a thread: to its end, or to its next pause. The engine stores each step in the object of the thread, so the
 * journal of the invocation has a fixed size, whatever the length of the run. When the worker dies, Restate starts the invocation
 * again on another worker, which continues after the last stored step.
 */
import { firstDue, someContinue } from "../../runtime/checkpoint/waits.ts";
import type { ThreadId } from "../../runtime/interface/checkpoint.ts";
import type {
  Engine,
  ResumeOptions,
  RollbackOptions,
  RunOptions,
  RunResult,
} from "../../runtime/interface/engine-options.ts";
import { NgraphError, RunError } from "../../runtime/interface/errors.ts";
import type { RunEvent } from "../../runtime/interface/events.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Table } from "../../runtime/table/table.ts";
import type { JsonObject } from "../../runtime/value/json.ts";
import type { Begun } from "./store/thread-state.ts";
import { isUnavailable } from "./ingress.ts";
import type { Answer } from "./wire-error.ts";
import { storedResult, wireResult, type WireResult } from "./wire-result.ts";

export type DriveRequest = (
  | { readonly do: "run"; readonly input: JsonObject; readonly options: RunOptions; readonly isNew?: boolean }
  | { readonly do: "resume"; readonly options: ResumeOptions }
  | { readonly do: "rollback"; readonly options: RollbackOptions }
  /** A timer has ended, or a signal has come. */
  | { readonly do: "wake" }
) & {
  /** The digest of the client's table, if the run may only begin under the same version. */
  readonly digest?: string;
};

/** How far a thread was when the invocation began, and how far it is. */
export type Progress = Pick<Begun, "before" | "head" | "tag">;

export interface Driver {
  readonly engine: Engine;
  readonly store: Store;
  readonly thread: ThreadId;
  readonly invocation: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly onEvent: ((event: RunEvent) => void) | undefined;
}

/** The end of an invocation. */
export interface Driven {
  /** Absent for a wake that had nothing to do. */
  readonly answer?: Answer<WireResult>;
  /** When the thread continues by itself, in milliseconds since 1970. */
  readonly due?: number;
}

/** The attempt ends, and another one continues: the worker shuts down, or has lost its claim. */
export class Interrupted extends Error {}

/** @throws Interrupted, or an error of Restate: the invocation starts again */
export async function driveThread(driver: Driver, request: DriveRequest): Promise<Driven> {
  let result: RunResult | undefined;
  try {
    const { before, head, tag } = driver.progress;
    const hasBegun = head !== before && tag === driver.invocation;
    result = hasBegun ? await continueThread(driver, request) : await beginRequest(driver, request);
  } catch (error) {
    if (!(error instanceof NgraphError) || isUnavailable(error)) throw error;
    // A claim of an attempt that has died may arrive late, and replace the one of this attempt.
    if (error.code === "NG_DRAINED" || error.code === "NG_THREAD_CONFLICT") throw new Interrupted(error.message);
    return { answer: { error: error.toJSON() } };
  }
  if (result === undefined) return nextDue(driver);
  // Only a worker that shuts down cancels a run whose signal is not aborted.
  const isOwnEnd = result.status === "cancelled" && !driver.signal.aborted;
  if (isOwnEnd || result.error?.code === "NG_DRAINED") throw new Interrupted("the worker shuts down");
  const due = result.status === "paused" ? firstDue(result.pauses) : undefined;
  return { answer: { value: wireResult(result) }, ...(due === undefined ? {} : { due }) };
}

async function beginRequest(driver: Driver, request: DriveRequest): Promise<RunResult | undefined> {
  const { engine, thread, signal, onEvent } = driver;
  const watched = { signal, ...(onEvent === undefined ? {} : { onEvent }) };
  if (request.digest !== undefined && request.digest !== engine.table.digest)
    throw otherVersion(engine.table, request.digest);
  switch (request.do) {
    case "run":
      return engine.run(request.input, { ...request.options, ...watched, thread });
    case "resume":
      // An earlier attempt has stored the answers: a bare answer would look for another pause.
      if (hasStoredAnswers(driver, request.options))
        return engine.resume(thread, { ...withoutPlace(request.options), ...watched, answers: {} });
      return engine.resume(thread, { ...request.options, ...watched });
    case "rollback":
      return engine.rollback(thread, { ...request.options, ...watched });
    case "wake": {
      const { results, failures, conflicts } = await engine.due(undefined, { threads: [thread], signal });
      if (failures[0] !== undefined) throw failures[0].error;
      if (conflicts > 0 && (await isDue(driver))) throw new Interrupted("another caller holds the thread");
      return results[0];
    }
  }
}

/** Continues what an earlier attempt of this invocation has begun: after its last stored step, or with its stored end. */
async function continueThread(
  { engine, store, thread, signal, onEvent }: Driver,
  request: DriveRequest,
): Promise<RunResult> {
  const watched = { signal, ...(onEvent === undefined ? {} : { onEvent }) };
  const head = (await store.loadLatest(thread))!;
  // A fork, or an edit of the configuration, which the request begins with: its answers are not stored yet.
  if (request.do === "resume" && head.phase === "updated")
    return engine.resume(thread, { ...request.options, ...watched });
  if (head.rollsBack === true && head.status !== "rolled_back") return engine.rollback(thread, watched);
  // A cancelled run that no caller has cancelled was on a worker that has shut down.
  const isCancelled = head.status === "cancelled" && signal.aborted;
  if (head.status === "failed" || head.status === "limit" || isCancelled) {
    return storedResult(engine.table, head, (await engine.state(thread))!.state);
  }
  const limits = withoutPlace(optionsOf(request));
  // An empty record of answers opens no gate.
  return engine.resume(thread, { ...limits, ...watched, answers: {} });
}

function hasStoredAnswers(
  { progress: { before, head, tag }, invocation }: Driver,
  { answer, answers, from, at, config }: ResumeOptions,
): boolean {
  const isPlain = from === undefined && at === undefined && config === undefined;
  return isPlain && (answer ?? answers) !== undefined && head === before && tag === invocation;
}

/** The options without those that say where and with which values the thread continues. */
function withoutPlace(options: ResumeOptions): ResumeOptions {
  const { from: _from, at: _at, answers: _answers, answer: _answer, config: _config, ...limits } = options;
  return limits;
}

function optionsOf(request: DriveRequest): ResumeOptions {
  if (request.do === "resume") return request.options;
  if (request.do !== "run") return {};
  const { thread: _thread, abandon: _abandon, ...options } = request.options;
  return options;
}

/** Whether the thread can continue without an answer. */
async function isDue({ store, thread }: Driver): Promise<boolean> {
  const head = await store.loadLatest(thread);
  if (head?.status !== "paused") return false;
  return someContinue(head.pauses, Date.now(), async () => (await store.getSignals?.(thread)) ?? []);
}

/** A thread that was woken too early is woken again. */
async function nextDue({ store, thread }: Driver): Promise<Driven> {
  const head = await store.loadLatest(thread);
  return head?.status === "paused" && head.due !== undefined ? { due: Math.max(head.due, Date.now() + 500) } : {};
}

function otherVersion({ name, digest }: Table, given: string): RunError {
  const message =
    `the deployed version of graph \`${name}\` is ${shortDigest(digest)}, and this one is ${shortDigest(given)}: ` +
    "deploy this version (`ngc deploy`), or use the deployed one";
  return new RunError("NG_OTHER_VERSION", message);
}

/** Enough of a digest to tell two versions apart. */
function shortDigest(digest: string): string {
  return digest.replace(/^.*:/, "").slice(0, 12);
}
