/** The reference interpreter of a run whose graph is edited. It shares no code with the engine. */
import type { Json } from "../../runtime/value/json.ts";
import {
  channelOf,
  reduce,
  SLEEP,
  startOf,
  valueFor,
  type Channel,
  type Held,
  type Node,
  type Stored,
  type Version,
} from "./edited-graph.ts";
import { numberItems, type Numbered } from "./numbered-items.ts";

/** A task of the present stage. Names of channels are numbers (`Channel.id`), which edits do not change. */
interface Task {
  /** The stored result. */
  done?: readonly { readonly channel: number; readonly value: Json; readonly isSet: boolean }[];
  /** Of `each` and `poll`: the stored results of items, by number. */
  readonly items: Map<number, { readonly item: string; readonly value: Json; readonly channel: number }>;
  /** The answer of `ask`, the signal of `receive`. */
  answer?: Json;
  /** Of `poll`, by number and item. */
  readonly answers: Map<string, Json>;
  /** Of `each` and `poll`: the items when the task ran, with their numbers. */
  ran?: readonly Numbered[];
  /** Of `each`: numbers and items that have failed. */
  readonly failed: Set<string>;
  /** Of `sleep`: when it began. */
  began?: number;
}

/** The meaning of a run that is edited. */
export class EditedRun {
  values = new Map<number, Json>();
  /** The number of the present stage; `undefined` behind the last one. */
  stage: number | undefined;
  tasks = new Map<number, Task>();
  opened = new Set<number>();
  /** Gates whose nodes may run. */
  passed = new Set<number>();
  isInStep = false;
  status = "running";
  /** Bodies that run: `17` or `17:a`. */
  ran: string[] = [];

  /** 5.13: a new run keeps memory. @param before the version of the last run */
  start(version: Version, before: Version): void {
    const isMemory = (id: number): boolean =>
      channelOf(version, id)?.role === "memory" && channelOf(before, id)?.role === "memory";
    this.values = new Map([...this.values].filter(([id]) => isMemory(id)));
    this.#enter(version.stages[0]?.id);
  }

  enterAfter(version: Version, stage: number): void {
    const index = version.stages.findIndex(({ id }) => id === stage);
    this.#enter(version.stages[index + 1]?.id);
    this.status = "running";
  }

