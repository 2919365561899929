import type { PendingWrite } from "../interface/checkpoint.ts";

/** The number of writes from which they are found by several maps. */
const MANY = 4096;

/** A power of two. */
const PARTS = 64;

/**
 * Pending writes by task, in the order of their first writes. A `Map` that grows copies itself, which takes 10 ms for 65,000 entries. So
 * many writes are found by many small maps, of which one grows at a time.
 */
export class WritesByTask {
  /** A removed write leaves a hole. */
  #writes: (PendingWrite | undefined)[] = [];
  /** Task -> index in `#writes`. */
  #parts: Map<string, number>[] = [new Map()];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(taskId: string): boolean {
    return this.#partOf(taskId).has(taskId);
  }

  /** Adds a write, or replaces the one of its task. */
  set(write: PendingWrite): void {
    const { taskId } = write;
    const part = this.#partOf(taskId);
    const at = part.get(taskId);
    if (at !== undefined) {
      this.#writes[at] = write;
      return;
    }
    part.set(taskId, this.#writes.push(write) - 1);
    if (++this.#size === MANY && this.#parts.length === 1) this.#divide();
  }

  delete(taskId: string): void {
    const part = this.#partOf(taskId);
    const at = part.get(taskId);
    if (at === undefined) return;
    part.delete(taskId);
    this.#writes[at] = undefined;
    this.#size--;
  }

  clear(): void {
    if (this.#writes.length === 0) return;
    this.#writes = [];
    this.#parts = [new Map()];
    this.#size = 0;
  }

  values(): PendingWrite[] {
    return this.#writes.filter((write) => write !== undefined);
  }

  #partOf(taskId: string): Map<string, number> {
    return this.#parts.length === 1 ? this.#parts[0]! : this.#parts[hashOfEnd(taskId) & (PARTS - 1)]!;
  }

  #divide(): void {
    this.#parts = Array.from({ length: PARTS }, () => new Map<string, number>());
    for (const [at, write] of this.#writes.entries())
      if (write !== undefined) this.#partOf(write.taskId).set(write.taskId, at);
  }
}

/** Of the last characters: the number of an item is at the end of its id. */
function hashOfEnd(taskId: string): number {
  let hash = 0;
  for (let at = Math.max(0, taskId.length - 4); at < taskId.length; at++) hash = hash * 31 + taskId.charCodeAt(at);
  return hash;
}
