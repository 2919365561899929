/** `ngc run PLAN --watch`: runs the tasks again whose files have changed, with the tasks that depend on them. */
import { readdirSync, readFileSync, statSync, watch, type Dirent, type FSWatcher } from "node:fs";
import { createHash } from "node:crypto";
import { dirname, join, relative } from "node:path";
import type { PlanTable } from "../../runtime/table/plan-table.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import { wasInterrupted } from "../process/interruption.ts";
import { tasksWithPaths } from "./affected-tasks.ts";
import { hashFiles } from "./hash-files.ts";
import { parsePathPattern } from "../../runtime/plan/path-pattern.ts";

/** Runs one round of a plan. */
export interface PlanRounds {
  /** The plan of the file; `undefined` if the file has errors, which are printed. */
  load(): Promise<PlanTable | undefined>;
  /** Runs all tasks. */
  start(plan: PlanTable): Promise<ExitCode>;
  /** Runs these tasks again, with those that are not done and those that depend on what runs. */
  repeat(plan: PlanTable, tasks: readonly string[]): Promise<ExitCode>;
}

/**
 * Runs a plan, and a part of it after each change of the files that its tasks declare. A change of the plan's file runs all tasks.
 * Returns when a run was interrupted; a signal between two runs ends the process.
 */
export async function watchPlan(file: string, root: string, rounds: PlanRounds, output: Output): Promise<ExitCode> {
  let last: { readonly plan: PlanTable; readonly state: TreeState } | undefined;
  // The plan that the thread runs, and tasks with changes whose run could not start.
  let started: string | undefined;
  let pending: readonly string[] = [];
  const repeated = new RepeatedChanges();
  for (;;) {
    // Read first: a change during the run counts, unless a task of the run can have made it.
    let fileSeen = digestOf(file);
    const plan = await attempt(() => rounds.load(), output);
    if (plan === undefined) last = undefined;
    else {
      const before = stateOf(plan, root);
      const changed = last === undefined ? [] : changedTasks(plan, last.state, before);
      const isRepeat = started === plan.digest;
      const tasks = isRepeat ? [...new Set([...pending, ...changed])] : [];
      const code = await attempt(() => (isRepeat ? rounds.repeat(plan, tasks) : rounds.start(plan)), output);
      if (wasInterrupted()) return code ?? 1;
      pending = code === undefined ? tasks : [];
      if (code !== undefined) started = plan.digest;
      const after = stateOf(plan, root);
      const fileAfter = digestOf(file);
      const during = differences(before.read, after.read);
      const own = repeated.add(fileAfter === fileSeen ? during : [...during, file]);
      if (own.length > 0) output.note(`changes with each run, so it is not watched while tasks run: ${own.join(", ")}`);
      if (own.includes(file)) fileSeen = fileAfter;
      last = { plan, state: { written: after.written, read: withPaths(before.read, after.read, own) } };
    }
    output.note("waiting for changes …");
    await nextTreeChange(plan, file, root, () => {
      if (digestOf(file) !== fileSeen) return true;
      return plan !== undefined && last !== undefined && changedTasks(plan, last.state, stateOf(plan, root)).length > 0;
    });
  }
}

/** After so many runs in a row during which a file has changed, a task is its author. Otherwise the runs would not end. */
const OWN_CHANGE_RUNS = 3;

/** Counts the runs in a row during which files have changed. */
class RepeatedChanges {
  #runs: ReadonlyMap<string, number> = new Map();

  /** Adds the files that have changed during a run. Returns those that change with each run. */
  add(paths: readonly string[]): readonly string[] {
    this.#runs = new Map(paths.map((path) => [path, (this.#runs.get(path) ?? 0) + 1]));
    return paths.filter((path) => (this.#runs.get(path) ?? 0) >= OWN_CHANGE_RUNS);
  }
}

/** The first digests, with the second ones of some paths. */
function withPaths(first: Digests, second: Digests, paths: readonly string[]): Digests {
  const chosen = new Set(paths);
  const entries = [
    ...Object.entries(first).filter(([path]) => !chosen.has(path)),
    ...Object.entries(second).filter(([path]) => chosen.has(path)),
  ];
  return Object.assign(Object.create(null) as Digests, Object.fromEntries(entries));
}

async function attempt<T>(work: () => Promise<T>, output: Output): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    // The file may be missing for a moment: editors and version control replace files.
    if (!(error instanceof CommandError)) throw error;
    output.problem(`error: ${error.message}`);
    return undefined;
  }
}

type Digests = Readonly<Record<string, string>>;

/** The digests of the files that the tasks of a plan declare, by path. */
interface TreeState {
  /** Files that some task may write. */
  readonly written: Digests;
  /** Files that no task writes. */
  readonly read: Digests;
}

