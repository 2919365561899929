/** A process that executes the step of a list. */
import type { CrashingStore } from "../support/crashing-store.ts";
import { nameOf, type ItemEnd, type ItemName, type ListRun } from "./list-run.ts";
import type { Numbered } from "./numbered-items.ts";

/** A body that has begun and not ended. */
export interface Body {
  readonly of: Numbered | "side";
  readonly end: () => void;
}

/** A process. */
export class Life {
  readonly store: CrashingStore;
  /** The items at its start, and those that it executes. */
  readonly items: readonly Numbered[];
  readonly expected: readonly Numbered[];
  /** Items whose number does not follow from the list. */
  readonly displaced: readonly Numbered[];
  readonly bodies: Body[] = [];
  readonly started = new Set<ItemName>();
  readonly ends = new Map<ItemName, ItemEnd>();
  isDead = false;
  /** A person has cancelled its run, or its engine was drained. */
  isStopped = false;
  sideEnd: "done" | "failed" | undefined;
  /** Items whose nodes have not begun. */
  readonly #waits: Record<"item" | "first" | "second", Numbered[]> = { item: [], first: [], second: [] };

  constructor(store: CrashingStore, run: ListRun) {
    this.store = store;
    this.items = run.items();
    this.displaced = run.displaced();
    this.expected = run.open().filter((item) => {
      const call = run.callOf(item);
      // The called graph has ended, or waits: none of its nodes runs.
      if (call?.y !== undefined) this.ends.set(nameOf(item), { value: call.y });
      const isAsking = call?.asks === true && !run.answers.has(nameOf(item));
      if (isAsking) this.ends.set(nameOf(item), "asks");
      return call?.y === undefined && !isAsking;
    });
    for (const item of this.expected) {
      if (run.version.body === "function") this.#waits.item.push(item);
      else if (run.callOf(item)?.mid === undefined) this.#waits.first.push(item);
      else this.#waits.second.push(item);
    }
  }

  /** The item of a body that begins. */
  take(node: "item" | "first" | "second", x: string, hasKey: (item: Numbered) => boolean): Numbered | undefined {
    const waits = this.#waits[node];
    const found = waits.find((item) => item.item === x && hasKey(item));
    this.#waits[node] = waits.filter((item) => item !== found);
    if (found !== undefined) this.started.add(nameOf(found));
    return found;
  }

  /** The first node of a called graph has ended. */
  continues(item: Numbered): void {
    this.#waits.second.push(item);
  }
}
