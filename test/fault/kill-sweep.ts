/**
 * Runs `kill-graph.ts` in processes that are killed, checks what each left in the store, and resumes it. Tasks with a
 * stored result never run again, repeated tasks have the same keys, and the result is that of a run without a kill.
 */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { expect } from "vitest";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import type { Store, Table } from "../../runtime/index.ts";
import { runProgram } from "../stores/program.ts";
import { driveToEnd, killEngines, THREAD } from "./kill-graph.ts";
import { type BodyEntry, readLedger } from "./kill-ledger.ts";
import type { KillPlace } from "./kill-place.ts";
import type { KillPoint } from "./kill-points.ts";

/** The graph, the graphs that it calls in steps 5 and 14, and `finally` parts, with the ids of their runs. */
const RUNS: ReadonlyMap<string, string> = new Map([
  ["", ""],
  ["call", "/call@5"],
  ["call/finally", "/call@5/finally@1"],
  ["trip", "/trip@14"],
  ["finally", "/finally@1"],
]);

export interface Trial {
  readonly place: KillPlace;
  readonly table: Table;
  /** The file with the table. */
  readonly tableFile: string;
  readonly ledger: string;
  /** The point at which each process kills itself, in order; NEVER for a process that does not. */
  readonly kills: readonly number[];
  /** Another `run-and-die` program, for a planted engine. */
  readonly program?: URL;
}

export const NEVER = -1;

export interface TrialEnd {
  /** The result as text, equal for all runs of the graph; `undefined` for a trial that does not recover. */
  readonly result: string | undefined;
  /** Number of processes that were really killed. */
  readonly killed: number;
  /** After each kill: everything that the recovery can see. */
  readonly left: readonly string[];
}

/**
 * Kills, checks and resumes; then completes the run in this process.
 *
 * @param seen states that earlier trials have reached
 * @param recovers whether to recover from the state that the first kill has left; otherwise the trial ends with it, without a result
 */
export async function runTrial(
  trial: Trial,
  seen: Seen = nothingSeen(),
  recovers: (left: string) => boolean = () => true,
): Promise<TrialEnd> {
  const left: string[] = [];
  let killed = 0;
  try {
    for (const dieAt of trial.kills) {
      if ((await runUntil(trial, dieAt)) === undefined) killed++;
      left.push(await lookAt(trial, seen));
      if (left.length === 1 && !recovers(left[0]!)) return { result: undefined, killed, left };
    }
    const store = trial.place.open();
    try {
      await driveToEnd(killEngines(trial.table, store, trial.ledger));
      expectNothingRepeated(trial, seen);
      return { result: await readResult(trial, store, seen), killed, left };
    } finally {
      await store.close?.();
    }
  } finally {
    await trial.place.remove();
    rmSync(trial.ledger, { force: true });
  }
}

const PROGRAM = new URL("programs/run-and-die.ts", import.meta.url);

/**
 * The points of a process that completed; `undefined` if it was killed.
 *
 * @param pictures a directory for `kill-pictures.ts`
 */
export async function runUntil(
  trial: Trial,
  dieAt: number,
  ...pictures: readonly string[]
): Promise<readonly KillPoint[] | undefined> {
  const { place, tableFile, ledger, program: file = PROGRAM } = trial;
  const program = runProgram(file, place.name, tableFile, ledger, String(dieAt), ...pictures);
  const line = await program.line();
  const end = await program.ended;
  if (end === "SIGKILL" && line === undefined) return undefined;
  // 5.6: a resume takes over the claim of a killed process at once; otherwise this one would be refused.
  expect(program.errors()).toBe("");
  expect(end).toBe(0);
  return JSON.parse(line ?? "") as KillPoint[];
}

/** The state at the previous check. */
export interface Seen {
  /** Keys of the tasks with a stored result. */
  readonly stored: Set<string>;
  entries: number;
  /** Ids of checkpoints by namespace, newest first. */
  readonly chains: Map<string, readonly string[]>;
  /** Ids of pauses by node. */
  readonly pauses: Map<string, string>;
}

export function nothingSeen(): Seen {
  return { stored: new Set(), entries: 0, chains: new Map(), pauses: new Map() };
}

