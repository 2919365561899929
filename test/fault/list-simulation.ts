/**
 * Simulates a user who edits the list of a `for` node while its items are in progress: some have a result, some ask, some have failed,
 * and some were cut off by a process that died. The list is in the state, in the graph, or what a function returns. `ListRun` is the
 * reference interpreter: it reads from the store what a dead process has stored, and says what the next one does with it.
 */
import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Engine, RunResult } from "../../runtime/interface/engine-options.ts";
import type { PauseItem } from "../../runtime/interface/checkpoint.ts";
import type { MemoryStore } from "../../runtime/stores/memory.ts";
import type { Json } from "../../runtime/value/json.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { tableOf } from "../support/graph.ts";
import { Life, type Body } from "./list-life.ts";
import { ListRun, nameOf, type ItemName, type ListVersion } from "./list-run.ts";
import { liveThrough } from "./live-through.ts";
import { keyOf, withDigest } from "./task-names.ts";
import { below, chance, pick, randomOf, type Random } from "./random.ts";
import type { Subject } from "./simulate.ts";

/** The problems of a seed; the features that it met are added to `covered`. */
export function simulateLists(subject: Subject, seed: number, covered = new Set<string>()): Promise<string[]> {
  return liveThrough(new Simulation(subject, randomOf(seed), covered));
}

/** A long item is identified by a digest everywhere. */
const CONTENTS = ["a", "b", "c", "d", "long ".repeat(21)] as const;
const LATER = 3_600_000;
const ACTS = 9;

class Simulation {
  readonly problems: string[] = [];
  readonly #random: Random;
  readonly #covered: Set<string>;
  readonly #subject: Subject;
  readonly #store: MemoryStore;
  readonly #run: ListRun;
  /** Contents that fail at present, and those that ask. */
  readonly #broken = new Set<string>();
  readonly #asking = new Set<string>();
  readonly #attempted = new Set<ItemName>();
  readonly #tables = new Map<string, ReturnType<typeof tableOf>>();
  #now = 0;
  #thread = "t";
  #serial = 0;
  #life: Life | undefined;

