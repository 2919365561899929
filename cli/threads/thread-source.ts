import { printable } from "../../diagnostics/render/index.ts";
import { existsSync } from "node:fs";
import { relative } from "node:path";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import { migrateCheckpoint, withAnswers } from "../../runtime/checkpoint/restore-run.ts";
import type { Store, ThreadInfo } from "../../runtime/interface/store.ts";
import { CommandError } from "../process/command-error.ts";
import { findSimilar } from "../../diagnostics/similar.ts";

/** The newest checkpoint of a thread. @throws CommandError NG_UNKNOWN_THREAD when the thread does not exist */
export async function latestOf(store: Store, thread: string): Promise<Checkpoint> {
  const head = await store.loadLatest(thread);
  if (head !== undefined) return migrateCheckpoint(head, { threadId: thread });
  const similar = findSimilar(thread, await knownThreads(store));
  throw new UnknownThread(thread, similar);
}

/** No thread has this name. */
export class UnknownThread extends CommandError {
  readonly thread: string;
  readonly similar: string | undefined;

  /** @param place where it was looked for */
  constructor(
    thread: string,
    similar: string | undefined,
    place = { name: "this store", help: "`ngc threads` lists the threads of a store; --store names another store" },
  ) {
    super(`there is no thread \`${printable(thread)}\` in ${place.name}`, {
      code: "NG_UNKNOWN_THREAD",
      help: similar === undefined ? place.help : `a thread with a similar name exists: \`${printable(similar)}\``,
    });
    this.thread = thread;
    this.similar = similar;
  }
}

/** Milliseconds that a suggestion may take. The administration of a host may be another server, which does not answer. */
const SUGGESTION_MS = 2000;

/** Names for the help of an error. A listing that fails, or takes long, must not hide it. */
async function knownThreads(store: Store): Promise<readonly string[]> {
  try {
    const listed = store.threads?.({ limit: 200 }) ?? [];
    const late = new Promise<readonly ThreadInfo[]>((resolve) => setTimeout(resolve, SUGGESTION_MS, []).unref());
    return (await Promise.race([listed, late])).map((info) => info.threadId);
  } catch {
    return [];
  }
}

/** A checkpoint without the pauses whose answers were stored before a crash: these no longer wait. */
export async function withStoredAnswers(store: Store, checkpoint: Checkpoint): Promise<Checkpoint> {
  if (checkpoint.status !== "paused") return checkpoint;
  return withAnswers(checkpoint, (await store.getWrites?.(checkpoint.threadId, checkpoint.id)) ?? []);
}

/** The source file and graph of a thread: those of `--file` and `--graph`, else those that the run recorded. */
export function sourceOf(
  head: Checkpoint,
  given: { readonly file?: string | undefined; readonly graph?: string | undefined },
): { file: string; graph: string | undefined } {
  const recorded = head.metadata["file"];
  const graph = given.graph ?? textOf(head.metadata["graph"]);
  if (given.file !== undefined) return { file: given.file, graph };
  if (typeof recorded !== "string") {
    throw new CommandError(`thread \`${printable(head.threadId)}\` has no record of its source file`, {
      help: "name the graph's file with --file",
    });
  }
  if (!existsSync(recorded)) {
    throw new CommandError(
      `thread \`${printable(head.threadId)}\` was run from ${printable(recorded)}, which no longer exists`,
      {
        help: "name the graph's file with --file",
      },
    );
  }
  const near = relative(process.cwd(), recorded);
  return { file: near.startsWith("..") ? recorded : near, graph };
}

/** @throws CommandError for a thread that a plan was run on */
export function refusePlanThread(head: Checkpoint, why: string): void {
  if (typeof head.metadata["plan"] !== "string") return;
  throw new CommandError(`thread \`${printable(head.threadId)}\` is a run of a plan, which ${why}`, {
    help: "`ngc resume THREAD` resumes it; --retry, --from-task and --only run a part again",
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
