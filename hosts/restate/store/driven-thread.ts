/**
 * The store calls of the invocation that drives a thread. Restate keeps the request of an invocation, so the claim of a new thread and
 * the checkpoint of its input need not be durable before the next write: they are held, and go to the object of the thread together
 * with it. A body waits until they are durable, so that an attempt that begins again never runs a body whose result is stored.
 */
import type { CheckpointId, ThreadId } from "../../../runtime/interface/checkpoint.ts";
import { ThreadError } from "../../../runtime/interface/thread-error.ts";
import type { Claim } from "../../../runtime/interface/store.ts";
import { newId } from "../../../runtime/checkpoint/ids.ts";
import type { CallThread } from "./restate-store.ts";
import type { Begun, WriteCall } from "./thread-state.ts";

/** Milliseconds that a held call waits for the next one. */
const HOLD_MS = 2;

export interface Lease {
  readonly leaseMs: number;
  readonly now: () => number;
}

export class DrivenThread {
  readonly invocation: string;
  readonly #thread: ThreadId;
  readonly #send: CallThread;
  readonly #owner = newId();
  /** Made with the first call of the invocation, for the first claim of the engine. */
  #claim: { readonly claim: Claim; readonly head: CheckpointId | null } | undefined;
  #held: WriteCall[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<unknown> | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** The thread that was taken for a new one is there. */
  isKnown = false;

  constructor(send: CallThread, thread: ThreadId, invocation: string) {
    this.#send = send;
    this.#thread = thread;
    this.invocation = invocation;
  }

  /** Claims the thread, and returns how far it is. Writes of earlier attempts that are still on their way fail. */
  async begin({ leaseMs, now }: Lease): Promise<Begun> {
    const owner = this.#owner;
    const call = { thread: this.#thread, invocation: this.invocation, owner, leaseMs, now: now() };
    const begun = await this.#send(this.#thread, "begin", call);
    const claim = Object.freeze({ threadId: this.#thread, owner, epoch: begun.epoch });
    this.#claim = { claim, head: begun.head };
    return begun;
  }

  /** Claims a thread that is new. The first write that is sent fails if it is not. */
  beginNew({ leaseMs, now }: Lease): void {
    const owner = this.#owner;
    const call = { thread: this.#thread, invocation: this.invocation, owner, leaseMs, now: now(), isNew: true };
    this.#claim = { claim: Object.freeze({ threadId: this.#thread, owner, epoch: FIRST_EPOCH }), head: null };
    this.#held.push({ method: "begin", input: call });
  }

  /** The claim that the invocation has made, once. */
  takeClaim(): { readonly claim: Claim; readonly head: CheckpointId | null } | undefined {
    const taken = this.#claim;
    this.#claim = undefined;
    return taken;
  }

  /** Whether this driver has made a claim. An earlier attempt may still be at work in the same process. */
  owns({ owner }: Claim): boolean {
    return owner === this.#owner;
  }

  /** Keeps a call for the next one. */
  hold(call: WriteCall): void {
    this.#held.push(call);
    // A failure is thrown by the next call.
    this.#timer ??= setTimeout(() => void this.flush()?.catch(() => undefined), HOLD_MS);
  }

  /** Sends a write, with those that are held. */
  async write(call: WriteCall): Promise<unknown> {
    if (this.#sending !== undefined) await this.#sending;
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#sendWith(call);
  }

  /** Returns a promise if calls are held, or on their way: they are durable when it resolves. */
  flush(): Promise<unknown> | undefined {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error as Error);
    if (this.#held.length === 0) return this.#sending;
    const before = this.#sending;
    const sending = (before === undefined ? this.#sendWith() : before.then(() => this.#sendWith())).finally(() => {
      if (this.#sending === sending) this.#sending = undefined;
    });
    this.#sending = sending;
    return sending;
  }

  /** Sends what is held, and gives up a claim that was not used. */
  async end(): Promise<void> {
    const unused = this.takeClaim();
    if (unused !== undefined && this.#held.length > 0) this.#held = [];
    else if (unused !== undefined) await this.#send(this.#thread, "release", { claim: unused.claim });
    await this.flush();
  }

  async #sendWith(last?: WriteCall): Promise<unknown> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const calls = last === undefined ? this.#held : [...this.#held, last];
    this.#held = [];
    if (calls.length === 0) return undefined;
    if (calls.length === 1 && last !== undefined) return this.#send(this.#thread, last.method, last.input as never);
    const isFirst = calls[0]!.method === "begin";
    try {
      return await this.#send(this.#thread, isFirst ? "create" : "batch", { calls });
    } catch (error) {
      // The engine takes the held calls for done.
      this.#failure = { error };
      if (isFirst && error instanceof ThreadError && error.code === "NG_THREAD_CONFLICT") this.isKnown = true;
      throw error;
    }
  }
}

/** Of the first claim of a thread. */
const FIRST_EPOCH = 1;
