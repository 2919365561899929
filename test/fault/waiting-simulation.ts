/**
 * Simulates threads that wait: stages of sleeps, questions with deadlines and signals. A random user answers, sends signals, lets
 * time pass, forks, and kills processes. `WaitingRun` is the reference interpreter: it shares no code with the engine.
 */
import type { Engine, EngineOptions, RunResult, Table } from "../../runtime/index.ts";
import type { Claim, Runner, Store } from "../../runtime/interface/store.ts";
import type { MemoryStore } from "../../runtime/stores/memory.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { tableOf } from "../support/graph.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { receive } from "../../stdlib/nodes/receive.ts";
import { sleep } from "../../stdlib/nodes/sleep.ts";
import { liveThrough } from "./live-through.ts";
import { below, chance, pick, randomOf, type Random } from "./random.ts";
import type { Subject } from "./simulate.ts";

/** The longest sleep that holds its process. */
const HELD = 60_000;
const NAMES = ["x", "y"] as const;

interface Wait {
  readonly name: string;
  readonly kind: "sleep" | "ask" | "receive";
  /** Duration of a sleep; deadline of the others. */
  readonly ms?: number;
  readonly signal?: string;
}

interface Sent {
  readonly id: string;
  readonly name: string;
  readonly value: string;
  /** Place in the inbox: its number among the signals that arrived. */
  readonly place: number;
}

interface Task extends Wait {
  readonly due: number | undefined;
  end: "waits" | "done" | "late";
  /** The run is paused at it. */
  hasPaused: boolean;
  value: string | undefined;
  answer: string | undefined;
  /** The signal that it took. */
  sent: Sent | undefined;
}

/** The meaning of a run: rules W1 to W5. */
class WaitingRun {
  readonly stages: readonly (readonly Wait[])[];
  stage = 0;
  tasks: Task[] = [];
  log: string[] = [];
  inbox: Sent[] = [];
  taken: Sent[] = [];
  known = new Set<string>();
  /** The task that took a signal, as a number that ascends with stages and tasks. */
  readonly #takers = new Map<Sent, number>();

  constructor(stages: readonly (readonly Wait[])[]) {
    this.stages = stages;
  }

  get isOver(): boolean {
    return this.stage >= this.stages.length;
  }

  enter(now: number): void {
    // W3: due times are fixed when the wait begins.
    this.tasks = (this.stages[this.stage] ?? []).map((wait) => ({
      ...wait,
      due: wait.ms === undefined ? undefined : now + wait.ms,
      end: "waits",
      hasPaused: false,
      value: undefined,
      answer: undefined,
      sent: undefined,
    }));
  }

  /** A process looks at the thread. Returns the time at which it stops. `isBroken`: no value can be written. */
  look(start: number, isBroken: boolean): number {
    let now = start;
    while (!this.isOver) {
      const began = now;
      for (const task of this.tasks) now = Math.max(now, this.#settle(task, began));
      for (const task of this.tasks) task.hasPaused = true;
      if (this.tasks.some(({ end }) => end === "waits")) return now;
      const writes = this.tasks.find(({ value }) => value !== undefined);
      if (isBroken && writes !== undefined) this.#dropResult(writes);
      if (isBroken && (writes !== undefined || this.tasks.some(({ end }) => end === "late"))) return now;
      for (const { end, value } of this.tasks) if (end === "done" && value !== undefined) this.log.push(value);
      for (const { end, name } of this.tasks) if (end === "late") this.log.push(`late ${name}`);
      this.stage++;
      this.enter(now);
    }
    // W4: what no node took is dropped.
    this.inbox = [];
    return now;
  }

  /** The first write of the step fails: its task runs again, and its signal is in the inbox again. */
  #dropResult(task: Task): void {
    if (task.sent === undefined) return;
    const { sent } = task;
    [task.end, task.value, task.sent] = ["waits", undefined, undefined];
    // A fork gets only the signals that wait: one that was taken before the fork comes after them.
    const place = this.taken.includes(sent) ? sent.place : Math.max(-1, ...this.inbox.map((each) => each.place)) + 0.5;
    this.taken = this.taken.filter((each) => each !== sent);
    this.inbox = [...this.inbox, { ...sent, place }].sort((a, b) => a.place - b.place);
    this.known.add(sent.id);
  }

