import { migrateCheckpoint } from "../../runtime/checkpoint/restore-run.ts";
import type { Checkpoint, PauseItem } from "../../runtime/interface/checkpoint.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Table } from "../../runtime/table/table.ts";
import { printable } from "../../diagnostics/render/index.ts";
import { formatTime } from "../output/format-values.ts";
import { CommandError } from "../process/command-error.ts";
import { latestOf, refusePlanThread, withStoredAnswers } from "../threads/thread-source.ts";
import type { DrawnStep, RunFacts } from "./drawn-run.ts";

/** Checkpoints of a run that are read, newest first; memory does not grow with a longer run. */
const MAX_CHECKPOINTS = 20_000;
const PAGE = 200;

/**
 * The newest run of a thread, with its resumes.
 *
 * @throws CommandError NG_UNKNOWN_THREAD, or when the thread belongs to another graph
 */
export async function threadRun(store: Store, thread: string, table: Table): Promise<RunFacts> {
  const head = await withStoredAnswers(store, await latestOf(store, thread));
  refusePlanThread(head, "has no steps to draw");
  const graph = head.graph ?? head.metadata["graph"];
  if (typeof graph === "string" && graph !== table.name && table.was?.includes(graph) !== true) {
    throw new CommandError(
      `thread \`${printable(thread)}\` is of graph \`${printable(graph)}\`, not of \`${table.name}\``,
      {
        help: "name the file of that graph, and with --graph the graph",
      },
    );
  }
  const { steps, isWhole } = await readSteps(store, head);
  const version = head.digest === table.digest ? "" : ", written by another version of the graph";
  return {
    kind: "thread",
    title: `thread ${thread}: ${head.status.replace("_", " ")}${version}${isWhole ? "" : `, its last ${steps.length} steps`}`,
    steps,
    end: head.failure === undefined ? "" : `failed: ${head.failure.message} [${head.failure.code}]`,
    stopped: stopsOf(head),
    completed: head.status === "completed",
  };
}

async function readSteps(
  store: Store,
  head: Checkpoint,
): Promise<{ readonly steps: readonly DrawnStep[]; readonly isWhole: boolean }> {
  const found: DrawnStep[] = [];
  let newer: Checkpoint | undefined;
  let before: string | undefined;
  const take = (checkpoint: Checkpoint, older: Checkpoint | undefined): void => {
    const { phase, currentNodes, step, timestamp } = checkpoint;
    // Checkpoints of gates and edits repeat the step that is stored before them.
    if (!hasRun(checkpoint)) return;
    if (found.at(-1)?.step === step) return;
    const isDirect = phase === "completed" && older?.status === "running";
    const milliseconds = isDirect ? Math.max(0, timestamp - older.timestamp) : undefined;
    found.push({ step, ran: currentNodes, chose: {}, ...(milliseconds === undefined ? {} : { milliseconds }) });
  };
  for (let count = 0; count < MAX_CHECKPOINTS;) {
    const page = await store.list(head.threadId, { limit: PAGE, ...(before === undefined ? {} : { before }) });
    for (const each of page) {
      const checkpoint = migrateCheckpoint(each, { threadId: head.threadId });
      if (newer !== undefined) take(newer, checkpoint);
      newer = checkpoint;
      if (checkpoint.phase === "input") return { steps: found.reverse(), isWhole: true };
    }
    count += page.length;
    before = page.at(-1)?.id;
    if (page.length < PAGE) {
      if (newer !== undefined) take(newer, undefined);
      return { steps: found.reverse(), isWhole: true };
    }
  }
  return { steps: found.reverse(), isWhole: false };
}

/** Whether a checkpoint is that of nodes that have run. */
export function hasRun({ phase, currentNodes }: Checkpoint): boolean {
  return (phase === "completed" || phase === "interrupted") && currentNodes.length > 0;
}

/** Where the run stopped: pauses, the failed node, barriers that are half filled, and nodes that run next. */
export function stopsOf(head: Checkpoint): RunFacts["stopped"] {
  const stopped = new Map<string, { state: "next" | "waits" | "failed"; text: string }>();
  for (const [id, arrived] of Object.entries(head.barrierState)) {
    stopped.set(`[${id}]`, { state: "waits", text: `arrived: ${arrived.join(", ")}` });
  }
  for (const name of head.nextNodes) stopped.set(name, { state: "next", text: "next" });
  for (const pause of head.pauses) {
    const node = pause.namespace[0]?.replace(/\[\d+\]$/, "") ?? pause.node;
    stopped.set(node, { state: "waits", text: waitText(pause) });
  }
  const failed = head.failure?.node;
  if (failed !== undefined) stopped.set(failed, { state: "failed", text: `failed: ${head.failure?.code ?? ""}` });
  return stopped;
}

function waitText({ kind, payload, due }: PauseItem): string {
  const until = due === undefined ? "" : ` until ${formatTime(due)}`;
  switch (kind) {
    case "timer":
      return `waits${until}`;
    case "signal":
      return `waits for the signal ${typeof payload === "string" ? payload : ""}${until}`;
    case "interrupt":
    case "before":
    case "after":
      return `waits for an answer${until}`;
  }
}
