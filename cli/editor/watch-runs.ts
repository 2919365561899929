/** The runs that the store of a workspace holds, as the editor shows them on a picture. */
import { statSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import type { AskedRun, Question, WatchedNode, WatchedRun } from "../../editor/previews.ts";
import { migrateCheckpoint } from "../../runtime/checkpoint/restore-run.ts";
import type { Checkpoint, PauseItem } from "../../runtime/interface/checkpoint.ts";
import type { ThreadStatus } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { threadsOf } from "../../runtime/thread/list-threads.ts";
import { hasRun, stopsOf } from "../drawing/thread-run.ts";
import { RUNS_DIRECTORY } from "../plan/run-directory.ts";
import { readPayload } from "../run/report-result.ts";
import { recordedPlanRuns } from "../serve/recorded-plan-runs.ts";
import { DEFAULT_PATH, openStore } from "../threads/open-store.ts";
import { latestOf, withStoredAnswers } from "../threads/thread-source.ts";

/** Checkpoints that the first look at a run reads, newest first. Later looks read the new ones. */
const MOST_CHECKPOINTS = 2000;
const PAGE = 100;
/** Threads among which the newest one of a file is looked for. */
const THREADS = 20;
/** Milliseconds after which a run that has not ended is read again, even if no file has changed: its process may have died. */
const STALE = 3000;

/** How often each node of a run has run, up to one of its checkpoints. */
interface Progress {
  readonly run: string;
  head: string;
  /** Of the steps before the last one. */
  readonly counts: Map<string, number>;
  last: { readonly step: number; readonly nodes: readonly string[] } | undefined;
}

interface Look {
  readonly signature: string;
  readonly at: number;
  readonly found: WatchedRun | null;
}

/** Finds newest runs. A look at files that have not changed costs a few calls of `stat`. */
export class RunWatch {
  readonly #looks = new Map<string, Look>();
  readonly #progress = new Map<string, Progress>();

  /** `null` without a run, and for a store that cannot be read: the commands report why. */
  async find(asked: AskedRun): Promise<WatchedRun | null> {
    const directory = directoryOf(asked);
    const runs = join(directory, RUNS_DIRECTORY);
    const database = join(directory, DEFAULT_PATH);
    const key = JSON.stringify([asked.path, asked.kind, asked.name]);
    const known = this.#looks.get(key);
    const newest = asked.kind === "plan" ? known?.found?.id : undefined;
    const signature = signatureOf([
      database,
      `${database}-wal`,
      ...(asked.kind === "plan" ? [runs] : []),
      ...(newest === undefined ? [] : [join(runs, newest, "transitions.jsonl")]),
    ]);
    const at = performance.now();
    if (known?.signature === signature && (known.found?.isOver !== false || at - known.at < STALE)) return known.found;
    let found: WatchedRun | null = null;
    try {
      found =
        asked.kind === "plan"
          ? await newestPlanRun(asked.name, runs, database)
          : await this.#newestGraphRun(asked, database, key);
    } catch {
      // A store of another version, or one that is damaged.
    }
    this.#looks.set(key, { signature, at, found });
    return found;
  }

  async #newestGraphRun({ path, name }: AskedRun, database: string, key: string): Promise<WatchedRun | null> {
    return reading(database, async (store) => {
      const threads = await threadsOf(store, { graph: name, limit: THREADS }, () => {});
      const thread = threads.find(({ metadata: { file } }) => file === undefined || file === path);
      if (thread === undefined) return null;
      const head = await withStoredAnswers(store, await latestOf(store, thread.thread));
      if (typeof head.metadata["plan"] === "string") return null;
      const progress = await readProgress(store, head, this.#progress.get(key));
      this.#progress.set(key, progress);
      return {
        id: `${thread.thread} ${head.runId}`,
        thread: thread.thread,
        status: thread.status,
        text: textOf(thread.status, head),
        isOver: thread.status !== "running" && thread.status !== "paused",
        nodes: nodesOf(progress, head, thread.status),
        questions: thread.status === "paused" ? head.pauses.flatMap(questionOf) : [],
      };
    });
  }
}

/** The directory whose `.ngraph` has the runs of a file: the workspace folder around it, else its own directory. */
function directoryOf({ path, roots }: AskedRun): string {
  const around = roots.filter((root) => resolve(path).startsWith(resolve(root) + sep));
  return around.sort((a, b) => b.length - a.length)[0] ?? dirname(path);
}

function signatureOf(paths: readonly string[]): string {
  return paths
    .map((path) => {
      const found = statSync(path, { throwIfNoEntry: false });
      return found === undefined ? "-" : `${found.mtimeMs}:${found.size}`;
    })
    .join(" ");
}

async function reading<T>(database: string, work: (store: Store) => Promise<T | null>): Promise<T | null> {
  if (statSync(database, { throwIfNoEntry: false })?.isFile() !== true) return null;
  const { store, removeCopy } = await openStore(`sqlite:${database}`, { mustExist: true, readOnly: true });
  try {
    return await work(store);
  } finally {
    await store.close?.();
    removeCopy?.();
  }
}

/** Adds the checkpoints since the last look. */
async function readProgress(store: Store, head: Checkpoint, known: Progress | undefined): Promise<Progress> {
  const fresh: Checkpoint[] = [];
  let progress: Progress = { run: head.runId, head: head.id, counts: new Map(), last: undefined };
  let before: string | undefined;
  read: while (fresh.length < MOST_CHECKPOINTS) {
    const page = await store.list(head.threadId, { limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const each of page) {
      if (each.id === known?.head) {
        progress = known;
        break read;
      }
      const checkpoint = migrateCheckpoint(each, { threadId: head.threadId });
      if (checkpoint.phase === "input") break read;
      fresh.push(checkpoint);
    }
    before = page.at(-1)?.id;
    if (page.length < PAGE) break;
  }
  progress.head = head.id;
  for (const { currentNodes, step } of fresh.reverse().filter(hasRun)) {
    // A step that has paused is stored again at its end.
    if (progress.last !== undefined && progress.last.step !== step) count(progress.counts, progress.last.nodes);
    progress.last = { step, nodes: currentNodes };
  }
  return progress;
}

function count(counts: Map<string, number>, nodes: readonly string[]): void {
  for (const node of nodes) counts.set(node, (counts.get(node) ?? 0) + 1);
}

function nodesOf({ counts, last }: Progress, head: Checkpoint, status: ThreadStatus): readonly WatchedNode[] {
  const all = new Map(counts);
  count(all, last?.nodes ?? []);
  const nodes = new Map<string, WatchedNode>();
  for (const [name, times] of all) nodes.set(name, { name, state: "done", count: times });
  for (const [name, { state }] of stopsOf(head)) {
    // An open step of a run that goes on is what runs now.
    const present = state === "next" && status === "running" ? "running" : state;
    nodes.set(name, { name, state: present, count: all.get(name) ?? 0 });
  }
  return [...nodes.values()];
}

function textOf(status: string, { failure }: Pick<Checkpoint, "failure">): string {
  const shown = status.replaceAll("_", " ");
  return failure === undefined ? shown : `${shown}: ${failure.message}`;
}

function questionOf({ id, node, namespace, kind, payload }: PauseItem): readonly Question[] {
  if (kind === "timer" || kind === "signal") return [];
  const own = [...namespace, node].join(" › ");
  if (kind !== "interrupt") return [{ id, node: own, question: `paused ${kind} ${own}`, choices: ["true"] }];
  const { question, choices, rest } = readPayload(payload);
  return [{ id, node: own, question: rest === null ? question : `${question} ${JSON.stringify(rest)}`, choices }];
}

const TASK_STATES: ReadonlyMap<string, WatchedNode["state"]> = new Map([
  ["running", "running"],
  ["done", "done"],
  ["failed", "failed"],
  ["blocked", "next"],
  ["cancelled", "next"],
  ["waiting", "waits"],
  ["skipped", "skipped"],
]);

async function newestPlanRun(name: string, runs: string, database: string): Promise<WatchedRun | null> {
  const recorded = recordedPlanRuns(runs);
  const [newest] = await recorded.list({ plan: name });
  const run = newest === undefined ? undefined : await recorded.run(newest.id);
  if (run === undefined) return null;
  const { id, thread, outcome, running, tasks } = run;
  const status = outcome ?? (running ? "running" : "interrupted");
  const nodes = tasks.flatMap(({ id: task, status: own, attempts }): readonly WatchedNode[] => {
    const state = TASK_STATES.get(own);
    if (state === undefined) return [];
    return [{ name: task, state: state === "running" && !running ? "next" : state, count: attempts }];
  });
  const waits = outcome !== null && nodes.some(({ state }) => state === "waits");
  const questions =
    waits && thread !== null
      ? ((await reading(database, async (store) => {
          const head = await withStoredAnswers(store, await latestOf(store, thread));
          return head.status === "paused" ? head.pauses.flatMap(questionOf) : [];
        })) ?? [])
      : [];
  return { id, thread, status, text: textOf(status, {}), isOver: !running && questions.length === 0, nodes, questions };
}
