/**
 * Rules R1 to R6 for a process that dies before or after each of its writes: the rollback of each case of
 * `rollback-cases.ts`, and what the thread, the store and the undo functions must show.
 */
import type { Engine, EngineOptions, FunctionRegistry, NodeContext, RunResult, Store } from "../../runtime/index.ts";
import { createEngine } from "../../runtime/index.ts";
import type { Table } from "../../runtime/index.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { ask } from "../../stdlib/nodes/ask.ts";
import { CrashingStore } from "../support/crashing-store.ts";
import { tableOf } from "../support/graph.ts";
import { ROLLBACK_CASES, type RollbackCase } from "./rollback-cases.ts";

/** Where the first process dies, and what the next one does first with a thread that has not ended. */
interface Death {
  /** Number of writes that succeed. */
  readonly left: number;
  readonly when: "before" | "after";
  readonly next: "resume" | "rollback";
}

/** An engine, and an empty store for each thread. */
export interface RollbackSubject {
  readonly createEngine: (table: Table, options: EngineOptions) => Engine;
  readonly makeStore: (now: () => number) => Store;
  /** A store with a clock of its own: waits until the claim of a dead process has lapsed. */
  readonly outlive?: (leaseMs: number) => Promise<void>;
  /** Default 1000. */
  readonly leaseMs?: number;
}

const RELIABLE: RollbackSubject = { createEngine, makeStore: (now) => new MemoryStore({ now }) };
const NO_DEATH: Death = { left: Infinity, when: "before", next: "resume" };
const THREAD = "t";

/**
 * The problems of the first case that has some.
 *
 * @param every of the places where a process can die, each `every`th is tried
 */
export async function simulateRollbacks(
  subject: RollbackSubject = RELIABLE,
  every = 1,
  cases = ROLLBACK_CASES,
): Promise<readonly string[]> {
  const problems: string[] = [...(await changeUndo(subject))];
  for (const each of cases) {
    const whole = await rollBackOnce(subject, each, NO_DEATH);
    problems.push(...whole.problems.map((problem) => `${each.name}: ${problem}`));
    if (problems.length > 0) return problems;
    let turn = 0;
    for (let left = 0; left < whole.writes; left++) {
      for (const when of ["before", "after"] as const) {
        for (const next of ["resume", "rollback"] as const) {
          if (turn++ % every !== 0) continue;
          const { problems: found } = await rollBackOnce(subject, each, { left, when, next });
          problems.push(
            ...found.map((problem) => `${each.name}, ${next} after death ${when} write ${left}: ${problem}`),
          );
        }
      }
    }
  }
  return problems;
}

/** One thread, from its first run to the end of its rollback. */
async function rollBackOnce(
  subject: RollbackSubject,
  each: RollbackCase,
  death: Death,
): Promise<{ readonly problems: readonly string[]; readonly writes: number }> {
  const world = new World(subject, each);
  try {
    const from = await world.prepare();
    const dying = await world.live(death, from);
    await world.live({ ...NO_DEATH, next: death.next }, from);
    await world.check(death);
    return { problems: world.problems, writes: dying.log.length };
  } catch (error) {
    return { problems: [...world.problems, String(error)], writes: 0 };
  }
}

interface Call {
  readonly label: string;
  readonly key: string;
  readonly args: readonly unknown[];
}

/** What outlives a process: the store, and what the functions have done. */
class World {
  readonly problems: string[] = [];
  readonly #subject: RollbackSubject;
  readonly #case: RollbackCase;
  readonly #leaseMs: number;
  readonly #table: Table;
  readonly #disk: Store;
  #now = 0;
  #secret = "SECRET";
  #store: CrashingStore;
  /** Keys of the tasks that have returned, with their labels. */
  readonly #done = new Map<string, string>();
  /** All calls of undos that have returned. */
  readonly #undone: Call[] = [];
  /** Keys of the undos that the present process has finished. */
  #ownUndone: string[] = [];
  /** Labels in the order of the calls of the present rollback. */
  #order: string[] = [];
  readonly #hasFailed = new Set<string>();
  /** Keys of undos that a store had at the death of a process. */
  #stored: ReadonlySet<string> = new Set();
  readonly #marked = new Set<string>();

  constructor(subject: RollbackSubject, each: RollbackCase) {
    this.#subject = subject;
    this.#case = each;
    this.#leaseMs = subject.leaseMs ?? 1000;
    this.#table = tableFor(each.text);
    this.#disk = subject.makeStore(() => this.#now);
    this.#store = new CrashingStore(this.#disk, Infinity);
  }

  /** Runs the branch before a fork. Returns the checkpoint to fork from. */
  async prepare(): Promise<string | undefined> {
    const { forkAfter } = this.#case;
    if (forkAfter === undefined) return undefined;
    const engine = this.#engine();
    await engine.run({}, { thread: THREAD });
    await this.#endProcess();
    const history = await engine.history(THREAD);
    return history.find(({ currentNodes }) => currentNodes.includes(forkAfter))!.id;
  }

