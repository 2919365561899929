import { printable } from "../../diagnostics/render/index.ts";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import { migrateCheckpoint } from "../../runtime/checkpoint/restore-run.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import { ThreadError } from "../../runtime/interface/thread-error.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { CommandError } from "../process/command-error.ts";
import { latestOf } from "./thread-source.ts";

/** Maximum number of threads to search for a checkpoint that is named without its thread. */
const MAX_THREADS = 10_000;

/** Maximum number of checkpoints to search, newest first, for an abbreviated id. */
const MAX_ABBREVIATED = 2_000;

/** Length of an abbreviated id that is practically unique. */
const UNIQUE_LENGTH = 8;

/** An abbreviated id: the beginning of a UUID. */
const ABBREVIATION = /^[0-9a-f][0-9a-f-]{3,34}$/;

/** Migrates a checkpoint of any namespace. */
function migrated(found: Checkpoint, threadId: string): Checkpoint {
  return migrateCheckpoint(found, { threadId, namespace: found.namespace });
}

/**
 * A checkpoint by id, label or abbreviated id, in one thread or in any.
 *
 * @throws CommandError NG_UNKNOWN_CHECKPOINT when there is none, or the abbreviated id is ambiguous; NG_UNKNOWN_THREAD
 */
export async function findCheckpoint(store: Store, name: string, thread: string | undefined): Promise<Checkpoint> {
  const threads =
    thread !== undefined
      ? [thread]
      : ((await store.threads?.({ limit: MAX_THREADS })) ?? []).map((info) => info.threadId);
  for (const id of threads) {
    const found =
      (await attempt(() => store.loadById(id, name))) ?? (await attempt(() => store.loadByLabel?.(id, name)));
    if (found !== undefined) return migrated(found, id);
  }
  const { matches, isWhole } = ABBREVIATION.test(name) ? await findAbbreviated(store, name, threads) : NOTHING_FOUND;
  const [match] = matches;
  if (match !== undefined && matches.length === 1 && (isWhole || name.length >= UNIQUE_LENGTH))
    return migrated(match, match.threadId);
  if (!isWhole && matches.length < 2) {
    throw new CommandError(
      `\`${printable(name)}\` is an abbreviated id, and only the newest ${MAX_ABBREVIATED} checkpoints were compared with it`,
      {
        code: "NG_UNKNOWN_CHECKPOINT",
        help: match === undefined ? "use the whole id" : `use the whole id; ${match.id} matches`,
      },
    );
  }
  if (match !== undefined) {
    throw new CommandError(`${matches.length} checkpoints begin with \`${printable(name)}\``, {
      code: "NG_UNKNOWN_CHECKPOINT",
      help: `use more characters of the id: ${matches
        .slice(0, 5)
        .map(({ id }) => id)
        .join(", ")}`,
    });
  }
  if (thread !== undefined) await latestOf(store, thread);
  throw new CommandError(
    thread === undefined
      ? `there is no checkpoint \`${printable(name)}\` in this store`
      : `thread \`${printable(thread)}\` has no checkpoint \`${printable(name)}\``,
    { code: "NG_UNKNOWN_CHECKPOINT", help: "`ngc history THREAD` lists a thread's checkpoints" },
  );
}

/** A checkpoint to resume from: of the thread's own graph and not of a called graph. */
export async function findOwnCheckpoint(store: Store, name: string, thread: string): Promise<Checkpoint> {
  const found = await findCheckpoint(store, name, thread);
  if (found.namespace === "") return found;
  throw new CommandError(
    `checkpoint ${found.id} belongs to \`${printable(found.namespace)}\`, a graph that thread \`${printable(thread)}\` calls`,
    {
      code: "NG_UNKNOWN_CHECKPOINT",
      help: "use a checkpoint of the thread itself: it includes the graphs that it calls",
    },
  );
}

interface Abbreviated {
  readonly matches: readonly Checkpoint[];
  /** Whether all checkpoints were searched: otherwise there may be more matches. */
  readonly isWhole: boolean;
}

const NOTHING_FOUND: Abbreviated = { matches: [], isWhole: true };

async function findAbbreviated(store: Store, start: string, threads: readonly string[]): Promise<Abbreviated> {
  const matches = new Map<string, Checkpoint>();
  let left = MAX_ABBREVIATED;
  for (const thread of threads) {
    // Namespaces of called graphs are found in the checkpoints that call them.
    const namespaces = new Set([""]);
    for (const namespace of namespaces) {
      let before: string | undefined;
      do {
        const place = before === undefined ? { namespace } : { namespace, before };
        const page: readonly Checkpoint[] = await store.list(thread, { ...place, limit: PAGE });
        for (const checkpoint of page) {
          if (checkpoint.id.startsWith(start)) matches.set(checkpoint.id, checkpoint);
          for (const called of Object.keys(checkpoint.children ?? {})) namespaces.add(called);
        }
        left -= Math.max(1, page.length);
        before = page.length < PAGE ? undefined : page.at(-1)?.id;
      } while (before !== undefined && left > 0);
      if (left <= 0) return { matches: [...matches.values()], isWhole: false };
    }
  }
  return { matches: [...matches.values()], isWhole: true };
}

/** Number of checkpoints that are read at a time, with all their values. */
const PAGE = 50;

/** Converts a store's refusal of a name that cannot be an id, such as a label, to `undefined`. */
async function attempt<T>(load: () => T | PromiseLike<T>): Promise<T | undefined> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof ThreadError && !(error instanceof StoreError)) return undefined;
    throw error;
  }
}
