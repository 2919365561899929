/**
 * Simulates a user who edits the graph of a thread, repairs state by hand, answers with values of every kind, sends signals and
 * migrates, while processes die. `EditedRun` is the reference interpreter of the run, `driftOf` that of the edits.
 */
import type { Engine, RunResult } from "../../runtime/interface/engine-options.ts";
import type { PauseItem } from "../../runtime/interface/checkpoint.ts";
import { systemClock } from "../../runtime/interface/clock.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { receive } from "../../stdlib/nodes/receive.ts";
import { sleep } from "../../stdlib/nodes/sleep.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { tableOf } from "../support/graph.ts";
import {
  channelOf,
  continues,
  converted,
  driftOf,
  fits,
  lossOf,
  Names,
  randomEdit,
  randomVersion,
  SLEEP,
  startOf,
  textOf,
  valueFor,
  type Channel,
  type Node,
  type Version,
} from "./edited-graph.ts";
import { EditedRun } from "./edited-run.ts";
import { liveThrough } from "./live-through.ts";
import { below, chance, pick, randomOf, type Random } from "./random.ts";
import type { Subject } from "./simulate.ts";

/** Values of every kind. */
const VALUES: readonly Json[] = [null, true, false, 0, 7, 1.5, "yes", "", ["x"], [1], [], {}, { a: 1 }];

/** The problems of a seed; the features that it met are added to `covered`. */
export function simulateEdits(subject: Subject, seed: number, covered = new Set<string>()): Promise<string[]> {
  const simulation = new Simulation(subject, randomOf(seed), covered);
  return liveThrough(simulation);
}

class Simulation {
  readonly problems: string[] = [];
  readonly #random: Random;
  readonly #covered: Set<string>;
  readonly #subject: Subject;
  readonly #names = new Names();
  readonly #store: MemoryStore;
  readonly #run = new EditedRun();
  readonly #broken = new Set<string>();
  readonly #inbox = new Map<number, Json>();
  readonly #tables = new Map<string, ReturnType<typeof tableOf>>();
  #ran: string[] = [];
  #now = 0;
  #thread = "t";
  /** The user's file. */
  #version: Version;
  /** The version that wrote the head, and the one whose run has paused. */
  #head: Version;
  #paused: Version;

  constructor(subject: Subject, random: Random, covered: Set<string>) {
    this.#subject = subject;
    this.#random = random;
    this.#covered = covered;
    this.#store = subject.makeStore(() => this.#now);
    this.#version = this.#head = this.#paused = randomVersion(random, this.#names);
  }

  async live(): Promise<void> {
    this.#note(textOf(this.#version));
    this.#breakSome();
    await this.#newRun();
    for (let act = 0; act < 25 && this.problems.length === 0; act++) {
      await this.#act();
      if (this.problems.length === 0) await this.#compare();
    }
  }

  get #drift(): readonly string[] {
    return driftOf(this.#run.held(this.#head, true), this.#version);
  }

  get #loss(): readonly string[] {
    return lossOf(this.#run.held(this.#head, false), this.#version);
  }

