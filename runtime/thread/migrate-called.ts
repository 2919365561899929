import type { Checkpoint, PendingWrite } from "../interface/checkpoint.ts";
import { isMemory, recordedShapes } from "../checkpoint/channel-shapes.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { loadChildHead, loadRecorded, loadWrites } from "../checkpoint/load-checkpoint.ts";
import { moveCalled, moveCalledWrites, outermostRun } from "../checkpoint/move-called.ts";
import { visitItems } from "../checkpoint/visit-items.ts";
import { dueOfWrite, isDue, resumeStep } from "../checkpoint/restore-run.ts";
import type { DriftProblem } from "../checkpoint/drift-problem.ts";
import { withoutNext } from "../checkpoint/drift.ts";
import type { Store } from "../interface/store.ts";
import { callsRuns, type Program } from "../program/program.ts";
import { programUnder } from "../program/tool-segment.ts";
import { memoryProblems } from "../run/follow-run.ts";
import { FINALLY } from "../run/run.ts";
import type { EngineCore } from "../run/run-settings.ts";
import { migrateContent, stateInStep } from "./migrate-checkpoint.ts";
import { changesGraph, type Changes } from "./migrate-options.ts";

/** A run of a called graph that a migration changes. */
export interface MigratedCall {
  readonly namespace: string;
  /** Absent for a plan. */
  readonly program: Program | undefined;
  /** The newest checkpoint of the run, as it is stored. */
  readonly stored: Checkpoint;
  /** The same checkpoint for the edited graphs. */
  readonly checkpoint: Checkpoint;
  /** The head of the namespace, which the migrated checkpoint replaces. */
  readonly latest: Checkpoint | undefined;
}

export interface MigratedCalls {
  readonly calls: readonly MigratedCall[];
  readonly problems: readonly DriftProblem[];
}

/** The place of a thread in a store, with what its migration changes. */
interface Migration {
  readonly core: EngineCore;
  readonly changes: Changes;
  readonly store: Store;
  readonly threadId: string;
  /** The head of the thread, as it is stored. */
  readonly head: Checkpoint;
  /** The head for the edited graph. */
  readonly migrated: Checkpoint;
}

/**
 * Migrates the runs of called graphs, which are stored under the names of the calling nodes: unfinished runs, and the memory of
 * finished ones. Writes nothing.
 */
export async function migrateCalls(migration: Migration): Promise<MigratedCalls> {
  const { core, changes, store, threadId, head, migrated } = migration;
  const calls: MigratedCall[] = [];
  const problems: DriftProblem[] = [];
  const found = new Map<string, Checkpoint>();
  const recorded = new Set(Object.keys(migrated.children ?? {}));
  for (const [namespace, id] of Object.entries(migrated.children ?? {})) {
    const checkpoint = await loadRecorded({ store, threadId }, id, head.runId);
    if (checkpoint !== undefined) found.set(namespace, checkpoint);
  }
  await findCalls(migration, core.program, "", [""], found);
  for (const [namespace, stored] of found) {
    const called = calledAt(core.program, namespace.split("/"));
    if (called === undefined) {
      const caller = namespace.split("/").at(-1)!;
      const name = /^\w+/.exec(caller)?.[0] ?? caller;
      problems.push({
        text: `\`${namespace}\` has not finished, and no node calls a graph there any more`,
        ...(namespace === caller ? { declare: [`was ${name}`], migrate: [`--rename ${name}=NEW`] } : {}),
      });
      continue;
    }
    const isOpen = recorded.has(namespace) || isOfNextStep(stored, head);
    const program = called === "plan" ? undefined : called;
    const call = await migrateCall(migration, namespace, stored, program, isOpen);
    if (call === undefined) continue;
    const isChanged = stored.namespace !== namespace || (program !== undefined && changesGraph(changes, program));
    if (isChanged) calls.push(call.call);
    for (const problem of call.problems) problems.push({ ...problem, text: `in \`${namespace}\`: ${problem.text}` });
  }
  return { calls, problems };
}

