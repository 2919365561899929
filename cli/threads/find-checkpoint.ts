import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import { migrateCheckpoint } from "../../runtime/checkpoint/restore-run.ts";
import { StoreError, ThreadError } from "../../runtime/interface/errors.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { CommandError } from "../process/command-error.ts";

/** How many threads are looked through for a checkpoint that is named without its thread. */
const MAX_THREADS = 10_000;

/** How many checkpoints are looked through, newest first, for one that is named by the beginning of its id. */
const MAX_ABBREVIATED = 2_000;

/** So many digits of a random id are never those of another. */
const TELLING = 8;

/** The beginning of an id, as people copy it. */
const ABBREVIATION = /^[0-9a-f][0-9a-f-]{3,34}$/;

/** Of whichever graph it is: the namespace is not asked for. */
function asAsked(found: Checkpoint, threadId: string): Checkpoint {
  return migrateCheckpoint(found, { threadId, namespace: found.namespace });
}

/**
 * A checkpoint by id, label or the beginning of its id, in one thread or in any.
 *
 * @throws CommandError NG_UNKNOWN_CHECKPOINT when there is none, or the beginning is that of several
 */
export async function findCheckpoint(store: Store, name: string, thread: string | undefined): Promise<Checkpoint> {
  const threads =
    thread !== undefined
      ? [thread]
      : ((await store.threads?.({ limit: MAX_THREADS })) ?? []).map((info) => info.threadId);
  for (const id of threads) {
    const found =
      (await attempt(() => store.loadById(id, name))) ?? (await attempt(() => store.loadByLabel?.(id, name)));
    if (found !== undefined) return asAsked(found, id);
  }
  const { matches, isWhole } = ABBREVIATION.test(name) ? await findAbbreviated(store, name, threads) : NOTHING_FOUND;
  const [match] = matches;
  if (match !== undefined && matches.length === 1 && (isWhole || name.length >= TELLING))
    return asAsked(match, match.threadId);
  if (!isWhole && matches.length < 2) {
    throw new CommandError(
      `\`${name}\` is the beginning of an id, and only the newest ${MAX_ABBREVIATED} checkpoints were compared with it`,
      {
        code: "NG_UNKNOWN_CHECKPOINT",
        help: match === undefined ? "give the whole id" : `give the whole id: ${match.id} begins so`,
      },
    );
  }
  if (match !== undefined) {
    throw new CommandError(`${matches.length} checkpoints begin with \`${name}\``, {
      code: "NG_UNKNOWN_CHECKPOINT",
      help: `say more of the id: ${matches
        .slice(0, 5)
        .map(({ id }) => id)
        .join(", ")}`,
    });
  }
  throw new CommandError(
    thread === undefined
      ? `there is no checkpoint \`${name}\` in this store`
      : `thread \`${thread}\` has no checkpoint \`${name}\``,
    { code: "NG_UNKNOWN_CHECKPOINT", help: "`ngc history THREAD` lists a thread's checkpoints" },
  );
}

/** One to go on from: of the graph itself, not of one that it calls. */
export async function findOwnCheckpoint(store: Store, name: string, thread: string): Promise<Checkpoint> {
  const found = await findCheckpoint(store, name, thread);
  if (found.namespace === "") return found;
  throw new CommandError(
    `checkpoint ${found.id} belongs to \`${found.namespace}\`, a graph that thread \`${thread}\` calls`,
    {
      code: "NG_UNKNOWN_CHECKPOINT",
      help: "go on from a checkpoint of the thread itself: it takes the graphs that it calls along",
    },
  );
}

interface Abbreviated {
  readonly matches: readonly Checkpoint[];
  /** Whether all checkpoints were looked at: otherwise there may be more that begin so. */
  readonly isWhole: boolean;
}

const NOTHING_FOUND: Abbreviated = { matches: [], isWhole: true };

async function findAbbreviated(store: Store, start: string, threads: readonly string[]): Promise<Abbreviated> {
  const matches = new Map<string, Checkpoint>();
  let left = MAX_ABBREVIATED;
  for (const thread of threads) {
    // Called graphs are found from the checkpoints that go on with them.
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

/** Checkpoints read at a time, with all their values. */
const PAGE = 50;

/** A name that cannot be an id (a label, say) is not found, whatever the store thinks of it. */
async function attempt<T>(load: () => T | PromiseLike<T>): Promise<T | undefined> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof ThreadError && !(error instanceof StoreError)) return undefined;
    throw error;
  }
}