  async #act(): Promise<void> {
    const random = this.#random;
    const isOver = this.#run.status === "completed";
    const kinds = isOver ? (["run", "edit", "edit", "edit", "update", "other graph", "forward"] as const) : ACTS;
    const kind = pick(random, kinds);
    this.#note(`${kind} (${this.#run.status}, stage ${this.#run.stage})`);
    switch (kind) {
      case "edit":
        return this.#edit();
      case "mend":
        this.#broken.clear();
        if (chance(random, 0.2)) this.#breakSome();
        return this.#resume({});
      case "resume":
        return this.#resume({});
      case "answer":
        return this.#answer();
      case "signal":
        return this.#signal();
      case "time":
        return this.#skipTime();
      case "update":
        return this.#update();
      case "update as":
        return this.#updateAs();
      case "forward":
        return this.#forward();
      case "run":
        return this.#newRun();
      case "other graph":
        return this.#otherGraph();
      case "fork":
        return this.#fork();
    }
  }

  #breakSome(): void {
    const nodes = this.#version.stages.filter((stage) => !stage.nodes.some(waits)).flatMap((stage) => stage.nodes);
    for (const { id, kind, items, list } of nodes) {
      if (!chance(this.#random, 0.35)) continue;
      const all = list === undefined ? items : (["a", "b", "c", "d"] as const);
      this.#broken.add(kind === "each" ? pick(this.#random, all) : String(id));
    }
  }

  /** An edit of the file. */
  async #edit(): Promise<void> {
    const { stages } = this.#version;
    const at = this.#run.stage === undefined ? -1 : stages.findIndex(({ id }) => id === this.#run.stage);
    const edited = randomEdit(this.#random, this.#names, this.#version, at === -1 ? undefined : at);
    if (edited === undefined) return;
    this.#version = edited.version;
    const drift = this.#drift;
    this.#cover(`edit: ${edited.edit}${drift.length > 0 ? ", drift" : ""}`);
    this.#note(`${edited.edit}: ${drift.join(", ")}\n${textOf(this.#version)}`);
    if (this.#run.status === "completed" && this.#loss.length > 0 && chance(this.#random, 0.5)) await this.#newRun();
    else if (drift.length > 0 && chance(this.#random, 0.5)) await this.#forward();
    else if (edited.edit === "rename node" && chance(this.#random, 0.5))
      await (chance(this.#random, 0.3) ? this.#signal() : this.#answer());
  }

  /** A call that runs the thread. Its process may die; the user then starts another one and repeats the call. */
  async #resume(answers: Readonly<Record<string, Json>>, apply: () => void = () => undefined, code?: string) {
    const isRefused = this.#drift.length > 0;
    const call = (engine: Engine) => engine.resume(this.#thread, { answers });
    if (isRefused || code !== undefined) {
      await this.#expect(isRefused ? "NG_DRIFT" : code, call(this.#open()), "a resume");
      return;
    }
    const stored = this.#storedTasks();
    this.#ran = [];
    const dies = chance(this.#random, 0.3);
    if (dies) {
      const dying = new CrashingStore(this.#store, below(this.#random, 7), pick(this.#random, ["before", "after"]));
      await call(this.#open(this.#version, dying)).catch(() => undefined);
      this.#now += 1_000_000;
      this.#cover(dying.dead ? "a process that dies" : "a process that lives");
      await this.#recover();
    }
    const isDone = !dies && chance(this.#random, 0.2) && (await this.#drain(call));
    apply();
    this.#run.ran = [];
    if (!isDone) await this.#expect(undefined, call(this.#open()), "a resume");
    this.#run.go(this.#version, this.#broken, this.#inbox, this.#now);
    this.#paused = this.#version;
    for (const task of stored) if (this.#ran.includes(task)) this.problems.push(`5.5: ${task} ran again`);
    const [found, wanted] = [this.#ran, this.#run.ran].map((each) => [...each].sort().join());
    if (!dies && found !== wanted) this.problems.push(`ran ${found}, expected ${wanted}`);
    this.#ran = [];
    this.#adopt();
  }

  /**
   * A process that is told to end while it runs the thread. The next one takes the thread up where it was.
   *
   * @returns false if the process ended before it did anything
   */
  async #drain(call: (engine: Engine) => Promise<RunResult>): Promise<boolean> {
    const engine = this.#open();
    const run = call(engine);
    for (let turn = below(this.#random, 60); turn > 0; turn--) await Promise.resolve();
    const [{ error }] = await Promise.all([run, engine.drain()]);
    const isCut = error?.code === "NG_DRAINED";
    this.#cover(isCut ? "a run that is drained" : "a run that ends before the drain");
    this.#note(`  drained: ${error?.message ?? "the run had ended"}`);
    return (await this.#recover()) || !isCut || this.#ran.length > 0;
  }

  /** Bodies whose results are stored under the present version. */
  #storedTasks(): readonly string[] {
    const { run, nodes } = { run: this.#run, nodes: this.#version.stages.flatMap((stage) => stage.nodes) };
    return [...run.tasks].flatMap(([id, { done, items }]) => {
      const node = nodes.find((each) => each.id === id);
      if (done !== undefined) return [String(id)];
      const present = node === undefined ? [] : run.numbered(this.#version, node);
      const isDone = ({ number, item }: { number: number; item: string }): boolean => items.get(number)?.item === item;
      const kept = present.filter(isDone).map(({ item }) => item);
      const others = new Set(present.filter((each) => !isDone(each)).map(({ item }) => item));
      return kept.filter((item) => !others.has(item)).map((item) => `${id}:${item}`);
    });
  }

  /** W1, 5.6: what a dead process has left is taken up without an answer, if there is any. */
  async #recover(): Promise<boolean> {
    const engine = this.#open();
    const [info] = await engine.threads();
    const { results, failures } = await engine.recover();
    for (const { error } of failures) this.problems.push(`recover: ${error.message}`);
    if (results.length > 0) this.#cover("a recovered thread");
    if ((info?.status === "interrupted") !== results.length > 0)
      this.problems.push(`a thread that is ${info?.status} was ${results.length > 0 ? "" : "not "}recovered`);
    const [after] = await engine.threads();
    this.#note(`  recovered a thread that was ${info?.status}, and is ${after?.status}`);
    if (after?.status === "interrupted") this.problems.push("a thread is interrupted after its recovery");
    const writes = this.#store.getWrites(this.#thread, after!.checkpointId);
    const isDone = (task: string): boolean => writes.some(({ taskId }) => taskId === task);
    const isStuck = ({ taskId }: { taskId: string }): boolean =>
      taskId.startsWith("answer:") && !isDone(taskId.slice("answer:".length).replace(/(#\w+)?@.*/, ""));
    if (writes.some(isStuck)) this.problems.push("an answer is stored, and no process works on it");
    return results.length > 0;
  }

  async #answer(): Promise<void> {
    const drift = this.#drift;
    const { pauses } = (await this.#open(drift.length > 0 ? this.#head : this.#version).state(this.#thread))!;
    const open = pauses.filter(({ kind }) => kind !== "signal" && kind !== "timer");
    if (open.length === 0) return;
    const pause = pick(this.#random, open);
    const node = this.#nodeOf(pause);
    if (node === undefined) return;
    const isGate = pause.kind === "before";
    const type = channelOf(this.#version, node.channel)?.type ?? "json";
    const isFitting = (value: Json): boolean =>
      isGate ? value === true : node.kind === "poll" ? typeof value === "string" : fits(type, value);
    const fitting = isGate ? true : node.kind === "poll" ? `on ${itemOf(pause)}` : valueFor(node.id, type);
    const value = chance(this.#random, 0.6) ? fitting : pick(this.#random, VALUES);
    this.#cover(`an answer that ${isFitting(value) ? "fits" : "does not fit"}${isGate ? " a gate" : ""}`);
    // A question about an item also takes a list of results.
    if (node.kind === "poll" && Array.isArray(value)) return;
    this.#note(`  ${JSON.stringify(value)} to ${pause.id} ${JSON.stringify(pause.payload)}`);
    const apply = (): void => {
      const task = this.#run.task(node.id);
      const index = /\[(\d+)\]/.exec(pause.taskId ?? "")?.[1];
      if (isGate) this.#run.opened.add(node.id);
      else if (node.kind === "poll") task.answers.set(`${index}:${itemOf(pause)}`, value);
      else task.answer = value;
    };
    await this.#resume({ [pause.id]: value }, apply, isFitting(value) ? undefined : "NG_BAD_ANSWER");
  }

  /** The node of a pause, under whatever name. */
  #nodeOf(pause: PauseItem): Node | undefined {
    for (const version of [this.#version, this.#head]) {
      const node = continues(
        pause.node,
        version.stages.flatMap(({ nodes }) => nodes),
      );
      if (node !== undefined) return node;
    }
    return undefined;
  }

  async #signal(): Promise<void> {
    if (this.#drift.length > 0) return;
    const { pauses } = (await this.#open().state(this.#thread))!;
    const pause = pauses.find(({ kind }) => kind === "signal");
    const node = pause && this.#nodeOf(pause);
    if (node === undefined) return;
    const { type } = channelOf(this.#version, node.channel)!;
    const value = chance(this.#random, 0.7) ? valueFor(node.id, type) : pick(this.#random, VALUES);
    const code = fits(type, value) ? undefined : "NG_BAD_ANSWER";
    this.#cover(`a signal that ${code === undefined ? "fits" : "does not fit"}`);
    await this.#expect(code, this.#open().signal(this.#thread, `s${node.id}`, value), "a signal");
    if (code !== undefined) return;
    this.#inbox.set(node.id, value);
    await this.#resume({});
  }

  /** Every sleep has ended by now. */
  async #skipTime(): Promise<void> {
    const isAsleep = [...this.#run.tasks.values()].some(({ began, done }) => began !== undefined && done === undefined);
    this.#now += SLEEP + 3_600_000;
    if (isAsleep) this.#cover("a sleep that ends");
    await this.#resume({});
  }

  async #update(): Promise<void> {
    const channel = pick(this.#random, this.#version.channels);
    const { id, name, type } = channel;
    const isSet = channel.reducer === "none" || chance(this.#random, 0.5);
    const value = chance(this.#random, 0.6) ? valueFor(below(this.#random, 99), type) : pick(this.#random, VALUES);
    const code = this.#drift.length > 0 ? "NG_DRIFT" : fits(type, value) ? undefined : "NG_BAD_INPUT";
    this.#cover(`an update: ${code ?? "accepted"}`);
    const options = chance(this.#random, 0.5) ? { replace: isSet } : { set: isSet ? [name] : [] };
    // Without `set`, a list takes one item, too.
    if (type === "string[]" && !isSet && typeof value === "string") return;
    this.#note(`  ${name} ${JSON.stringify(value)} ${JSON.stringify(options)}`);
    await this.#expect(code, this.#open().update(this.#thread, { [name]: value }, options), "an update");
    if (code !== undefined) return;
    this.#run.write(this.#version, { channel: id, value, isSet });
    this.#adopt();
  }

  /** The user writes the result of a node by hand. */
  async #updateAs(): Promise<void> {
    const run = this.#run;
    const stage = this.#version.stages.find(({ id }) => id === run.stage);
    if (stage === undefined) return;
    const node = pick(this.#random, stage.nodes);
    const channel = channelOf(this.#version, node.channel)!;
    const tasks = this.#head.stages.find(({ id }) => id === run.stage)!.nodes.length;
    const isTask = run.isInStep && tasks > 1;
    // A node of another name is no task of the step.
    const old = this.#head.stages.flatMap(({ nodes }) => nodes).find(({ id }) => id === node.id)?.name;
    if (isTask && old !== node.name && !node.was.includes(old ?? "")) return;
    // One node of several routes to a barrier that waits for the others.
    if (!isTask && stage.nodes.length > 1) return;
    const code = driftOf(run.held(this.#head, isTask), this.#version).length > 0 ? "NG_DRIFT" : undefined;
    const value = valueFor(below(this.#random, 99), channel.type);
    this.#cover(`an update as a node${isTask ? " of an unfinished step" : ""}: ${code ?? "accepted"}`);
    const values = { [channel.name]: value };
    this.#note(`  ${JSON.stringify(values)} as ${node.name}`);
    await this.#expect(code, this.#open().update(this.#thread, values, { as: node.name }), "an update as a node");
    if (code !== undefined) return;
    const update = { channel: channel.id, value, isSet: false };
    if (isTask) {
      const task = run.task(node.id);
      task.done = [update];
      task.items.clear();
      const isPaused = run.status === "paused" && this.#pauses().length > 0;
      run.status = isPaused ? "paused" : "running";
    } else {
      run.write(this.#version, update);
      run.enterAfter(this.#version, stage.id);
    }
    this.#adopt();
  }

  /** The ways out of a drift: a migration, a declaration in the graph, or the former version. */
  async #forward(): Promise<void> {
    const way = pick(this.#random, ["migrate", "migrate", "migrate nothing", "declare", "former version"] as const);
    this.#note(`forward: ${way}`);
    if (way === "former version") {
      this.#version = this.#head;
      this.#cover("the former version of the graph");
      return;
    }
    if (way === "declare") {
      this.#declare();
      return;
    }
    const isSame = this.#tableOf(this.#head).digest === this.#tableOf(this.#version).digest;
    if (way === "migrate nothing") {
      const code = isSame || this.#drift.length === 0 ? undefined : "NG_DRIFT";
      this.#cover(`a migration without options: ${code ?? "accepted"}`);
      await this.#expect(code, this.#open().migrate(this.#thread), "a migration without options");
      if (code === undefined) this.#adopt();
      return;
    }
    await this.#migrate(isSame);
  }

  #declare(): void {
    const former = <T extends Channel | Node>(present: T, before: readonly (Channel | Node)[]): T => {
      const old = before.find(({ id }) => id === present.id)?.name;
      const isKnown = old === undefined || old === present.name || present.was.includes(old);
      return isKnown ? present : { ...present, was: [...present.was, old] };
    };
    const nodes = this.#head.stages.flatMap((stage) => stage.nodes);
    const gone = this.#head.channels.filter(({ id }) => channelOf(this.#version, id) === undefined);
    const { name, was, drop, channels, stages } = this.#version;
    this.#version = {
      name,
      was: this.#head.name === name || was.includes(this.#head.name) ? was : [...was, this.#head.name],
      drop: [...new Set([...drop, ...gone.map((channel) => channel.name)])],
      channels: channels.map((channel) => former(channel, this.#head.channels)),
      stages: stages.map((stage) => ({ ...stage, nodes: stage.nodes.map((node) => former(node, nodes)) })),
    };
    this.#cover("declared names");
    this.#note(textOf(this.#version));
  }

  async #migrate(isSame: boolean): Promise<void> {
    const [head, version, run] = [this.#head, this.#version, this.#run];
    const isLinked = (old: string, present: { readonly name: string; readonly was: readonly string[] }): boolean =>
      old === present.name || present.was.includes(old);
    const rename: Record<string, string> = {};
    const allNodes = version.stages.flatMap(({ nodes }) => nodes);
    const pairs = [
      ...head.channels.map((old) => [old, channelOf(version, old.id)] as const),
      ...head.stages
        .flatMap(({ nodes }) => nodes)
        .map((old) => [old, allNodes.find(({ id }) => id === old.id)] as const),
    ];
    for (const [old, present] of pairs)
      if (present !== undefined && !isLinked(old.name, present)) rename[old.name] = present.name;
    const drop = head.channels.filter(({ id }) => channelOf(version, id) === undefined).map(({ name }) => name);
    const changed = version.channels.filter((channel) => {
      const old = channelOf(head, channel.id);
      return old !== undefined && (old.type !== channel.type || old.reducer !== channel.reducer);
    });
    const map = Object.fromEntries(changed.map(({ name, type }) => [name, (value: Json) => converted(value, type)]));
    const added = version.channels.filter(
      (channel) =>
        channelOf(head, channel.id) === undefined &&
        (channel.role === "input" || !fits(channel.type, startOf(channel))),
    );
    const set: JsonObject = Object.fromEntries(added.map(({ id, name, type }) => [name, valueFor(id, type)]));
    const stage = head.stages.find(({ id }) => id === run.stage);
    const isLost = stage?.nodes.some((node) => !allNodes.some(({ id }) => id === node.id)) === true;
    const code = !isSame && isLost ? "NG_DRIFT" : undefined;
    const options = { rename, drop, map, set, graph: head.name };
    this.#note(JSON.stringify(options));
    if (chance(this.#random, 0.3)) {
      const before = this.#store.loadLatest(this.#thread)!.id;
      await this.#expect(code, this.#open().migrate(this.#thread, { ...options, dryRun: true }), "a dry run");
      if (this.#store.loadLatest(this.#thread)!.id !== before) this.problems.push("a dry run has changed the thread");
    }
    this.#cover(`a migration: ${code ?? "accepted"}`);
    await this.#expect(code, this.#open().migrate(this.#thread, options), "a migration");
    if (code !== undefined || isSame) return;
    for (const { id, type, ...channel } of changed) {
      const value = run.values.get(id);
      const start = startOf({ id, type, ...channel });
      if (value !== undefined || !fits(type, start)) run.values.set(id, converted(value ?? null, type));
      for (const { done = [] } of run.tasks.values()) {
        for (const update of done) {
          const isWhole = channel.reducer === "none" || update.isSet;
          if (update.channel === id && isWhole) Object.assign(update, { value: converted(update.value, type) });
        }
      }
    }
    for (const { id, type } of added) run.values.set(id, valueFor(id, type));
    this.#adopt();
  }

  async #newRun(): Promise<void> {
    const run = this.#run;
    const inputs = this.#version.channels.filter(({ role }) => role === "input");
    const input = Object.fromEntries(inputs.map(({ id, name, type }) => [name, valueFor(id, type)]));
    const isFirst = this.#store.loadLatest(this.#thread) === undefined;
    const isLost = !isFirst && this.#loss.length > 0;
    if (!isFirst) this.#cover(`a further run: ${isLost ? "NG_DRIFT" : "accepted"}`);
    this.#ran = [];
    await this.#expect(isLost ? "NG_DRIFT" : undefined, this.#open().run(input, { thread: this.#thread }), "a run");
    if (isLost) return;
    run.ran = [];
    run.start(this.#version, this.#head);
    for (const { id, type } of inputs) run.values.set(id, valueFor(id, type));
    run.go(this.#version, this.#broken, this.#inbox, this.#now);
    this.#paused = this.#version;
    this.#adopt();
  }

  /** A thread belongs to one graph. */
  async #otherGraph(): Promise<void> {
    const other = this.#open({ ...this.#version, name: `g${this.#names.next()}`, was: [] });
    const before = this.#store.loadLatest(this.#thread)!.id;
    const isOver = this.#run.status === "completed";
    this.#ran = [];
    await this.#expect("NG_DRIFT", other.resume(this.#thread, { answers: {} }), "a resume of another graph");
    await this.#expect("NG_DRIFT", other.update(this.#thread, {}), "an update of another graph");
    const run = other.run(this.#inputs(), { thread: this.#thread, abandon: true });
    await this.#expect("NG_DRIFT", run, "a run of another graph");
    await this.#expect("NG_DRIFT", other.migrate(this.#thread), "a migration to another graph");
    this.#cover(`another graph${isOver ? ", on a finished thread" : ""}`);
    if (this.#store.loadLatest(this.#thread)!.id !== before || this.#ran.length > 0)
      this.problems.push("another graph has changed the thread");
  }

  #inputs(): JsonObject {
    const inputs = this.#version.channels.filter(({ role }) => role === "input");
    return Object.fromEntries(inputs.map(({ id, name, type }) => [name, valueFor(id, type)]));
  }

  async #fork(): Promise<void> {
    if (this.#inbox.size > 0) return;
    const code = this.#drift.length > 0 ? "NG_DRIFT" : undefined;
    const as = `t${this.#names.next()}`;
    await this.#expect(code, this.#open().fork(this.#thread, { as }), "a fork");
    this.#cover(`a fork: ${code ?? "accepted"}`);
    if (code !== undefined) return;
    this.#thread = as;
    if (this.#run.status === "failed") this.#run.status = "running";
    this.#adopt();
  }

  /** The version that the head was written under is that of its table. */
  #adopt(): void {
    const { digest } = this.#store.loadLatest(this.#thread)!;
    if (digest !== this.#tableOf(this.#version).digest) return;
    this.#head = this.#version;
    this.#run.adopt(this.#version);
  }

  async #compare(): Promise<void> {
    const shown = this.#drift.length > 0 ? this.#head : this.#version;
    const run = this.#run;
    const { status, state, pauses } = (await this.#open(shown).state(this.#thread))!;
    const values = Object.fromEntries(shown.channels.map((channel) => [channel.name, run.valueOf(channel)]));
    this.#cover(`status: ${status}`);
    const shownState = Object.fromEntries(shown.channels.map(({ name }) => [name, state[name]]));
    if (Object.keys(state).length !== shown.channels.length)
      this.problems.push(`the state has ${Object.keys(state).join()}`);
    const found = {
      status,
      state: shownState,
      pauses: status === "paused" ? sorted(pauses.map((one) => this.#describe(one))) : [],
    };
    const wanted = { status: run.status, state: values, pauses: run.status === "paused" ? sorted(this.#pauses()) : [] };
    const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (a !== b) this.problems.push(`found ${a}\nexpected ${b}`);
  }

  #describe(pause: PauseItem): string {
    const id = this.#nodeOf(pause)?.id;
    if (pause.kind === "before") return `gate of ${id}`;
    return /\[\d+\]/.test(pause.taskId ?? "") ? `${id} asks about ${itemOf(pause)}` : `${id} waits`;
  }

  /** What waits, since the run has paused. */
  #pauses(): string[] {
    const run = this.#run;
    const stage = this.#paused.stages.find(({ id }) => id === run.stage);
    const nodes = stage?.nodes ?? [];
    const closed = nodes.filter((node) => run.isClosed(node));
    if (!run.isInStep) return closed.map(({ id }) => `gate of ${id}`);
    return nodes.flatMap(({ id, kind }) => {
      const { done, answer, items: results, ran = [] } = run.task(id);
      if (done !== undefined || kind === "work" || kind === "each") return [];
      if (kind !== "poll") return answer === undefined ? [`${id} waits`] : [];
      const open = ran.filter(({ number, item }) => results.get(number)?.item !== item);
      return open.map(({ item }) => `${id} asks about ${item}`);
    });
  }

  async #expect(code: string | undefined, call: Promise<unknown>, what: string): Promise<void> {
    const refused = await call.then(
      () => undefined,
      (error: { code?: string; message?: string }) => error,
    );
    if (refused !== undefined) this.#note(`  ${what}: ${refused.message}`);
    if (refused?.code === code) return;
    this.problems.push(
      `${what}: expected ${code ?? "success"}, got ${refused?.message ?? "success"} (${refused?.code})`,
    );
  }

  #tableOf(version: Version): ReturnType<typeof tableOf> {
    const text = textOf(version);
    let table = this.#tables.get(text);
    if (table === undefined) this.#tables.set(text, (table = tableOf(text, ["work", "item"])));
    return table;
  }

  #open(version: Version = this.#version, store: Store = this.#store): Engine {
    const note = (task: string, isBroken: boolean): void => {
      this.#ran.push(task);
      if (isBroken) throw new Error("broken");
    };
    return this.#subject.createEngine(this.#tableOf(version), {
      store,
      wake: false,
      clock: { ...systemClock, now: () => this.#now },
      builtins: { ask, receive, sleep },
      functions: {
        work: (id: number, type: Channel["type"]) => {
          note(String(id), this.#broken.has(String(id)));
          return valueFor(id, type);
        },
        item: (id: number, x: string) => {
          note(`${id}:${x}`, this.#broken.has(x));
          return `${x}!`;
        },
      },
    });
  }

  #cover(feature: string): void {
    this.#covered.add(feature);
  }

  #note(line: string): void {
    if (process.env["SEED"] !== undefined) console.info(line);
  }
}

/** What a question of `poll` is about. */
function itemOf({ payload }: PauseItem): string {
  return String((payload as { readonly question?: Json }).question ?? payload);
}

function waits({ kind }: Node): boolean {
  return kind === "ask" || kind === "receive" || kind === "sleep" || kind === "poll";
}

function sorted(lines: readonly string[]): readonly string[] {
  return [...lines].sort();
}

const ACTS = [
  ...(["edit", "edit", "edit", "mend", "resume", "answer", "answer", "answer", "answer", "signal", "signal"] as const),
  ...(["time", "update", "update", "update as", "update as", "forward", "other graph", "fork"] as const),
] as const;
