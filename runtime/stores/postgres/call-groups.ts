/** The result of one call of a group. */
export type Outcome<Result> = { readonly value: Result } | { readonly error: unknown };

/** Groups under way at a time. While one waits for the disk, the other is built and sent. */
const MAX_UNDER_WAY = 2;

/** Maximum calls of a group, and maximum characters that they write together unless one call alone writes more. */
const MAX_CALLS = 200;
const MAX_SIZE = 4_000_000;

interface Waiting<Call, Result> {
  readonly call: Call;
  readonly size: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: calls of this process that are made in one turn of the event loop, or while other groups are under way, share one
 * transaction. A call settles after the commit of its group, so it is as durable as alone. A call without others waits for nothing.
 */
export class CallGroups<Call, Result> {
  readonly #commit: (calls: readonly Call[]) => Promise<readonly Outcome<Result>[]>;
  #waiting: Waiting<Call, Result>[] = [];
  #underWay = 0;
  #isStarting = false;
  /** The last group had several calls, so another call of this turn is likely. */
  #isBusy = false;

  /** @param commit resolves with one outcome for each call, in order, after the commit; if it rejects, all calls reject */
  constructor(commit: (calls: readonly Call[]) => Promise<readonly Outcome<Result>[]>) {
    this.#commit = commit;
  }

  /** @param size characters that the call writes */
  run(call: Call, size: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, size, resolve, reject });
      this.#startLater();
    });
  }

  #startLater(): void {
    if (this.#isStarting || this.#waiting.length === 0 || this.#underWay >= MAX_UNDER_WAY) return;
    this.#isStarting = true;
    const start = (): void => {
      this.#isStarting = false;
      void this.#start();
    };
    if (this.#underWay === 0 && !this.#isBusy) queueMicrotask(start);
    else setImmediate(start);
  }

  async #start(): Promise<void> {
    const group = this.#takeGroup();
    this.#isBusy = group.length > 1;
    this.#underWay++;
    this.#startLater();
    try {
      const outcomes = await this.#commit(group.map(({ call }) => call));
      for (const [index, { resolve, reject }] of group.entries()) {
        const outcome = outcomes[index]!;
        if ("error" in outcome) reject(outcome.error);
        else resolve(outcome.value);
      }
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    this.#underWay--;
    this.#startLater();
  }

  #takeGroup(): Waiting<Call, Result>[] {
    let count = 0;
    for (let size = 0; count < this.#waiting.length && count < MAX_CALLS; count++) {
      size += this.#waiting[count]!.size;
      if (count > 0 && size > MAX_SIZE) break;
    }
    return this.#waiting.splice(0, count);
  }
}