  #enter(stage: number | undefined): void {
    this.stage = stage;
    this.tasks = new Map();
    this.opened.clear();
    this.passed.clear();
    this.isInStep = false;
  }

  task(node: number): Task {
    let task = this.tasks.get(node);
    if (task === undefined) this.tasks.set(node, (task = { items: new Map(), answers: new Map(), failed: new Set() }));
    return task;
  }

  /** Runs until a node waits, a node fails, or the end. */
  go(version: Version, broken: ReadonlySet<string>, inbox: Map<number, Json>, now: number): void {
    for (;;) {
      const stage = version.stages.find(({ id }) => id === this.stage);
      if (stage === undefined) {
        this.status = "completed";
        inbox.clear();
        return;
      }
      // 6.2: a gate holds the whole step.
      if (stage.nodes.some((node) => this.isClosed(node))) {
        this.status = "paused";
        return;
      }
      for (const { id } of stage.nodes) this.passed.add(id);
      this.isInStep = true;
      const ends = stage.nodes.map((node) => this.#run(version, node, broken, inbox, now));
      if (ends.includes("failed")) this.status = "failed";
      else if (ends.includes("waits")) this.status = "paused";
      if (ends.some((end) => end !== "done")) return;
      // 2.2: updates in the order of the nodes.
      const updates = stage.nodes.flatMap((node) => this.updatesOf(version, node));
      for (const update of updates) this.write(version, update);
      this.enterAfter(version, stage.id);
    }
  }

  isClosed({ id, gate }: Node): boolean {
    return gate && !this.passed.has(id) && !this.opened.has(id);
  }

  write(version: Version, { channel: id, value, isSet }: NonNullable<Task["done"]>[number]): void {
    const channel = channelOf(version, id);
    if (channel === undefined) return;
    const current = this.valueOf(channel);
    this.values.set(id, isSet ? value : reduce(channel.reducer, current, value));
  }

  valueOf(channel: Channel): Json {
    return this.values.has(channel.id) ? this.values.get(channel.id)! : startOf(channel);
  }

  /** The items of a node: what its list has now. */
  itemsOf(version: Version, { items, list }: Node): readonly string[] {
    const channel = list === undefined ? undefined : channelOf(version, list);
    return channel === undefined ? items : (this.valueOf(channel) as readonly string[]);
  }

  /** The items of a node with their numbers. */
  numbered(version: Version, node: Node): readonly Numbered[] {
    const { items, answers, ran = [], failed } = this.task(node.id);
    const results = [...items].map(([number, { item }]) => `${number}:${item}`);
    const waiting = node.kind === "poll" ? ran.map(({ number, item }) => `${number}:${item}`) : [];
    const list = this.itemsOf(version, node).map((item, index) => ({ item, index }));
    return numberItems(list, list.length, new Set([...results, ...answers.keys(), ...failed, ...waiting]));
  }

  #run(
    version: Version,
    node: Node,
    broken: ReadonlySet<string>,
    inbox: Map<number, Json>,
    now: number,
  ): "done" | "failed" | "waits" {
    const { id, kind, channel, isSet } = node;
    const task = this.task(id);
    // 5.4: a stored result is not made again. Those of items belong to the items.
    if (task.done !== undefined) return "done";
    const finish = (value: Json): "done" => {
      task.done = [{ channel, value, isSet }];
      return "done";
    };
    if (kind === "work") {
      this.ran.push(String(id));
      return broken.has(String(id)) ? "failed" : finish(valueFor(id, channelOf(version, channel)!.type));
    }
    if (kind === "ask" || kind === "receive") {
      if (kind === "receive" && task.answer === undefined && inbox.has(id)) {
        task.answer = inbox.get(id)!;
        inbox.delete(id);
      }
      return task.answer === undefined ? "waits" : finish(task.answer);
    }
    if (kind === "sleep") {
      task.began ??= now;
      if (now - task.began < SLEEP) return "waits";
      task.done = [];
      return "done";
    }
    let end: "done" | "failed" | "waits" = "done";
    const ran = this.numbered(version, node);
    task.ran = ran;
    for (const { number, item } of ran) {
      if (task.items.get(number)?.item === item) continue;
      task.items.delete(number);
      const answer = task.answers.get(`${number}:${item}`);
      if (kind === "poll" && answer === undefined) end = "waits";
      else if (kind === "poll") task.items.set(number, { item, value: answer!, channel });
      else {
        this.ran.push(`${id}:${item}`);
        if (broken.has(item)) {
          end = "failed";
          task.failed.add(`${number}:${item}`);
        } else task.items.set(number, { item, value: `${item}!`, channel });
      }
    }
    return end;
  }

  /** What a node of the stage writes. The results of its items are one list, in the order of the items. */
  updatesOf(version: Version, node: Node): NonNullable<Task["done"]> {
    const { id, channel, isSet } = node;
    const task = this.task(id);
    const ran = this.numbered(version, node);
    return task.done ?? [{ channel, value: ran.map(({ number }) => task.items.get(number)!.value), isSet }];
  }

  /** What a checkpoint of this run holds. @param version the version that wrote it */
  held(version: Version, isNextNeeded: boolean): Held {
    const nameOf = (id: number): string => channelOf(version, id)!.name;
    const nodes = isNextNeeded ? (version.stages.find(({ id }) => id === this.stage)?.nodes ?? []) : [];
    const results = nodes.flatMap(({ id, name }): Stored[] => {
      const { done = [], items } = this.task(id);
      const ofItems = [...items.values()].map(({ channel, value }) => ({ channel, value, isItem: true }));
      const all = [...done.map(({ channel, value }) => ({ channel, value, isItem: false })), ...ofItems];
      return [{ node: name, updates: all.map((update) => ({ ...update, channel: nameOf(update.channel) })) }];
    });
    return {
      version,
      values: Object.fromEntries([...this.values].map(([id, value]) => [nameOf(id), value])),
      nodes: nodes.map(({ name }) => name),
      results,
    };
  }

  /** Forgets what a version has dropped. */
  adopt(version: Version): void {
    const isKept = (id: number): boolean => channelOf(version, id) !== undefined;
    for (const id of [...this.values.keys()]) if (!isKept(id)) this.values.delete(id);
    for (const task of this.tasks.values()) {
      if (task.done !== undefined) task.done = task.done.filter(({ channel }) => isKept(channel));
    }
  }
}
