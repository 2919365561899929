import type { CheckpointId, PendingWrite, Signal } from "../../runtime/interface/checkpoint.ts";
import type { Claim, ListOptions, Runner, SaveRequest, Store } from "../../runtime/interface/store.ts";

/** A store whose process dies at a chosen write: before the write, or after it and before the call returns. */
export class CrashingStore implements Store {
  readonly #store: Store;
  /** Writes that still succeed. */
  #left: number;
  readonly #when: "before" | "after";
  dead = false;
  /** The writes, in order. */
  readonly log: string[] = [];

  constructor(store: Store, left: number, when: "before" | "after" = "before") {
    this.#store = store;
    this.#left = left;
    this.#when = when;
  }

  claim(threadId: string, runner: Runner) {
    this.#alive();
    return this.#store.claim(threadId, runner);
  }
  renew(claim: Claim, leaseMs: number) {
    this.#alive();
    return this.#store.renew(claim, leaseMs);
  }
  release(claim: Claim) {
    this.#alive();
    return this.#store.release(claim);
  }
  save(claim: Claim, request: SaveRequest) {
    return this.#write(`save ${request.header.phase} ${request.header.step}`, () => this.#store.save(claim, request));
  }
  loadLatest(threadId: string, namespace?: string) {
    this.#alive();
    return this.#store.loadLatest(threadId, namespace);
  }
  loadById(threadId: string, id: CheckpointId) {
    this.#alive();
    return this.#store.loadById(threadId, id);
  }
  list(threadId: string, options?: ListOptions) {
    this.#alive();
    return this.#store.list(threadId, options);
  }
  deleteThread(threadId: string) {
    this.#alive();
    return this.#store.deleteThread(threadId);
  }
  putWrites(
    claim: Claim,
    checkpointId: CheckpointId,
    writes: readonly PendingWrite[],
    takenSignals?: readonly string[],
  ) {
    return this.#write(`put ${writes.map((write) => write.taskId).join(", ")}`, () =>
      this.#store.putWrites!(claim, checkpointId, writes, takenSignals),
    );
  }
  getWrites(threadId: string, checkpointId: CheckpointId) {
    this.#alive();
    return this.#store.getWrites!(threadId, checkpointId);
  }
  putSignal(threadId: string, signal: Signal) {
    return this.#write(`signal ${signal.name}`, () => this.#store.putSignal!(threadId, signal));
  }
  getSignals(threadId: string) {
    this.#alive();
    return this.#store.getSignals!(threadId);
  }
  clearWrites(claim: Claim, checkpointId: CheckpointId, taskIds?: readonly string[]) {
    return this.#write("clear", () => this.#store.clearWrites!(claim, checkpointId, taskIds));
  }

  #write<T>(what: string, write: () => T): T {
    this.#alive();
    if (this.#left-- > 0) {
      this.log.push(what);
      return write();
    }
    this.dead = true;
    const die = (): never => {
      throw new Error("the process has died");
    };
    if (this.#when === "before") return die();
    this.log.push(what);
    const written: unknown = write();
    return written instanceof Promise ? (written.then(die) as T) : die();
  }

  #alive(): void {
    if (this.dead) throw new Error("the process is dead");
  }
}
