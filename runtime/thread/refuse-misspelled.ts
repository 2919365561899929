import type { Checkpoint } from "../interface/checkpoint.ts";
import type { MigrateOptions } from "../interface/engine-options.ts";
import { RunError } from "../interface/errors.ts";
import type { Store } from "../interface/store.ts";
import { asStoreError } from "../checkpoint/journal.ts";
import { similarName } from "../run/option-names.ts";

/**
 * Refuses names in `drop` that no version of the thread's graph has had as a channel, and that are similar to one that the thread has.
 * Other names that the thread does not use have no effect: one call serves threads of several versions, and may be repeated. So the
 * channels of the new version do not count, which may be named as the dropped one was (`notes`, now `note`).
 *
 * @throws RunError NG_BAD_INPUT with the similar name
 */
export async function refuseMisspelledDrops(
  store: Store,
  head: Checkpoint,
  { drop = [] }: MigrateOptions,
): Promise<void> {
  const known = new Set(Object.keys(head.values));
  const misspelled = drop.flatMap((name) => {
    // The channels of a called graph are those of its own checkpoints.
    const isShort = name.length < SHORTEST;
    const similar = isShort || known.has(name) || name.includes(".") ? undefined : similarName(name, [...known]);
    return similar === undefined ? [] : [{ name, similar }];
  });
  if (misspelled.length === 0) return;
  const former = await formerChannels(store, head);
  for (const { name, similar } of misspelled) {
    if (former.has(name)) continue;
    const message = `\`${name}\` in \`drop\` is not a channel of thread \`${head.threadId}\`; did you mean \`${similar}\`?`;
    throw new RunError("NG_BAD_INPUT", message);
  }
}

/** Shorter names are similar to many others. */
const SHORTEST = 4;

/** The channels of all versions of the graph that have written a thread. */
async function formerChannels(store: Store, head: Checkpoint): Promise<ReadonlySet<string>> {
  const found = new Set(Object.keys(head.channels ?? {}));
  for (let before: string | undefined = head.id; before !== undefined;) {
    const page: readonly Checkpoint[] = await asStoreError(() =>
      store.list(head.threadId, { before: before!, limit: 100 }),
    );
    for (const { channels, values } of page)
      for (const name of Object.keys({ ...channels, ...values })) found.add(name);
    before = page.at(-1)?.id;
  }
  return found;
}
