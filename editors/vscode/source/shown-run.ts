/** What a picture shows of a run. */

import type { Question, WatchedNode, WatchedRun } from "../../../editor/previews.ts";

/** A run as the page shows it. */
export interface ShownRun {
  readonly text: string;
  readonly nodes: readonly WatchedNode[];
  /** Whether the run waits for an answer. */
  readonly asks: boolean;
}

export const NO_RUN: ShownRun = { text: "", nodes: [], asks: false };

/**
 * Which run a picture shows: one that goes on or waits, and one that has ended since the picture was opened or the text was changed.
 * Older runs may be of another text.
 */
export class RunOnPicture {
  #newest: WatchedRun | undefined;
  /** The run that had ended before. `undefined`: nothing is known yet. */
  #old: string | null | undefined;
  #tested: readonly string[] = [];

  /** The newest run that is stored. Returns whether something has changed. */
  update(run: WatchedRun | null): boolean {
    const isFirst = this.#old === undefined;
    if (isFirst) this.#old = run?.isOver === true ? run.id : null;
    const before = JSON.stringify(this.shown);
    this.#newest = run ?? undefined;
    if (run !== null && run.id !== this.#old) this.#tested = [];
    return JSON.stringify(this.shown) !== before;
  }

  /** The nodes that a test has run. */
  test(nodes: readonly string[]): void {
    this.#tested = nodes;
    this.#forget();
  }

  /** The text has changed: what has ended was a run of another one. */
  change(): void {
    this.#tested = [];
    this.#forget();
  }

  #forget(): void {
    if (this.#newest?.isOver === true) this.#old = this.#newest.id;
  }

  get run(): WatchedRun | undefined {
    return this.#newest === undefined || this.#newest.id === this.#old ? undefined : this.#newest;
  }

  get shown(): ShownRun {
    const { run } = this;
    if (this.#tested.length > 0) {
      return { text: "test", nodes: this.#tested.map((name) => ({ name, state: "done", count: 0 })), asks: false };
    }
    if (run === undefined) return NO_RUN;
    const of = run.thread === null ? "run" : `thread ${run.thread}`;
    return { text: `${of}: ${run.text}`, nodes: run.nodes, asks: run.questions.length > 0 && run.thread !== null };
  }
}

/** The arguments of `ngc` that answer a question. */
export function answerArguments(thread: string, question: Question, answer: string): readonly string[] {
  return ["resume", `--answer=${question.id}=${answer}`, "--", thread];
}
