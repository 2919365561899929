import type { ThreadSummary } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { threadsOf } from "../../runtime/thread/list-threads.ts";
import { CommandError } from "../process/command-error.ts";

const PAGE = 500;

/**
 * The threads of a store, most recently written first, in pages: memory does not grow with their number. A thread that is written
 * meanwhile is not listed again.
 */
export async function* everyThread(store: Store): AsyncGenerator<ThreadSummary> {
  if (store.threads === undefined) throw new CommandError("this store cannot list its threads");
  let after: number | undefined;
  for (;;) {
    const page = await threadsOf(store, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    yield* page;
    after = page.at(-1)?.position;
    if (page.length < PAGE || after === undefined) return;
  }
}
