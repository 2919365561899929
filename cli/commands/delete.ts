import { printable } from "../../diagnostics/render/index.ts";
import { isDamage } from "../threads/damage.ts";
import { addPlaceOptions, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { withThreadClaimed } from "../threads/claim-thread.ts";
import { latestOf } from "../threads/thread-source.ts";

interface DeleteOptions extends ThreadsPlace {}

export const deleteCommand = defineCommand<DeleteOptions>({
  usage: "delete <thread...>",
  summary: "delete threads and everything stored for them; a running thread is refused",
  configure: (command) => {
    addPlaceOptions(command);
  },
  examples: ["ngc delete 42"],
  run: (threads, options, output) =>
    withThreads(options, { mustExist: true }, async ({ store }) => {
      // If one of them does not exist, none is deleted.
      for (const thread of threads) await ignoringDamage(async () => void (await latestOf(store, thread)));
      for (const thread of new Set(threads)) {
        const isDone = await ignoringDamage(() =>
          withThreadClaimed(store, thread, async () => {
            await store.deleteThread(thread);
          }),
        );
        // A damaged thread cannot be claimed, and no run can hold it.
        if (!isDone) await store.deleteThread(thread);
        output.result(`deleted thread ${printable(thread)}`);
      }
      output.document({ version: 1, deleted: [...new Set(threads)] });
      return EXIT.ok;
    }),
});

/** Runs `work`; returns `false` if the thread is damaged. Deleting is the way out that the errors of damaged threads name. */
async function ignoringDamage(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}
