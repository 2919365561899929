/** The objects of threads without a server: calls are executed as Restate does, one at a time by thread. */
import type { KeyValues } from "../../hosts/restate/store/key-values.ts";
import type { ScanThreads } from "../../hosts/restate/store/list-threads.ts";
import type { CallThread } from "../../hosts/restate/store/restate-store.ts";
import { placeOf } from "../../hosts/restate/store/rows.ts";
import { ThreadState } from "../../hosts/restate/store/thread-state.ts";
import { answer, readAnswer, type Answer } from "../../hosts/restate/wire-error.ts";

export interface ThreadsInMemory {
  /** The rows of each thread. */
  readonly threads: ReadonlyMap<string, Map<string, string>>;
  readonly call: CallThread;
  /** The methods that were called. */
  readonly calls: string[];
  /** The rows that calls have read. */
  readonly reads: string[];
}

export function threadsInMemory(): ThreadsInMemory {
  const threads = new Map<string, Map<string, string>>();
  const turns = new Map<string, Promise<unknown>>();
  const calls: string[] = [];
  const reads: string[] = [];
  const call = (async (thread: string, method: keyof ThreadState, input: object) => {
    const content = threads.get(thread) ?? new Map<string, string>();
    threads.set(thread, content);
    calls.push(method);
    const before = turns.get(thread);
    const work = async (): Promise<string> => {
      await before;
      const state = new ThreadState(inMemory(content, reads));
      const method_ = state[method] as (given: object) => Promise<unknown>;
      return JSON.stringify(await answer(() => method_.call(state, JSON.parse(JSON.stringify(input)) as object)));
    };
    const running = work();
    turns.set(
      thread,
      running.catch(() => undefined),
    );
    return readAnswer(JSON.parse(await running) as Answer<unknown>);
  }) as CallThread;
  return { threads, call, calls, reads };
}

/** As the server of Restate sorts rows: by their places, then by the names of threads. */
export function scanInMemory(threads: ReadonlyMap<string, Map<string, string>>): ScanThreads {
  return async ({ after, before, limit }) =>
    [...threads]
      .map(([thread, rows]) => ({ thread, text: rows.get("thread") ?? "" }))
      .map((row) => ({ ...row, place: placeOf(row.text) }))
      .filter(
        ({ place, thread }) =>
          place > after && (place < before.place || (place === before.place && thread < before.thread)),
      )
      .sort((a, b) => (a.place === b.place ? compare(b.thread, a.thread) : compare(b.place, a.place)))
      .slice(0, limit);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** @param reads receives the keys that are read */
export function inMemory(content: Map<string, string>, reads: string[] = []): KeyValues {
  return {
    get: async (key) => {
      reads.push(key);
      return content.get(key);
    },
    set: (key, text) => void content.set(key, text),
    clear: (key) => void content.delete(key),
    keys: async () => [...content.keys()],
  };
}
