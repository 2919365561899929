/** The reference interpreter of a `for` node whose list is edited while its items are in progress. It shares no code with the engine. */
import { numberItems, type Numbered } from "./numbered-items.ts";

/** The user's file. */
export interface ListVersion {
  /** What runs for each item: a function, or a graph of two nodes. */
  readonly body: "function" | "graph";
  /** Where the list is: a channel, the expression itself, or the result of a function. */
  readonly source: "channel" | "expression" | "function";
  readonly expression: readonly string[];
  /** An item that the condition of the `for` leaves out. */
  readonly leavesOut: string | undefined;
  readonly parallel: number | undefined;
  /** Another node in the same step. */
  readonly hasSide: boolean;
}

/** What is durable about the called graph of an item. */
export interface Call {
  readonly item: string;
  /** The result of its first node. */
  readonly mid: string | undefined;
  readonly asks: boolean;
  /** Its result. */
  readonly y: string | undefined;
}

/** How an item ended in a process. */
export type ItemEnd = { readonly value: string } | "failed" | "asks";

/** `3:a` */
export type ItemName = string;

export function nameOf({ number, item }: Numbered): ItemName {
  return `${number}:${item}`;
}

/** What is durable about the step of the list. */
export class ListRun {
  version: ListVersion;
  /** The channel with the list, and the list of the function. */
  xs: readonly string[];
  made: readonly string[];
  status: "running" | "paused" | "failed" | "cancelled" | "completed" = "running";
  /** Number -> the stored result. */
  results = new Map<number, { readonly item: string; readonly value: string }>();
  /** Questions that wait. */
  asked = new Set<ItemName>();
  readonly answers = new Map<ItemName, string>();
  /** Items without a result that a checkpoint has recorded. */
  readonly begun = new Set<ItemName>();
  /** Number -> the called graph. */
  readonly calls = new Map<number, Call>();
  /** The unfinished called graphs that the last checkpoint of the step has recorded: another item may use their numbers. */
  recorded = new Map<number, Call>();
  hasSideEnded = false;
  /** The list of results of a completed run. */
  output: readonly string[] = [];

  constructor(version: ListVersion, xs: readonly string[], made: readonly string[]) {
    this.version = version;
    this.xs = xs;
    this.made = made;
  }

  /** The items, in the order of the list. */
  items(): readonly Numbered[] {
    const { leavesOut } = this.version;
    const items = this.#list.map((item, index) => ({ item, index })).filter(({ item }) => item !== leavesOut);
    return numberItems(items, this.#list.length, this.#known);
  }

  /** Items with a number behind the list about which nothing is known: it is stored before they begin. */
  displaced(): readonly Numbered[] {
    return this.items().filter((item) => item.number >= this.#list.length && !this.#known.has(nameOf(item)));
  }

  get #list(): readonly string[] {
    const { source, expression } = this.version;
    return { channel: this.xs, expression, function: this.made }[source];
  }

  get #known(): ReadonlySet<ItemName> {
    const results = [...this.results].map(([number, { item }]) => nameOf({ number, item }));
    return new Set([...results, ...this.asked, ...this.answers.keys(), ...this.begun]);
  }

  /** 5.4: a stored result belongs to its item. */
  valueOf({ number, item }: Numbered): string | undefined {
    const stored = this.results.get(number);
    return stored?.item === item ? stored.value : undefined;
  }

  /** Questions without an answer. */
  get questions(): readonly ItemName[] {
    return [...this.asked].filter((name) => !this.answers.has(name));
  }

  /** An item that waits for an answer is not asked again. */
  isWaiting(item: Numbered): boolean {
    return this.asked.has(nameOf(item)) && !this.answers.has(nameOf(item));
  }

  /** The items whose bodies, or called graphs, a resume executes. */
  open(): readonly Numbered[] {
    return this.items().filter((item) => this.valueOf(item) === undefined && !this.isWaiting(item));
  }

  /** The unfinished called graph of an item. */
  callOf({ number, item }: Numbered): Call | undefined {
    return [this.calls, this.recorded].map((calls) => calls.get(number)).find((call) => call?.item === item);
  }

  /**
   * An edit of the state. Any item without a result may be in progress in a process that has died: if the edit moves or removes one of
   * them, each keeps its number and its key.
   */
  update(xs: readonly string[]): void {
    const open = this.items().filter((item) => this.valueOf(item) === undefined);
    this.xs = xs;
    const present = new Set(this.items().map(nameOf));
    if (open.some((item) => !present.has(nameOf(item)))) for (const item of open) this.begun.add(nameOf(item));
  }

  /** The step has ended, or a process has left it: the ends of all its items are durable. */
  leave({ items, ends, started, displaced, isStopped, sideEnd }: StepEnd): void {
    const all = items.map((item) => {
      const value = this.valueOf(item);
      const name = nameOf(item);
      const open = this.isWaiting(item) || !isStopped ? "asks" : started.has(name) ? "cut off" : "unreached";
      const end: ItemEnd | "cut off" | "unreached" = value === undefined ? (ends.get(name) ?? open) : { value };
      return { ...item, end };
    });
    this.asked = new Set();
    const unfinished = new Map<number, Call>();
    for (const { number, item, end } of all) {
      // The result of another item that had this number is dropped.
      this.results.delete(number);
      const call = this.callOf({ number, item });
      if (call !== undefined && typeof end !== "object") unfinished.set(number, call);
      if (typeof end === "object") this.results.set(number, { item, value: end.value });
      else if (end === "failed" || end === "cut off") this.begun.add(nameOf({ number, item }));
    }
    for (const item of displaced) this.begun.add(nameOf(item));
    this.recorded = unfinished;
    const { hasSide } = this.version;
    this.hasSideEnded ||= isStopped ? sideEnd === "done" : sideEnd !== "failed";
    const hasFailed = sideEnd === "failed" || all.some(({ end }) => end === "failed");
    const isCut = all.some(({ end }) => end === "cut off" || end === "unreached") || (hasSide && !this.hasSideEnded);
    const waiting = all.filter(({ end }) => end === "asks").map(nameOf);
    // A run that has failed, or was cancelled, waits for nothing. The items that asked run again, under their keys.
    if (hasFailed || isCut) for (const name of waiting) this.begun.add(name);
    else this.asked = new Set(waiting);
    this.output = all.flatMap(({ end }) => (typeof end === "object" ? [end.value] : []));
    if (hasFailed) this.status = "failed";
    else if (isCut) this.status = "cancelled";
    else this.status = waiting.length > 0 ? "paused" : "completed";
  }
}

/** What a process has done in the step of the list. */
export interface StepEnd {
  readonly items: readonly Numbered[];
  readonly ends: ReadonlyMap<ItemName, ItemEnd>;
  readonly started: ReadonlySet<ItemName>;
  readonly displaced: readonly Numbered[];
  readonly isStopped: boolean;
  readonly sideEnd: "done" | "failed" | undefined;
}