  /** Whether a process would find something to do. */
  isWoken(now: number): boolean {
    const open = this.tasks.filter(({ end }) => end === "waits");
    return open.some(
      ({ due, kind, signal }) =>
        (due !== undefined && due <= now) || (kind === "receive" && this.inbox.some(({ name }) => name === signal)),
    );
  }

  #settle(task: Task, now: number): number {
    if (task.end !== "waits") return now;
    const isDue = task.due !== undefined && task.due <= now;
    if (task.kind === "sleep") {
      const left = task.due! - now;
      if (left > (task.hasPaused ? 0 : HELD)) return now;
      task.end = "done";
      return Math.max(now, task.due!);
    }
    if (task.kind === "ask") {
      // W3: a stored answer wins.
      if (task.answer !== undefined) [task.end, task.value] = ["done", task.answer];
      else if (isDue) task.end = "late";
      return now;
    }
    // W3: a signal in the inbox wins over a due time. W4: in order, once, by task order.
    const index = this.inbox.findIndex(({ name }) => name === task.signal);
    if (index !== -1) {
      const [sent] = this.inbox.splice(index, 1);
      this.taken.push(sent!);
      this.#takers.set(sent!, 10 * this.stage + this.tasks.indexOf(task));
      [task.end, task.value, task.sent] = ["done", sent!.value, sent];
    } else if (isDue) task.end = "late";
    return now;
  }

  /** W5: a fork of the head keeps due times; one from the start begins again with all signals of the run. */
  fork(fromStart: boolean): WaitingRun {
    const copy = new WaitingRun(this.stages);
    // Signals are taken again in the order of the steps and their tasks.
    const taken = [...this.taken].sort((a, b) => this.#takers.get(a)! - this.#takers.get(b)!);
    if (fromStart) copy.inbox = [...taken, ...this.inbox].map((sent, place) => ({ ...sent, place }));
    else {
      copy.stage = this.stage;
      copy.tasks = this.tasks.map((task) => ({ ...task }));
      copy.log = [...this.log];
      copy.inbox = [...this.inbox];
      copy.taken = [];
    }
    copy.known = new Set(copy.inbox.map(({ id }) => id));
    return copy;
  }
}

/** The store of a process that dies at a write. Its claim ends with it. */
class DyingStore extends CrashingStore {
  #claim: Claim | undefined;
  override claim(threadId: string, runner: Runner) {
    const claim = super.claim(threadId, runner) as Claim;
    this.#claim = claim;
    return claim;
  }
  bury(store: MemoryStore): void {
    if (this.#claim !== undefined) store.release(this.#claim);
  }
}

/** The store of a process that is slow between its look at a thread and its claim. */
class SlowStore extends CrashingStore {
  readonly #clock: VirtualClock;
  constructor(store: Store, clock: VirtualClock) {
    super(store, Number.POSITIVE_INFINITY);
    this.#clock = clock;
  }
  override async claim(threadId: string, runner: Runner) {
    await new Promise<void>((resolve) => void this.#clock.setTimeout(resolve, 0));
    return super.claim(threadId, runner);
  }
}

/** The problems of a seed; the features that it met are added to `covered`. */
export function simulateWaiting(subject: Subject, seed: number, covered = new Set<string>()): Promise<string[]> {
  const random = randomOf(seed);
  const stages = randomStages(random);
  const simulation = new Simulation(subject, random, stages, covered);
  return liveThrough(simulation);
}

class Simulation {
  readonly problems: string[] = [];
  readonly #random: Random;
  readonly #covered: Set<string>;
  readonly #clock = new VirtualClock();
  readonly #store: MemoryStore;
  readonly #subject: Subject;
  readonly #table: Table;
  #run: WaitingRun;
  #thread = "t0";
  #forks = 0;
  #sent = 0;
  #arrived = 1000;
  #isBroken = false;
  /** The first checkpoint of the thread is the start of a run. */
  #hasStart = true;

  constructor(subject: Subject, random: Random, stages: readonly (readonly Wait[])[], covered: Set<string>) {
    this.#subject = subject;
    this.#random = random;
    this.#covered = covered;
    this.#store = subject.makeStore(() => this.#clock.now());
    if (process.env["SEED"] !== undefined) console.info(textOf(stages));
    this.#table = tableOf(textOf(stages), ["collect"]);
    this.#run = new WaitingRun(stages);
  }