async function migrateCall(
  { core, changes, store, threadId }: Migration,
  namespace: string,
  stored: Checkpoint,
  program: Program | undefined,
  isOpen: boolean,
): Promise<{ readonly call: MigratedCall; readonly problems: readonly DriftProblem[] } | undefined> {
  const place = { namespace, runId: outermostRun(stored) };
  const latest = await loadChildHead({ store, threadId }, namespace);
  const open = moveCalled(stored, place);
  const call = { namespace, program, stored, latest };
  const found = isOpen ? await loadWrites(store, threadId, stored.id) : [];
  const writes = moveCalledWrites(found, stored, place);
  // Of a run that does not continue, only the memory matters.
  if (!isOpen && (program === undefined || memoryOf(program, open) === undefined)) return undefined;
  const isCurrent = program === undefined || stored.digest === program.table.digest;
  if (isCurrent) return { call: { ...call, checkpoint: { ...open, ...withWrites(open, writes) } }, problems: [] };
  const moved = isOpen ? open : memoryOf(program, open);
  if (moved === undefined) return undefined;
  const { name, was = [] } = program.table;
  const isNamed = moved.graph === undefined || moved.graph === name || was.includes(moved.graph);
  if (!isNamed && changes.formerGraphs.get(name) !== moved.graph) {
    // The memory of another graph does not matter to the graph that the node calls now.
    if (!isOpen) return undefined;
    const text = `graph \`${moved.graph}\` has not finished, and the node now calls \`${name}\``;
    const problem = {
      text,
      declare: [`graph ${name} was ${moved.graph}`],
      migrate: [`--rename ${moved.graph}=${name}`],
    };
    return { call: { ...call, checkpoint: moved }, problems: [problem] };
  }
  const shapes = await recordedShapes(store, stored);
  const { checkpoint, problems } = migrateContent(core, program, changes, { head: moved, writes, shapes });
  return { call: { ...call, checkpoint }, problems: isOpen ? problems : memoryProblems(program, checkpoint) };
}

function withWrites(head: Checkpoint, writes: readonly PendingWrite[]): Partial<Checkpoint> {
  const dues = writes.filter(isDue).map(dueOfWrite);
  return {
    ...stateInStep(head, writes),
    ...(dues.length === 0 ? {} : { dues: { ...head.dues, ...Object.fromEntries(dues) } }),
  };
}

/** The memory of a finished run; `undefined` if it has none. */
function memoryOf(program: Program, head: Checkpoint): Checkpoint | undefined {
  const isKept = (name: string): boolean => {
    const shape = head.channels !== undefined && Object.hasOwn(head.channels, name) ? head.channels[name] : undefined;
    return shape !== undefined && isMemory(shape) && head.values[name] !== null;
  };
  const values = Object.fromEntries(Object.entries(head.values).filter(([name]) => isKept(name)));
  if (Object.keys(values).length === 0) return undefined;
  const { dues: _, children: __, ...kept } = withoutNext(program, head);
  return { ...kept, barrierState: {}, status: "completed", values };
}

/** Whether a run of a called graph belongs to the step that the thread continues with. */
function isOfNextStep(stored: Checkpoint, head: Checkpoint): boolean {
  if (head.status === "completed" || head.status === "incomplete" || outermostRun(stored) !== head.runId) return false;
  const step = /^[^@/]*@(\d+)/.exec(stored.runId.slice(head.runId.length + 1))?.[1];
  return step !== undefined && Number(step) === resumeStep(head);
}

/**
 * Finds the stored runs of called graphs that the head does not record: those that have begun since, and those with memory.
 *
 * @param prefix the namespace of the caller, under the new names
 * @param former the namespaces under which the caller may be stored
 */
