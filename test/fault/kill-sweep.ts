/**
 * Runs `kill-graph.ts` in processes that are killed, looks at what each left in the store, and goes on with it: what the store had
 * taken never runs again, what ran again had the same keys, and the end is the one of a run that nobody killed.
 */
import { existsSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import type { Checkpoint } from "../../runtime/checkpoint.ts";
import type { Store, Table } from "../../runtime/index.ts";
import { runProgram } from "../stores/program.ts";
import { driveToEnd, killEngine, type LedgerEntry, THREAD } from "./kill-graph.ts";
import { openStore } from "./kill-store.ts";

/** Of the graph itself and of the graph that it calls. */
const NAMESPACES = ["", "call"];

export interface Trial {
  /** See `kill-store.ts`. */
  readonly place: string;
  readonly table: Table;
  /** The file that holds the table. */
  readonly tableFile: string;
  readonly ledger: string;
  /** The point at which each process kills itself, one after the other. */
  readonly kills: readonly number[];
  /** Waits until nothing of a killed process goes on: what it has sent, a server may still do. */
  readonly settle?: (place: string) => Promise<void>;
}

/**
 * Kills, looks and goes on; then takes the run to its end in this process.
 *
 * @returns what the run left, in a form that is equal for all runs of the graph; how often it was really killed; and what
 *   the first kill left, which is all that the recovery can see
 */
export async function runTrial(
  trial: Trial,
): Promise<{ readonly result: unknown; readonly killed: number; readonly left: string }> {
  const stored = new Set<string>();
  let seen = 0;
  let killed = 0;
  let left = "";
  for (const dieAt of trial.kills) {
    const points = await runUntil(trial, dieAt);
    if (points === undefined) killed++;
    await trial.settle?.(trial.place);
    seen = expectNothingRepeated(trial, stored, seen);
    const found = await collectStored(trial, stored);
    left ||= found;
  }
  const store = openStore(trial.place);
  try {
    await driveToEnd(killEngine(trial.table, store, trial.ledger));
    expectNothingRepeated(trial, stored, seen);
    return { result: await readResult(trial, store), killed, left };
  } finally {
    await store.close();
  }
}

/** How many points a process passed that came to its end; undefined when it was killed. */
export async function runUntil(trial: Trial, dieAt: number): Promise<number | undefined> {
  const { place, tableFile, ledger } = trial;
  const program = runProgram(PROGRAM, place, tableFile, ledger, String(dieAt));
  const line = await program.line();
  const end = await program.ended;
  if (end === "SIGKILL" && line === undefined) return undefined;
  expect(program.errors()).toBe("");
  expect(end).toBe(0);
  return Number(line);
}

const PROGRAM = new URL("programs/run-and-die.ts", import.meta.url);

/** 5.4, 5.5: of the entries since the last look, none is of a task whose result the store had. 5.2: nothing ran before the input was there. */
function expectNothingRepeated(trial: Trial, stored: ReadonlySet<string>, seen: number): number {
  const entries = readLedger(trial);
  for (const { task, key, event } of entries.slice(seen)) {
    if (event === "start")
      expect(stored.has(withoutRun(key)), `task "${task}" ran again: its result was stored`).toBe(false);
  }
  return entries.length;
}

/** Adds the keys, without the run, of the tasks whose results the store has. Gives all that it has, as text. */
async function collectStored(trial: Trial, stored: Set<string>): Promise<string> {
  const store = openStore(trial.place);
  const found: unknown[] = [];
  try {
    const entries = readLedger(trial);
    const head = await store.loadLatest(THREAD);
    if (entries.length > 0) expect(head, "5.2: a body ran, and the input is not there").toBeDefined();
    for (const namespace of NAMESPACES) {
      const history = await store.list(THREAD, { namespace });
      const newest = history[0];
      if (newest === undefined) continue;
      const path = namespace === "" ? "" : `/${namespace}@5`;
      const finished = new Set(
        history.flatMap(({ phase, step }) => (phase === "input" || phase === "interrupted" ? [] : [step])),
      );
      for (const { key } of entries) {
        const short = withoutRun(key);
        if (short.startsWith(`${path}:`) && finished.has(stepOf(short))) stored.add(short);
      }
      const writes = await store.getWrites(THREAD, newest.id);
      found.push(history, writes);
      const pending = [...writes, ...(newest.finished ?? [])];
      for (const { taskId } of pending) {
        const step = newest.phase === "interrupted" ? newest.step : newest.step + 1;
        stored.add(`${path}:${taskId}@${step}`);
      }
    }
    return JSON.stringify([head?.status, withoutNames(found, head === undefined ? [] : [head])]);
  } finally {
    await store.close();
  }
}

/** The whole history with ids, runs and times taken out; the ledger as far as it must be equal. */
async function readResult(trial: Trial, store: Store): Promise<unknown> {
  const histories: (readonly Checkpoint[])[] = [];
  for (const namespace of NAMESPACES) histories.push(await store.list(THREAD, { namespace, limit: 1000 }));
  const all = histories.flat();
  // 5.6: the chain is one line, and there is nothing beside it.
  const [info] = await store.threads!();
  expect(info?.checkpoints, "checkpoints beside the chain").toBe(all.length);
  for (const history of histories) {
    for (const [index, { parentId }] of history.entries()) expect(parentId).toBe(history[index + 1]?.id ?? null);
  }
  const runs = new Set(all.map(({ runId }) => runId.split("/")[0]!));
  expect(runs.size, "runs").toBe(1);
  const [run] = runs;
  return { history: withoutNames(all, all), keys: keysByTask(readLedger(trial), run!) };
}

/** Without what differs from run to run: its id, those of checkpoints, and times. */
function withoutNames(value: unknown, checkpoints: readonly Checkpoint[]): unknown {
  const [newest] = checkpoints;
  if (newest === undefined) return value;
  let text = JSON.stringify(value).replaceAll(/"timestamp":\d+/g, '"timestamp":0');
  const run = newest.runId.split("/")[0]!;
  // Ids of pauses end in the run's last digits.
  text = text.replaceAll(run, "run").replaceAll(run.slice(-12), "run");
  const names = new Map<string, string>();
  text = text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, (id) => {
    if (!names.has(id)) names.set(id, `checkpoint ${names.size}`);
    return names.get(id)!;
  });
  return JSON.parse(text);
}

/** 5.5: a task has one key however often it runs, and no two tasks share one. */
function keysByTask(entries: readonly LedgerEntry[], run: string): Readonly<Record<string, string>> {
  const keys = new Map<string, string>();
  for (const { task, key } of entries) {
    expect(key.startsWith(run), `key ${key}`).toBe(true);
    const short = withoutRun(key);
    expect(keys.get(task) ?? short, `key of task "${task}"`).toBe(short);
    keys.set(task, short);
  }
  expect(new Set(keys.values()).size, "keys of different tasks").toBe(keys.size);
  return Object.fromEntries([...keys].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function readLedger({ ledger }: Trial): LedgerEntry[] {
  if (!existsSync(ledger)) return [];
  const lines = readFileSync(ledger, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LedgerEntry);
}

/** Run ids are UUIDs. */
function withoutRun(key: string): string {
  return key.slice(36);
}

function stepOf(key: string): number {
  return Number(key.slice(key.lastIndexOf("@") + 1));
}