  async live(): Promise<void> {
    this.#run.enter(this.#clock.now());
    await this.#look("a run", (engine) => engine.run({}, { thread: this.#thread }));
    for (let act = 0; act < 60 && !this.#run.isOver && this.problems.length === 0; act++) {
      await this.#act(act > 40);
      this.#note(
        `at ${this.#clock.now()}: ${JSON.stringify(this.#run.tasks.map(({ name, kind, due, end }) => [name, kind, due, end]))} inbox ${this.#run.inbox.map(({ id, name }) => id + name).join()}`,
      );
      await this.#rest();
      await this.#compare();
    }
  }

  async #act(hurry: boolean): Promise<void> {
    const random = this.#random;
    const asked = this.#run.tasks.filter(({ kind, end }) => kind === "ask" && end === "waits");
    const kind = hurry ? pick(random, ["time", "answer", "signal"]) : pick(random, ACTS);
    this.#note(kind);
    switch (kind) {
      case "time":
        this.#skipTime();
        return;
      case "signal":
        await this.#signal();
        return;
      case "answer": {
        if (asked.length === 0) return;
        const task = pick(random, asked);
        const { pauses } = (await this.#open().state(this.#thread))!;
        const pause = pauses.find(({ node }) => node === task.name)!;
        task.answer = `answer to ${task.name}`;
        if (task.due !== undefined && task.due <= this.#clock.now()) this.#covered.add("an answer past its deadline");
        const answers = { [pause.id]: task.answer };
        await this.#look("an answer", (engine) => engine.resume(this.#thread, { answers }));
        return;
      }
      case "late answer": {
        const late = this.#run.tasks.find(({ end }) => end === "late");
        const engine = this.#open();
        const pauses = late === undefined ? [] : (await engine.history(this.#thread)).flatMap((one) => one.pauses);
        const pause = pauses.find(({ node }) => node === late?.name);
        if (pause === undefined) return;
        const refused = await engine.resume(this.#thread, { answers: { [pause.id]: "late" } }).then(
          () => undefined,
          (error: { code?: string }) => error.code,
        );
        if (refused !== "NG_BAD_ANSWER") this.problems.push(`W3: a late answer was not refused, but ${refused}`);
        this.#covered.add("a late answer");
        return;
      }
      case "fork": {
        const fromStart = this.#hasStart && chance(random, 0.4);
        this.#hasStart &&= fromStart;
        const engine = this.#open();
        const from = fromStart ? { from: (await engine.history(this.#thread)).at(-1)!.id } : {};
        const as = `t${++this.#forks}`;
        await engine.fork(this.#thread, { ...from, as });
        this.#thread = as;
        this.#run = this.#run.fork(fromStart);
        if (fromStart) this.#run.enter(this.#clock.now());
        this.#covered.add(fromStart ? "a fork from before the wait" : "a fork of a wait");
        return;
      }
      case "break":
        if (chance(random, 0.5)) this.#skipTime();
        else await this.#signal();
        this.#isBroken = true;
        await this.#look("a look that cannot commit", (engine) => engine.resume(this.#thread, { answers: {} }));
        this.#isBroken = false;
        return;
      case "two":
        await this.#wakeTwice();
    }
  }

  #slowOrNot(): Store {
    return chance(this.#random, 0.5) ? this.#store : new SlowStore(this.#store, this.#clock);
  }

  #skipTime(): void {
    const random = this.#random;
    const dues = this.#run.tasks.flatMap(({ due }) => (due === undefined ? [] : [due - this.#clock.now()]));
    const next = chance(random, 0.6) && dues.length > 0 ? pick(random, dues) : below(random, 200_000);
    this.#clock.skip(Math.max(0, next + pick(random, [-1, 0, 1])));
  }

  async #signal(): Promise<void> {
    const random = this.#random;
    if (!this.#run.stages.flat().some((wait) => wait.kind === "receive")) return;
    const id = chance(random, 0.2) && this.#sent > 0 ? `s${below(random, this.#sent)}` : `s${this.#sent++}`;
    // A fork does not know the ids of signals that were taken before it.
    if (this.#run.tasks.some((task) => task.sent?.id === id)) return;
    const sent = { id, name: pick(random, NAMES), value: `signal ${this.#sent}`, place: this.#arrived++ };
    const { added } = await this.#open().signal(this.#thread, sent.name, sent.value, { id });
    const isNew = !this.#run.known.has(id);
    if (added !== isNew) this.problems.push(`W4: signal ${id} is ${added ? "" : "not "}added`);
    this.#covered.add(isNew ? "a signal" : "a repeated signal");
    if (isNew) this.#run.inbox.push(sent);
    this.#run.known.add(id);
  }

  /** Several processes wake what is due. */
  async #wakeTwice(): Promise<void> {
    const open = this.#run.tasks.filter(({ end }) => end === "waits");
    const dues = open.flatMap(({ due }) => (due === undefined ? [] : [due]));
    if (dues.length > 0) this.#clock.skip(Math.max(0, Math.min(...dues) - this.#clock.now()));
    if (!this.#run.isWoken(this.#clock.now())) return;
    this.#covered.add("two wake at once");
    const start = this.#clock.now();
    const both = Promise.all([
      this.#open().due(undefined, { threads: [this.#thread] }),
      this.#open(this.#slowOrNot()).due(undefined, { threads: [this.#thread] }),
    ]);
    const results = (await this.#clock.until(both)).flatMap((each) => each.results).filter(this.#isOwn);
    this.#catchUp(this.#run.look(start, false));
    if (results.filter(({ status }) => status === "completed").length > 1)
      this.problems.push("one thread was woken twice");
  }

  readonly #isOwn = ({ thread }: RunResult): boolean => thread === this.#thread;

  /** A call that runs the thread. Its process may die; the call is then repeated. */
  async #look(what: string, call: (engine: Engine) => Promise<RunResult>): Promise<void> {
    const start = this.#clock.now();
    const isBroken = this.#isBroken;
    this.#covered.add(what);
    if (!isBroken && chance(this.#random, 0.4)) {
      const when = pick(this.#random, ["before", "after"] as const);
      const dying = new DyingStore(this.#store, below(this.#random, 7), when);
      const died = await this.#clock.until(call(this.#open(dying))).then(
        () => false,
        () => true,
      );
      dying.bury(this.#store);
      this.#covered.add(died ? "a process that dies" : "a process that lives");
      this.#note(`${what}: ${died ? "died" : "lived"} ${dying.log.join("; ")}`);
      const head = this.#store.loadLatest(this.#thread);
      if (died && head === undefined) await this.#clock.until(call(this.#open()));
      else if (died && head!.status !== "completed") await this.#again(call);
      let end = this.#run.look(start, false);
      // The repeated call may have looked once more.
      while (!this.#run.isOver && this.#run.isWoken(end)) end = this.#run.look(end, false);
      while (
        (await this.#clock.until(this.#open().due(undefined, { threads: [this.#thread] }))).results.some(this.#isOwn)
      );
      // The repeated call stays for a rest of less than a minute, where the first call paused for the whole time.
      const now = this.#clock.now();
      if (died && now > end) end = this.#run.look(now, false);
      this.#catchUp(end);
      return;
    }
    await this.#clock.until(call(this.#open()));
    this.#catchUp(this.#run.look(start, isBroken));
  }

  /** The engine and the reference interpreter have waited for the same times. */
  #catchUp(end: number): void {
    const now = this.#clock.now();
    if (now > end) this.problems.push(`the engine waited until ${now}, expected ${end}`);
    this.#clock.skip(Math.max(0, end - now));
  }

  /** Repeats a call of a process that has died. An answer that was stored is not given again. */
  async #again(call: (engine: Engine) => Promise<RunResult>): Promise<void> {
    const repeated = await this.#clock.until(call(this.#open())).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    );
    const isKnown = repeated === undefined || repeated === "NG_THREAD_BUSY" || repeated === "NG_BAD_ANSWER";
    if (!isKnown) this.problems.push(`a repeated call fails with ${repeated}`);
    if (repeated !== undefined) await this.#clock.until(this.#open().resume(this.#thread, { answers: {} }));
  }

  /** Wakes the thread until nothing is left to do. */
  async #rest(): Promise<void> {
    for (let count = 0; count < 30; count++) {
      const { status } = (await this.#open().state(this.#thread))!;
      const isOpen = status === "running" || status === "failed";
      const isWoken = !this.#run.isOver && this.#run.isWoken(this.#clock.now());
      if (isOpen) {
        await this.#look("a bare resume", (engine) => engine.resume(this.#thread, { answers: {} }));
        continue;
      }
      const start = this.#clock.now();
      const woken = this.#open().due(undefined, { threads: [this.#thread] });
      const { results, failures } = await this.#clock.until(woken);
      for (const { error } of failures) this.problems.push(`due: ${error.message}`);
      const isSame = results.some(this.#isOwn) === isWoken;
      if (!isSame) this.problems.push(`the thread is ${isWoken ? "not " : ""}woken at ${this.#clock.now()}`);
      if (!isWoken) return;
      this.#covered.add("a thread that is due");
      this.#catchUp(this.#run.look(start, false));
    }
  }

  #note(line: string): void {
    if (process.env["SEED"] !== undefined) console.info(line);
  }

  async #compare(): Promise<void> {
    const { status, state, pauses } = (await this.#open().state(this.#thread))!;
    const run = this.#run;
    const open = run.tasks.filter(({ end }) => end === "waits");
    const wanted = {
      status: run.isOver ? "completed" : "paused",
      log: run.log,
      pauses: open.map(({ name, due }) => [name, due ?? null]),
      inbox: run.inbox.map(({ id }) => id).sort(),
    };
    const found = {
      status,
      log: state["log"],
      pauses: pauses.map(({ node, due }) => [node, due ?? null]),
      inbox: this.#store
        .getSignals(this.#thread)
        .map(({ id }) => id)
        .sort(),
    };
    this.#covered.add(`status: ${status}`);
    if (run.tasks.some(({ end }) => end === "late")) this.#covered.add("a deadline beside other waits");
    const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
    if (a !== b) this.problems.push(`found ${a}\nexpected ${b}`);
  }

  #open(store: Store = this.#store): Engine {
    const options: EngineOptions = {
      store,
      clock: this.#clock,
      wake: false,
      onEvent: (event) =>
        this.#note(`    ${JSON.stringify({ ...event, seq: 0, runId: 0, namespace: 0, thread: 0 }).slice(0, 150)}`),
      builtins: { ask, receive, sleep },
      functions: {
        collect: (current: readonly unknown[], update: unknown) => {
          if (this.#isBroken) throw new Error("broken");
          return [...current, update];
        },
      },
    };
    return this.#subject.createEngine(this.#table, options);
  }
}

const ACTS = [
  "time",
  "time",
  "time",
  "signal",
  "signal",
  "answer",
  "answer",
  "late answer",
  "fork",
  "break",
  "two",
] as const;

function randomStages(random: Random): readonly (readonly Wait[])[] {
  return Array.from({ length: 1 + below(random, 4) }, (_, stage) =>
    Array.from({ length: 1 + below(random, 3) }, (__, index): Wait => {
      const name = `n${stage}_${index}`;
      const ms = 1000 * (1 + below(random, chance(random, 0.4) ? 60 : 200));
      const kind = pick(random, ["sleep", "ask", "receive"] as const);
      if (kind === "sleep") return { name, kind, ms };
      const deadline = chance(random, 0.6) ? { ms } : {};
      return { name, kind, ...deadline, ...(kind === "receive" ? { signal: pick(random, NAMES) } : {}) };
    }),
  );
}

function textOf(stages: readonly (readonly Wait[])[]): string {
  const lines = ["graph g {", "  output log: json = [] reduce collect"];
  const hasLate = ({ kind, ms }: Wait): boolean => kind !== "sleep" && ms !== undefined;
  for (const wait of stages.flat()) {
    const policies = hasLate(wait) ? ` { within ${wait.ms}ms }` : "";
    if (wait.kind === "sleep") lines.push(`  node ${wait.name} = sleep(${wait.ms})`);
    else {
      const call = wait.kind === "ask" ? `ask("${wait.name}")` : `receive("${wait.signal}")`;
      lines.push(`  node ${wait.name} = ${call} into log${policies}`);
    }
    if (hasLate(wait)) lines.push(`  node late_${wait.name} = "late ${wait.name}" into log`);
  }
  lines.push(`  start -> ${stages[0]!.map(({ name }) => name).join(", ")}`);
  for (const [index, stage] of stages.entries()) {
    for (const wait of stage) if (hasLate(wait)) lines.push(`  ${wait.name} -> late_${wait.name} on error`);
    const next = stages[index + 1];
    if (next === undefined) continue;
    const members = stage.map((wait) => (hasLate(wait) ? `any(${wait.name}, late_${wait.name})` : wait.name));
    const from = members.length === 1 ? members[0]! : `all(${members.join(", ")})`;
    lines.push(`  ${from} -> ${next.map(({ name }) => name).join(", ")}`);
  }
  return [...lines, "}"].join("\n");
}
