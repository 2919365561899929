/** The invocation of a thread's object: its attempts, its cancellation, and the claim of the thread. */
import type * as Sdk from "@restatedev/restate-sdk";
import { DEFAULT_LEASE_MS } from "../../runtime/thread/thread-access.ts";
import { untilCancelled } from "./cancellation.ts";
import type { Driving } from "./dispatch.ts";
import { driveThread, Interrupted, type Driven, type DriveRequest, type Progress } from "./drive-thread.ts";
import { EventSender } from "./event-sender.ts";
import { DrivenThread, type Lease } from "./store/driven-thread.ts";
import { callThroughIngress } from "./store/ingress-thread.ts";
import type { Answer } from "./wire-error.ts";
import type { WireResult } from "./wire-result.ts";
import type { WorkerGraph } from "./worker-graph.ts";

/** What the client of a run wants besides its result. */
export interface Watched {
  /** Names the stream that receives the events. */
  readonly stream?: string;
}

export async function driveInvocation(
  sdk: typeof Sdk,
  graph: WorkerGraph,
  ctx: Sdk.ObjectContext,
  request: DriveRequest & Watched,
): Promise<Answer<WireResult | null>> {
  const { id, attemptCompletedSignal: gone } = ctx.request();
  const aborts = new AbortController();
  const attempt: Attempt = { thread: ctx.key, invocation: id, aborts, driving: undefined };
  const onGone = (): void => {
    if (attempt.driving !== undefined) attempt.driving.isLeaving = true;
    aborts.abort(new Error("another worker has taken over the run"));
  };
  gone.addEventListener("abort", onGone, { once: true });
  ctx.set("running", id);
  if (request.stream !== undefined) ctx.set("stream", request.stream);
  const driving = driveAttempt(graph, attempt, request).catch((error: unknown) => fail(sdk, error));
  const driven = await untilCancelled(sdk, ctx, driving, 0, () => aborts.abort(new Error("the run was cancelled")));
  gone.removeEventListener("abort", onGone);
  // What follows must be the same in each attempt that comes so far.
  ctx.clear("running");
  return driven.answer ?? { value: null };
}

/** One attempt of Restate to execute an invocation. */
interface Attempt {
  readonly thread: string;
  readonly invocation: string;
  readonly aborts: AbortController;
  driving: Driving | undefined;
}

async function driveAttempt(graph: WorkerGraph, attempt: Attempt, request: DriveRequest & Watched): Promise<Driven> {
  const { ingress, names } = graph;
  const sender = request.stream === undefined ? undefined : new EventSender(ingress, names, request.stream);
  try {
    const isNew = request.do === "run" && request.isNew === true;
    const driven = isNew ? await driveNew(graph, attempt, request, sender) : undefined;
    return driven ?? (await driveKnown(graph, attempt, request, sender));
  } finally {
    await sender?.flush();
  }
}

/** Drives a thread that a client takes for new. Returns `undefined` if it is there: nothing was stored, and no body has run. */
async function driveNew(
  graph: WorkerGraph,
  attempt: Attempt,
  request: DriveRequest,
  sender: EventSender | undefined,
): Promise<Driven | undefined> {
  const calls = new DrivenThread(callThroughIngress(graph.ingress, graph.names), attempt.thread, attempt.invocation);
  calls.beginNew(leaseOf(graph));
  try {
    return await driveWith(graph, attempt, request, sender, calls, NO_PROGRESS);
  } catch (error) {
    if (calls.isKnown) return undefined;
    throw error;
  }
}

async function driveKnown(
  graph: WorkerGraph,
  attempt: Attempt,
  request: DriveRequest,
  sender: EventSender | undefined,
): Promise<Driven> {
  const calls = new DrivenThread(callThroughIngress(graph.ingress, graph.names), attempt.thread, attempt.invocation);
  const progress = await calls.begin(leaseOf(graph));
  // After an earlier attempt. A cancellation that has come before is known by then.
  if (progress.tag === attempt.invocation) await new Promise((resolve) => setTimeout(resolve, KNOWN_AFTER));
  return driveWith(graph, attempt, request, sender, calls, progress);
}

async function driveWith(
  graph: WorkerGraph,
  attempt: Attempt,
  request: DriveRequest,
  sender: EventSender | undefined,
  calls: DrivenThread,
  progress: Progress,
): Promise<Driven> {
  const { engine, store, drivers, ingress, names } = graph;
  const { thread, invocation, aborts } = attempt;
  const driving: Driving = { calls, isLeaving: false };
  attempt.driving = driving;
  drivers.set(thread, driving);
  try {
    const own = { engine, store, thread, invocation, progress, signal: aborts.signal, onEvent: sender?.onEvent };
    const driven = await driveThread(own, request);
    await calls.end();
    // Several wakes of a thread are as one: each of them looks at what is due.
    if (driven.due !== undefined) {
      const delay = Math.max(0, Math.ceil(driven.due - Date.now()));
      await ingress.send([names.runs, thread, "wake"], {}, { delay, repeat: true });
    }
    return driven;
  } finally {
    if (drivers.get(thread) === driving) drivers.delete(thread);
  }
}

function leaseOf({ options }: WorkerGraph): Lease {
  return { leaseMs: options.leaseMs ?? DEFAULT_LEASE_MS, now: Date.now };
}

/** Milliseconds until the cancellations of a journal have reached its handler. */
const KNOWN_AFTER = 50;

const NO_PROGRESS: Progress = { before: null, head: null, tag: null };

/** A mistake in code is final. Everything else happens again until it succeeds. */
function fail(sdk: typeof Sdk, error: unknown): never {
  const isTemporary = error instanceof Interrupted || (error instanceof Error && "code" in error);
  if (isTemporary) throw error;
  const message = `the worker has failed: ${error instanceof Error ? error.message : String(error)}`;
  throw new sdk.TerminalError(message, { errorCode: 422 });
}