  constructor(subject: Subject, random: Random, covered: Set<string>) {
    this.#subject = subject;
    this.#random = random;
    this.#covered = covered;
    this.#store = subject.makeStore(() => this.#now);
    const version: ListVersion = {
      body: chance(random, 0.3) ? "graph" : "function",
      source: chance(random, 0.6) ? "channel" : pick(random, ["expression", "function"]),
      expression: ["d", ...this.#list()],
      leavesOut: chance(random, 0.2) ? pick(random, CONTENTS) : undefined,
      parallel: chance(random, 0.3) ? 1 + below(random, 3) : undefined,
      hasSide: chance(random, 0.3),
    };
    this.#run = new ListRun(version, this.#list(), this.#list());
    for (const content of CONTENTS) if (chance(random, 0.25)) this.#asking.add(content);
    this.#breakSome();
  }

  async live(): Promise<void> {
    const run = this.#run;
    const { xs } = run;
    this.#note(textOf(run.version));
    this.#note(`xs ${JSON.stringify(xs)}, made ${JSON.stringify(run.made)}`);
    for (let mayDie = true; this.#store.loadLatest("t") === undefined; mayDie = false)
      await this.#liveThrough((engine) => engine.run({ xs: [...xs] }, { thread: "t" }), new Map(), mayDie);
    for (let act = 0; act < ACTS && !this.#isOver; act++) {
      while (chance(this.#random, 0.6)) await this.#edit();
      if (chance(this.#random, 0.3)) this.#breakSome();
      await this.#resume(true);
    }
    this.#broken.clear();
    for (let act = 0; act < 4 && !this.#isOver; act++) await this.#resume(false);
    if (!this.#isOver) this.problems.push(`the run is ${run.status} after all`);
  }

  get #isOver(): boolean {
    return this.problems.length > 0 || this.#run.status === "completed";
  }

  #list(): readonly string[] {
    return Array.from({ length: below(this.#random, 6) }, () => pick(this.#random, CONTENTS));
  }

  #breakSome(): void {
    this.#broken.clear();
    for (const what of [...CONTENTS, "side"]) if (chance(this.#random, 0.15)) this.#broken.add(what);
  }

  /** Another list: some items of the old one, at other places, and others. */
  #edited(old: readonly string[]): readonly string[] {
    const random = this.#random;
    const list = old.filter(() => chance(random, 0.85));
    if (chance(random, 0.5)) list.push(...list.splice(0, below(random, list.length + 1)));
    if (chance(random, 0.3)) list.reverse();
    for (let count = below(random, 3); count > 0; count--)
      list.splice(below(random, list.length + 1), 0, pick(random, CONTENTS));
    return list;
  }

  async #edit(): Promise<void> {
    const random = this.#random;
    const run = this.#run;
    const { version } = run;
    const inProgress = this.#inProgress;
    const edit = pick(random, ["update", "update", "update", "fork", "expression", "function", "condition"] as const);
    switch (edit) {
      case "fork":
        // The checkpoints of a called graph belong to a thread.
        if (version.body === "graph") return;
        await this.#fork();
        break;
      case "update": {
        const xs = this.#edited(run.xs);
        await this.#open().update(this.#thread, { xs: [...xs] }, { replace: true });
        run.update(xs);
        break;
      }
      case "expression": {
        const present = { channel: run.xs, expression: version.expression, function: run.made }[version.source];
        const source = chance(random, 0.7) ? "expression" : pick(random, ["channel", "function"] as const);
        const edited = this.#edited(present);
        run.version = { ...version, source, expression: edited.length === 0 ? ["a"] : edited };
        break;
      }
      case "function":
        run.made = this.#edited(run.made);
        break;
      case "condition":
        run.version = { ...version, leavesOut: chance(random, 0.5) ? pick(random, CONTENTS) : undefined };
        break;
    }
    for (const state of inProgress) this.#covered.add(`${edit} while items ${state}`);
    this.#note(`${edit}: ${textOf(run.version)}\n  xs ${JSON.stringify(run.xs)}, made ${JSON.stringify(run.made)}`);
  }

  async #fork(): Promise<void> {
    const as = `t${++this.#serial}`;
    await this.#open().fork(this.#thread, { as });
    this.#thread = as;
  }

  /** The states of the items before an edit. */
  get #inProgress(): readonly string[] {
    const { asked, begun, results } = this.#run;
    const cut = this.#life?.isDead === true && [...this.#life.started].some((name) => !this.#life!.ends.has(name));
    return [
      ...(results.size > 0 ? ["have results"] : []),
      ...(asked.size > 0 ? ["ask"] : []),
      ...(begun.size > 0 ? ["have failed"] : []),
      ...(cut ? ["are cut off"] : []),
    ];
  }

  async #resume(mayDie: boolean): Promise<void> {
    const { pauses } = (await this.#open().state(this.#thread))!;
    const found = pauses.map((pause) => nameOfPause(pause)).sort();
    const wanted = [...this.#run.questions].sort();
    if (String(found) !== String(wanted)) this.problems.push(`${String(found)} wait, expected ${String(wanted)}`);
    const given = pauses.filter(() => !mayDie || chance(this.#random, 0.5));
    const answers = given.map((pause): [string, string] => [pause.id, `answer ${++this.#serial}`]);
    const byItem = new Map(given.map((pause, at) => [nameOfPause(pause), answers[at]![1]]));
    const call = (engine: Engine): Promise<RunResult> =>
      engine.resume(this.#thread, { answers: Object.fromEntries(answers) });
    await this.#liveThrough(call, byItem, mayDie);
  }

  /** A process that makes a call. Its bodies end in a random order, and it may die at any write and at any time. */
  async #liveThrough(
    call: (engine: Engine) => Promise<RunResult>,
    given: ReadonlyMap<ItemName, string>,
    mayDie: boolean,
  ): Promise<void> {
    const random = this.#random;
    const before = this.#store.loadLatest(this.#thread)?.id;
    const dies = mayDie && chance(random, 0.75);
    const atWrite = dies && chance(random, 0.6) ? below(random, 9) : Number.POSITIVE_INFINITY;
    const store = new CrashingStore(this.#store, atWrite, pick(random, ["before", "after"]));
    const lasts = dies ? below(random, 9) : Number.POSITIVE_INFINITY;
    // An answer is durable before a body receives it, so the bodies below may already be those of answered items.
    const open = new ListRun(this.#run.version, this.#run.xs, this.#run.made);
    Object.assign(open, this.#run, { answers: new Map([...this.#run.answers, ...given]) });
    const life: Life = new Life(store, open);
    this.#life = life;
    this.#note(`life: broken ${[...this.#broken].join()}, answers ${JSON.stringify([...given])}`);
    // A person cancels the run, or the engine is drained: with a deadline that ends its bodies, or without one.
    const stops = !mayDie || dies || chance(random, 0.6) ? undefined : pick(random, ["cancel", "drain", "deadline"]);
    const stopsAt = stops === undefined ? Number.POSITIVE_INFINITY : below(random, 6);
    let result: RunResult | undefined;
    let failure: unknown;
    let isSettled = false;
    const engine = this.#open(life);
    call(engine)
      .then(
        (ended) => (result = ended),
        (error: unknown) => (failure = error),
      )
      .finally(() => (isSettled = true));
    for (let turn = 0; !store.dead && !isSettled; turn++) {
      await settle();
      if (isSettled || store.dead) break;
      if (turn === stopsAt) {
        this.#note(`  ${stops!}`);
        this.#covered.add(`a ${stops!}`);
        life.isStopped = true;
        if (stops !== "drain") life.bodies.length = 0;
        if (stops === "cancel") engine.cancel(this.#thread);
        else void engine.drain(stops === "drain" ? {} : { deadline: 0 });
      } else if (turn >= lasts) store.dead = true;
      else if (life.bodies.length === 0) {
        this.problems.push("the run hangs");
        return;
      } else for (let count = 1 + below(random, 3); count > 0 && life.bodies.length > 0; count--) this.#endOne(life);
    }
    await settle();
    life.isDead = store.dead;
    this.#note(store.dead ? "  died" : `  ${result?.status ?? String(failure)}`);
    this.#absorb(life, before, given);
    if (store.dead) this.#now += LATER;
    else if (failure !== undefined) this.problems.push(`the call failed: ${String(failure)}`);
    else this.#compare(life, result!, this.#store.loadLatest(this.#thread)?.id === before);
  }

  #endOne(life: Life): void {
    const [body] = life.bodies.splice(below(this.#random, life.bodies.length), 1);
    body!.end();
  }

  /** Takes over what the process has made durable. */
  #absorb(life: Life, before: string | undefined, given: ReadonlyMap<ItemName, string>): void {
    const run = this.#run;
    const head = this.#store.loadLatest(this.#thread);
    // Not even the input.
    if (head === undefined) return;
    for (const { number, item } of life.items) {
      const { values, status } = this.#store.loadLatest(this.#thread, `every[${number}]`) ?? {};
      if (values?.["x"] !== item) continue;
      const [mid, y] = [values["mid"], values["y"]].map((value) =>
        value === "" ? undefined : (value as string | undefined),
      );
      run.calls.set(number, { item, mid, asks: status === "paused", y });
    }
    const isLeft = head.id !== before && (head.phase === "interrupted" || head.status === "completed");
    const writes = this.#store.getWrites(this.#thread, head.id);
    for (const [name, answer] of given) {
      const isStored = writes.some(({ taskId }) => taskId.startsWith(`answer:every[${Number.parseInt(name, 10)}]`));
      if (isLeft || isStored) run.answers.set(name, answer);
    }
    if (isLeft) {
      run.leave(life);
      return;
    }
    // The number of such an item is durable before it begins.
    for (const each of life.displaced) if (life.started.has(nameOf(each))) run.begun.add(nameOf(each));
    for (const { taskId } of writes) {
      if (taskId === "side") run.hasSideEnded = true;
      const kept = Number(/^part:every\[(\d+)\]#/.exec(taskId)?.[1] ?? -1);
      for (const each of life.displaced) if (each.number === kept) run.begun.add(nameOf(each));
      const number = Number(/^every\[(\d+)\]$/.exec(taskId)?.[1] ?? -1);
      const item = life.items.find((each) => each.number === number);
      const end = item && life.ends.get(nameOf(item));
      if (item === undefined || typeof end !== "object") continue;
      run.results.set(number, { item: item.item, value: end.value });
      // The question of an item that is gone ends with the result of another one under its number. A called graph keeps its own.
      if (run.version.body === "graph") continue;
      for (const name of run.asked) if (Number.parseInt(name, 10) === number) run.asked.delete(name);
    }
  }

  /** What a process that has not died returns. */
  #compare(life: Life, result: RunResult, isUnchanged: boolean): void {
    const run = this.#run;
    // A run that stops before its first body leaves the thread as it was.
    if (life.isStopped && isUnchanged && result.status === "cancelled") return;
    if (result.status !== run.status) this.problems.push(`${result.status}, expected ${run.status}`);
    for (const item of life.isStopped ? [] : life.expected)
      if (!life.started.has(nameOf(item))) this.problems.push(`${nameOf(item)} has not run`);
    const [found, wanted] = [result.pauses.map((pause) => nameOfPause(pause)), [...run.questions]];
    if (result.status === "paused" && String(found.sort()) !== String(wanted.sort()))
      this.problems.push(`${String(found)} ask, expected ${String(wanted)}`);
    if (result.status !== "completed") return;
    const [out, expected] = [JSON.stringify(result.output["out"]), JSON.stringify(run.output)];
    if (out !== expected) this.problems.push(`the output is ${out}, expected ${expected}`);
    this.#covered.add("a completed run");
  }

  /** A body begins. */
  #begin(
    life: Life,
    node: "item" | "first" | "second" | "side",
    x: string,
    mid: string,
    context: NodeContext,
  ): unknown {
    if (life.store.dead) return new Promise(() => undefined);
    const of =
      node === "side"
        ? node
        : life.take(node, x, ({ number }) => this.#keyOf(node, number, x) === context.idempotencyKey);
    this.#note(`  ${node} of ${of === undefined ? `${x} ${mid}` : of === "side" ? of : nameOf(of)}`);
    if (of === undefined) {
      this.problems.push(`5.4, 5.5: ${node} of ${x} has another key, or has ended, or waits`);
      return x;
    }
    if (of === "side") {
      if (this.#run.hasSideEnded) this.problems.push("5.4: side runs again");
    } else {
      if (this.#attempted.has(nameOf(of))) this.#covered.add("a further attempt");
      this.#attempted.add(nameOf(of));
    }
    const serial = ++this.#serial;
    return new Promise((resolve, reject) => {
      const end = (): void => {
        try {
          resolve(this.#endOf(life, node, of, `${serial}`, mid, context));
        } catch (error) {
          reject(error as Error);
        }
      };
      life.bodies.push({ of, end });
    });
  }

  #endOf(life: Life, node: string, of: Body["of"], serial: string, mid: string, context: NodeContext): Json {
    if (of === "side") {
      life.sideEnd = this.#broken.has(of) ? "failed" : "done";
      if (life.sideEnd === "failed") throw new Error("broken");
      return serial;
    }
    if (node === "first") {
      life.continues(of);
      return serial;
    }
    const { item } = of;
    if (this.#broken.has(item)) {
      life.ends.set(nameOf(of), "failed");
      throw new Error("broken");
    }
    life.ends.set(nameOf(of), "asks");
    const answer = this.#asking.has(item) ? context.interrupt<string>(item) : "";
    const value = `${item} ${mid} ${serial} ${answer}`;
    life.ends.set(nameOf(of), { value });
    return value;
  }

  /** 5.5: the key of a body, which the number of its item determines. */
  #keyOf(node: string, number: number, x: string): string {
    const { runId } = this.#store.loadLatest(this.#thread)!;
    const task = `${withDigest(`every[${number}]`, x)}@0`;
    return keyOf(
      node === "item" ? `${runId}:${task}` : `${runId}/${task}:${node === "first" ? "first@0" : "second@1"}`,
    );
  }

  #open(life?: Life): Engine {
    const { version, made } = this.#run;
    const text = textOf(version);
    let table = this.#tables.get(text);
    if (table === undefined) this.#tables.set(text, (table = tableOf(text, FUNCTIONS)));
    const begin = (node: "item" | "first" | "second" | "side", x: string, mid: string, context: NodeContext): unknown =>
      this.#begin(life!, node, x, mid, context);
    return this.#subject.createEngine(table, {
      store: life?.store ?? this.#store,
      wake: false,
      clock: {
        now: () => this.#now,
        setTimeout: (work, delay) => (delay === 0 ? setImmediate(work) : undefined),
        clearTimeout: () => undefined,
      },
      functions: {
        item: (x: string, context: NodeContext) => begin("item", x, "", context),
        first: (x: string, context: NodeContext) => begin("first", x, "", context),
        second: (x: string, mid: string, context: NodeContext) => begin("second", x, mid, context),
        side: (context: NodeContext) => begin("side", "", "", context),
        made: () => [...made],
      },
    });
  }

  #note(line: string): void {
    if (process.env["SEED"] !== undefined) console.info(line);
  }
}

const FUNCTIONS = ["item", "first", "second", "side", "made"];

function textOf({ body, source, expression, leavesOut, parallel, hasSide }: ListVersion): string {
  const list = { channel: "xs", expression: JSON.stringify(expression), function: "made()" }[source];
  const condition = leavesOut === undefined ? "" : ` if x + "" != ${JSON.stringify(leavesOut)}`;
  const policies = parallel === undefined ? "" : ` { max parallel ${parallel} }`;
  const [call, into] = body === "function" ? ["item(x)", "out"] : ["sub(x: x)", "{ y: out }"];
  const side = hasSide ? "  node side = side() into note\n" : "";
  return `graph sub { input x: string  state mid: string = ""  output y: string = ""
  node first = first(x) into mid
  node second = second(x, mid) into y
  start -> first -> second }
graph g { input xs: string[]  output out: string[] = [] reduce append  output note: string | null
  node every = ${call} for x in ${list}${condition} into ${into}${policies}
${side}  start -> every${hasSide ? ", side" : ""} }`;
}

/** The item that a question is about. */
function nameOfPause({ taskId = "", namespace, payload }: PauseItem): ItemName {
  const [, number] = /\[(\d+)\]/.exec(namespace[0] ?? taskId)!;
  return nameOf({ number: Number(number), item: String(payload) });
}

/** Lets the engine react. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve));
}