  /** One process: drives the thread to its end, or dies. */
  async live({ left, when, next }: Death, from: string | undefined): Promise<CrashingStore> {
    const dying = (this.#store = new CrashingStore(this.#disk, left, when));
    const engine = this.#engine();
    const start = from === undefined ? undefined : this.#startOfFork;
    try {
      for (let turn = 0; turn < 5; turn++) {
        const head = await this.#disk.loadLatest(THREAD);
        this.#order = [];
        let result: RunResult;
        if (head === undefined) result = await engine.run({}, { thread: THREAD });
        else if (from !== undefined && head.id === start) result = await engine.resume(THREAD, { from });
        else if (head.status === "rolled_back") break;
        else if (head.status === "running" && next === "resume") result = await engine.resume(THREAD);
        else result = await engine.rollback(THREAD);
        if (dying.dead) break;
        for (const { key } of result.rollback?.undone ?? []) this.#marked.add(key);
      }
    } catch (error) {
      if (!dying.dead) this.#problem(String(error));
    }
    await this.#endProcess();
    return dying;
  }

  async check({ next, left }: Death): Promise<void> {
    const { expected, replaced = [], failing } = this.#case;
    const head = await this.#disk.loadLatest(THREAD);
    if (head?.status !== "rolled_back") this.#problem(`the thread is ${head?.status}`);
    // R3: nothing is left to run.
    const open = { nodes: head?.nextNodes, sends: head?.pendingSends, barriers: head?.barrierState };
    if (JSON.stringify(open) !== `{"nodes":[],"sends":[],"barriers":{}}`)
      this.#problem(`left: ${JSON.stringify(open)}`);
    const undone = new Map(this.#undone.map(({ key, args }) => [key, args]));
    // R5: the undo of a call replaces those of the graph that it has called.
    const isReplaced = (label: string | undefined): boolean =>
      replaced.includes(label ?? "") && this.#undone.some((call) => isOfCall(call.label));
    for (const key of this.#stored) {
      if (!undone.has(key) && !isReplaced(this.#done.get(key.slice(5))))
        this.#problem(`${key} was stored and is not undone`);
    }
    for (const { label } of this.#undone) if (isReplaced(label)) this.#problem(`${label} is undone beside its call`);
    if (next === "resume" || left === Infinity) {
      // R2: everything is undone. A called graph that ran twice is undone twice.
      for (const args of expected) {
        const count = (all: Iterable<readonly unknown[]>): number =>
          [...all].filter((other) => JSON.stringify(other) === JSON.stringify(args)).length;
        if (count(undone.values()) < count(expected))
          this.#problem(`no undo of ${JSON.stringify(args)}, only ${JSON.stringify([...undone.values()])}`);
      }
      for (const [key, label] of this.#done) {
        if ((await this.#isDone(`undo:${key}`)) || isReplaced(label)) continue;
        this.#problem(`\`${label}\` is not undone under undo:${key}`);
      }
    }
    for (const label of this.#done.values()) if (failing.includes(label)) this.#problem(`${label} has not failed`);
    const count = this.#undone.length;
    const again = await this.#engine().rollback(THREAD);
    if (again.status !== "rolled_back" || this.#undone.length !== count) this.#problem("another rollback undoes more");
    if ((await this.#text()).includes("SECRET")) this.#problem("the store has the secret");
  }

  #engine(): Engine {
    const { failing, failingUndos = [] } = this.#case;
    const functions: FunctionRegistry = {
      reserve: (label: string, ...rest: unknown[]) => {
        const { idempotencyKey } = rest.at(-1) as NodeContext;
        if (failing.includes(label)) throw new Error(`${label} is down`);
        this.#done.set(idempotencyKey, label);
        return label;
      },
      cancel: async (...given: unknown[]) => {
        const { idempotencyKey: key } = given.pop() as NodeContext;
        const label = String([given[0]].flat()[0]);
        await this.#beforeUndo(label, key, given);
        if (failingUndos.includes(label) && !this.#hasFailed.has(label)) {
          this.#hasFailed.add(label);
          throw new Error(`${label} cannot be undone now`);
        }
        this.#undone.push({ label, key, args: given });
        this.#ownUndone.push(key);
        return null;
      },
      spread: (context: NodeContext) => context.send("worker", "x"),
    };
    const used = new Set(this.#case.text.match(/\w+(?=\()/g));
    return this.#subject.createEngine(this.#table, {
      functions: Object.fromEntries(Object.entries(functions).filter(([name]) => used.has(name))),
      builtins: { ask },
      store: this.#store,
      leaseMs: this.#leaseMs,
      secrets: { TOKEN: this.#secret },
    });
  }

  /** What must be true whenever an undo starts. */
  async #beforeUndo(label: string, key: string, args: readonly unknown[]): Promise<void> {
    const { expected, namespace, replaced = [] } = this.#case;
    // R4: it has the key of its task, and no undo that is stored runs again.
    const task = key.startsWith("undo:") ? this.#done.get(key.slice(5)) : undefined;
    if (task !== label && !(isOfCall(label) && key.startsWith("undo:")))
      this.#problem(`the undo of ${label} has the key ${key}`);
    if (await this.#isDone(key)) this.#problem(`${label} is undone again`);
    for (const other of this.#ownUndone)
      if (!(await this.#isDone(other))) this.#problem(`${other} is not stored before the undo of ${label}`);
    // R1: its arguments are those that were stored.
    const isKnown = expected.some((other) => JSON.stringify(other) === JSON.stringify(args));
    if (!isKnown && !replaced.includes(label))
      this.#problem(`the undo of ${label} has the arguments ${JSON.stringify(args)}`);
    // The rollback is durable, with its entries.
    const heads = [await this.#disk.loadLatest(THREAD)];
    if (namespace !== undefined) heads.push(await this.#disk.loadLatest(THREAD, namespace));
    if (!heads.some((head) => head?.rollsBack === true && JSON.stringify(head.values).includes(JSON.stringify(key))))
      this.#problem(`the rollback is not stored before the undo of ${label}`);
    this.#order.push(label);
    const labels = expected
      .map(([result]) => String([result].flat()[0]))
      .flatMap((each) => (isOfCall(each) ? [each, ...replaced] : [each]));
    if (namespace === undefined && !isSubsequence(this.#order, labels))
      this.#problem(`undone in the order ${this.#order.join(", ")}`);
  }

  async #isDone(key: string): Promise<boolean> {
    if (this.#marked.has(key)) return true;
    const text = await this.#text();
    return text.includes(JSON.stringify(`undone:${key}`)) || isMarked(text, key);
  }

  /** All that is stored. */
  async #text(): Promise<string> {
    const all: unknown[] = [];
    for (const namespace of ["", "call"]) {
      for (const head of await this.#disk.list(THREAD, { namespace }))
        all.push(head, await this.#disk.getWrites!(THREAD, head.id));
    }
    return JSON.stringify(all);
  }

  async #endProcess(): Promise<void> {
    for (const key of this.#ownUndone) if (await this.#isDone(key)) this.#marked.add(key);
    this.#ownUndone = [];
    this.#stored = new Set([...(await this.#text()).matchAll(/"key":"(undo:[^"]+)"/g)].map(([, key]) => key!));
    this.#startOfFork ??= (await this.#disk.loadLatest(THREAD))?.id;
    this.#now += 2 * this.#leaseMs;
    await this.#subject.outlive?.(this.#leaseMs);
  }

  #startOfFork: string | undefined;

  #problem(text: string): void {
    this.problems.push(text);
  }
}

/** A node loses its `undo` while a result of it is to be undone. */
async function changeUndo({ createEngine: create, makeStore }: RollbackSubject): Promise<readonly string[]> {
  const store = makeStore(() => 0);
  const text = (undo: string): string => `graph g { output x: string | null  node one = reserve("one") into x ${undo}
    node bad = reserve("bad")  start -> one -> bad -> end }`;
  const functions: FunctionRegistry = {
    reserve: (label: string) => {
      if (label === "bad") throw new Error("no");
      return label;
    },
    cancel: () => null,
  };
  const engine = (undo: string): Engine => create(tableOf(text(undo), ["reserve", "cancel"]), { functions, store });
  await engine("{ undo cancel(x) }").run({}, { thread: THREAD });
  try {
    await engine("").rollback(THREAD);
    return ["a rollback does not report that a node has lost its `undo`"];
  } catch (error) {
    return String(error).includes("is to be undone") ? [] : [String(error)];
  }
}

/** Whether a checkpoint says that the undo is done. */
function isMarked(text: string, key: string): boolean {
  const entries = text.split(`{"key":${JSON.stringify(key)},`).slice(1);
  return entries.some((rest) => rest.slice(0, rest.indexOf("}")).includes(`"done":true`));
}

/** Whether the undo is that of a node that calls a graph. */
function isOfCall(label: string): boolean {
  return label.startsWith("call ");
}

function isSubsequence(part: readonly string[], whole: readonly string[]): boolean {
  let at = 0;
  for (const item of whole) if (at < part.length && part[at] === item) at++;
  return at === part.length;
}

/** Compiles each text once. */
function tableFor(text: string): Table {
  const used = new Set(text.match(/\w+(?=\()/g));
  let table = tables.get(text);
  if (table === undefined) {
    table = tableOf(
      text,
      ["reserve", "cancel", "spread"].filter((name) => used.has(name)),
    );
    tables.set(text, table);
  }
  return table;
}

const tables = new Map<string, Table>();