function stateOf(plan: PlanTable, root: string): TreeState {
  const { read, written } = pathsOf(plan);
  const writtenFiles = hashFiles(root, written);
  const readFiles = hashFiles(root, read);
  for (const path of Object.keys(writtenFiles)) Reflect.deleteProperty(readFiles, path);
  return { written: writtenFiles, read: readFiles };
}

/** The paths that the tasks of a plan declare, those of the plans that it calls included. */
function pathsOf(plan: PlanTable): { readonly read: readonly string[]; readonly written: readonly string[] } {
  const called = plan.plans.map(pathsOf);
  const touches = plan.tasks.flatMap((task) => task.touches);
  const of = (wanted: "read" | "write"): string[] =>
    touches.flatMap(({ path, mode }) => (mode === wanted ? [path] : []));
  return {
    read: [
      ...of("read"),
      ...plan.tasks.flatMap(({ cache }) => cache?.inputs ?? []),
      ...called.flatMap(({ read }) => read),
    ],
    written: [...of("write"), ...called.flatMap(({ written }) => written)],
  };
}

/** The tasks that declare a path whose file has changed between two states. */
function changedTasks(plan: PlanTable, before: TreeState, after: TreeState): readonly string[] {
  const paths = [...differences(before.written, after.written), ...differences(before.read, after.read)];
  return tasksWithPaths(plan, paths);
}

function differences(a: Digests, b: Digests): readonly string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((path) => a[path] !== b[path]);
}

function digestOf(file: string): string {
  try {
    return createHash("sha256").update(readFileSync(file)).digest("hex");
  } catch {
    return "";
  }
}

/** Changes within this time count as one change, because editors save in several steps. In milliseconds. */
const SETTLE_MS = 80;
/** Interval at which the files are compared if the system cannot watch so many directories. In milliseconds. */
const POLL_MS = 1000;

/** Waits until `isChanged` returns `true`. It is called after each change in a directory with files of the plan. */
async function nextTreeChange(
  plan: PlanTable | undefined,
  file: string,
  root: string,
  isChanged: () => boolean,
): Promise<void> {
  const directories = (): readonly string[] => [
    dirname(file),
    ...(plan === undefined ? [] : directoriesOf(plan, root)),
  ];
  for (;;) {
    // The watchers exist before the comparison, so that no change is missed. A directory that was created before its parent had a
    // watcher has none, so the directories are read again.
    const watched = new Set(directories());
    const change = anyChange(watched);
    try {
      if (isChanged()) return;
      if (directories().some((path) => !watched.has(path))) continue;
      await change.happened;
    } finally {
      // Open watchers would keep the process alive after an error.
      change.close();
    }
  }
}

/** The first change in some directories, once no further change follows. */
function anyChange(directories: ReadonlySet<string>): { readonly happened: Promise<void>; close(): void } {
  const watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let resolveChange: () => void = () => undefined;
  const happened = new Promise<void>((resolve) => (resolveChange = resolve));
  const close = (): void => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
  const soon = (milliseconds: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      close();
      resolveChange();
    }, milliseconds);
  };
  for (const directory of directories) {
    try {
      const watcher = watch(directory, () => soon(SETTLE_MS));
      watcher.on("error", () => soon(SETTLE_MS));
      watchers.push(watcher);
    } catch {
      // The directory is gone, or there are more directories than the system watches.
      soon(POLL_MS);
    }
  }
  return { happened, close };
}

/** Directories that are not watched: they are large and contain no inputs. */
const IGNORED: ReadonlySet<string> = new Set([".git", ".ngraph", "node_modules"]);

/** The directories in which files with the paths of a plan are, or may appear. */
function directoriesOf(plan: PlanTable, root: string): readonly string[] {
  const { read, written } = pathsOf(plan);
  const found = new Set<string>();
  for (const text of [...read, ...written]) {
    const fixed: string[] = [];
    const { segments } = parsePathPattern(text);
    for (const segment of segments) {
      if (segment.kind !== "literal") break;
      fixed.push(segment.text);
    }
    // Of a path that does not exist, the closest directory that does.
    let start = fixed.join("/");
    while (start !== "" && statSync(join(root, start), { throwIfNoEntry: false }) === undefined)
      start = dirname(start) === "." ? "" : dirname(start);
    const isDirectory = statSync(join(root, start), { throwIfNoEntry: false })?.isDirectory() === true;
    const isWhole = start === fixed.join("/");
    if (!isDirectory || !isWhole) found.add(isDirectory ? join(root, start) : dirname(join(root, start)));
    else walk(join(root, start), found);
  }
  return [...found].filter((path) => !relative(root, path).startsWith(".."));
}

function walk(top: string, found: Set<string>): void {
  const open = [top];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (found.has(path)) continue;
    found.add(path);
    for (const entry of entriesOf(path))
      if (entry.isDirectory() && !IGNORED.has(entry.name)) open.push(join(path, entry.name));
  }
}

/** The entries of a directory. A directory that disappears meanwhile, or that cannot be read, has none. */
function entriesOf(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