async function findCalls(
  migration: Migration,
  program: Program,
  prefix: string,
  former: readonly string[],
  found: Map<string, Checkpoint>,
): Promise<void> {
  const { changes, store, threadId, migrated } = migration;
  const { nodes } = changes.of(program).renaming;
  const isMoved = former.some((name) => name !== prefix);
  const join = (at: string, task: string): string => (at === "" ? task : `${at}/${task}`);
  for (const node of program.nodes) {
    const { spec, call } = node;
    if (!callsRuns(node)) continue;
    const { name, was = [] } = spec;
    const renamed = [...nodes].flatMap(([old, present]) => (present === name ? [old] : []));
    const tools = call.kind === "builtin" ? (call.graphs ?? NO_TOOLS) : NO_TOOLS;
    const called = call.kind === "graph" ? call.graph : undefined;
    // A plan has no memory, so an edit of it alone changes no stored run.
    if (called === undefined && tools.size === 0 && !isMoved && renamed.length === 0) continue;
    const names = [...renamed, ...(nodes.has(name) ? [] : [name]), ...was];
    const sent = prefix === "" ? migrated.pendingSends.filter((send) => send.node === name) : [];
    const suffixes = sent.map(({ taskId }) => taskId.slice(name.length));
    const visit = async (suffix: string, called: Program | undefined): Promise<boolean> => {
      const namespace = join(prefix, `${name}${suffix}`);
      const stored = former.flatMap((at) => names.map((node) => join(at, `${node}${suffix}`)));
      let checkpoint = found.get(namespace);
      for (const at of stored) {
        if (checkpoint !== undefined) break;
        const head = await asStoreError(() => store.loadLatest(threadId, at));
        if (head !== undefined) found.set(namespace, (checkpoint = head));
      }
      if (checkpoint === undefined) return false;
      if (called !== undefined) await findCalls(migration, called, namespace, [checkpoint.namespace], found);
      return true;
    };
    const visitTask = (suffix: string): Promise<boolean> =>
      tools.size === 0
        ? visit(suffix, called)
        : visitTools(suffix, tools, join(prefix, `${name}${suffix}`), found, visit);
    if (spec.each === undefined) suffixes.push("");
    for (const suffix of suffixes) await visitTask(suffix);
    if (spec.each === undefined) continue;
    const last = Math.max(-1, ...indexesUnder(join(prefix, name), found.keys()));
    await visitItems((item) => visitTask(`[${item}]`), last + 1);
  }
}

/** Visits the calls of the tools of one task, which have one count. @returns whether there is one */
async function visitTools(
  suffix: string,
  tools: ReadonlyMap<string, Program>,
  task: string,
  found: ReadonlyMap<string, Checkpoint>,
  visit: (suffix: string, called: Program | undefined) => Promise<boolean>,
): Promise<boolean> {
  const numbers = [...found.keys()].flatMap((namespace) => {
    if (!namespace.startsWith(`${task}.`)) return [];
    return [Number(/^\w+\.(\d+)/.exec(namespace.slice(task.length + 1))?.[1] ?? -1)];
  });
  const last = Math.max(-1, ...numbers);
  for (let number = 0; ; number++) {
    let isFound = false;
    for (const [tool, called] of tools) isFound = (await visit(`${suffix}.${tool}.${number}`, called)) || isFound;
    if (!isFound && number > last) return number > 0;
  }
}

const NO_TOOLS: ReadonlyMap<string, Program> = new Map();

/** The indexes of items in namespaces of called graphs: 3 in `each[3]/inner`. */
function indexesUnder(task: string, namespaces: Iterable<string>): number[] {
  return [...namespaces].flatMap((namespace) => {
    if (!namespace.startsWith(`${task}[`)) return [];
    return [Number(/^\d+/.exec(namespace.slice(task.length + 1))?.[0] ?? -1)];
  });
}

/** The graph that runs under a namespace; `"plan"` for a plan and for what it calls. */
function calledAt(program: Program, path: readonly string[]): Program | "plan" | undefined {
  let found = program;
  for (const task of path) {
    // The `finally` part of a graph is the same graph.
    if (task === FINALLY) continue;
    const call = found.nodes[found.nodeIndex.get(/^\w+/.exec(task)?.[0] ?? "") ?? -1]?.call;
    if (call?.kind === "plan") return "plan";
    const called = programUnder(found, task);
    if (called === undefined) return undefined;
    found = called;
  }
  return found;
}