/** Checks the state that a killed process has left, and returns it as text. */
export async function lookAt(trial: Trial, seen: Seen): Promise<string> {
  expectNothingRepeated(trial, seen);
  const { store, traces, close } = await trial.place.look();
  try {
    const entries = readLedger(trial.ledger);
    const head = await store?.loadLatest(THREAD);
    if (entries.length > 0) expect(head, "5.2: a body ran, and the input is not there").toBeDefined();
    if (store === undefined || head === undefined) return traces;
    expect(head.status === "running" || head.pauses.length > 0 || head.status === "completed").toBe(true);
    const found: unknown[] = [];
    const kept = new Map<string, ReadonlySet<string>>();
    for (const [namespace, history] of await readChains(store, seen)) {
      const newest = history[0]!;
      const finished = new Set(
        history.flatMap(({ phase, step }) => (phase === "input" || phase === "interrupted" ? [] : [step])),
      );
      for (const { key, step, namespace: of } of bodies(trial)) {
        const isDone = isUndo(key) ? newest.status === "rolled_back" : finished.has(step);
        if (of === namespace && isDone) seen.stored.add(key);
      }
      const writes = await store.getWrites!(THREAD, newest.id);
      found.push(history, writes);
      kept.set(newest.id, new Set(writes.map(({ taskId }) => taskId)));
      for (const { taskId } of [...writes, ...(newest.finished ?? [])]) {
        if (taskId.startsWith("undone:")) seen.stored.add(taskId.slice("undone:".length));
        const step = newest.phase === "interrupted" ? newest.step : newest.step + 1;
        seen.stored.add(keyOf(`${head.runId}${RUNS.get(namespace)!}:${taskId}@${step}`));
      }
    }
    // 5.3: results that the store confirmed still exist.
    for (const entry of entries) {
      if (entry.event === "saved") expect(seen.chains.get(entry.namespace), "5.3: lost").toContain(entry.id);
      if (entry.event !== "kept") continue;
      // Otherwise a newer checkpoint has replaced it.
      const still = kept.get(entry.checkpoint);
      for (const task of entry.tasks)
        if (still !== undefined) expect(still.has(task), `5.3: ${task} is lost`).toBe(true);
    }
    return JSON.stringify([head.status, traces, JSON.parse(withoutNames(found, [head]))]);
  } finally {
    await close();
  }
}

/** 5.6: each chain is one line without branches, and only grows at its head. */
async function readChains(store: Store, seen: Seen): Promise<ReadonlyMap<string, readonly Checkpoint[]>> {
  const histories = new Map<string, readonly Checkpoint[]>();
  let count = 0;
  for (const namespace of RUNS.keys()) {
    const history = await store.list(THREAD, { namespace, limit: 1000 });
    if (history.length === 0) continue;
    histories.set(namespace, history);
    count += history.length;
    for (const [index, { parentId, pauses }] of history.entries()) {
      expect(parentId).toBe(history[index + 1]?.id ?? null);
      // 6.2: a repeated question has the same id.
      for (const { id, node } of pauses) {
        expect(seen.pauses.get(node) ?? id, `pause at "${node}"`).toBe(id);
        seen.pauses.set(node, id);
      }
    }
    const ids = history.map(({ id }) => id);
    const before = seen.chains.get(namespace) ?? [];
    expect(ids.slice(ids.length - before.length), "5.9: history was rewritten").toEqual(before);
    seen.chains.set(namespace, ids);
  }
  const [info] = await store.threads!();
  expect(info?.checkpoints, "checkpoints beside the chain").toBe(count);
  return histories;
}

/** 5.4, 5.5: no body since the last check belongs to a task with a stored result. */
function expectNothingRepeated({ ledger }: Trial, seen: Seen): void {
  const entries = readLedger(ledger);
  for (const entry of entries.slice(seen.entries)) {
    if (entry.event === "start")
      expect(seen.stored.has(entry.key), `task "${entry.task}" ran again: its result was stored`).toBe(false);
  }
  seen.entries = entries.length;
}

/** The whole history without ids, runs and times; and the part of the ledger that must be equal. */
async function readResult(trial: Trial, store: Store, seen: Seen): Promise<string> {
  const all = [...(await readChains(store, seen)).values()].flat();
  const runs = new Set(all.map(({ runId }) => runId.split("/")[0]!));
  expect(runs.size, "runs").toBe(1);
  return `${withoutNames(all, all)}\n${JSON.stringify(tasksByKey(bodies(trial)))}`;
}

/** As text, without the parts that differ between runs: run ids, checkpoint ids, keys of undos, times. */
function withoutNames(value: unknown, checkpoints: readonly Checkpoint[]): string {
  let text = JSON.stringify(value).replaceAll(/"(timestamp|due|nap@[^"]*)":\d+/g, '"$1":0');
  const run = checkpoints[0]!.runId.split("/")[0]!;
  // Ids of pauses end with the last digits of the run id.
  text = text.replaceAll(run, "run").replaceAll(run.slice(-12), "run");
  const names = new Map<string, string>();
  return text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|undo:sha256:[0-9a-f]{64}/g, (id) => {
    if (!names.has(id)) names.set(id, `${isUndo(id) ? "undo" : "checkpoint"} ${names.size}`);
    return names.get(id)!;
  });
}

/** 5.5: all runs of a task have the same key, and different tasks have different keys. */
function tasksByKey(entries: readonly BodyEntry[]): readonly string[] {
  const keys = new Map<string, string>();
  for (const { task, key } of entries) {
    expect(key).toMatch(/^(undo:)?sha256:[0-9a-f]{64}$/);
    expect(keys.get(task) ?? key, `key of task "${task}"`).toBe(key);
    keys.set(task, key);
  }
  expect(new Set(keys.values()).size, "keys of different tasks").toBe(keys.size);
  return [...keys.keys()].sort();
}

function isUndo(key: string): boolean {
  return key.startsWith("undo:");
}

/** The key that the engine computes from the run, the task with its item, and its step. The items of `each` are 1, 2 and 3. */
function keyOf(task: string): string {
  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  const named = task.replace(
    /\beach\[(\d+)\]/,
    (id, index: string) => `${id}#${digest(`${Number(index) + 1}`).slice(0, 12)}`,
  );
  return `sha256:${digest(named)}`;
}

function bodies({ ledger }: Trial): readonly BodyEntry[] {
  return readLedger(ledger).filter((entry): entry is BodyEntry => "key" in entry);
}
