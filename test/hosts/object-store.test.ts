/** The store over the state of virtual objects, without a server: calls are executed as Restate does, one at a time by thread. */
import { describe, it } from "vitest";
import { ItemState } from "../../hosts/restate/store/item-state.ts";
import { RestateStore, type CallItems } from "../../hosts/restate/store/restate-store.ts";
import { answer, readAnswer, type Answer } from "../../hosts/restate/wire-error.ts";
import { describeStore } from "../../runtime/stores/conformance/conformance.ts";
import { inMemory, scanInMemory, threadsInMemory } from "./threads-in-memory.ts";

describeStore({ describe, it }, "RestateStore", () => {
  const { threads, call } = threadsInMemory();
  const parts = new Map<string, Map<string, string>>();
  const callItems = (async (part: string, method: keyof ItemState, input: object) => {
    const content = parts.get(part) ?? new Map<string, string>();
    parts.set(part, content);
    const state = new ItemState(inMemory(content));
    const method_ = state[method] as (given: object) => Promise<unknown>;
    const text = JSON.stringify(await answer(() => method_.call(state, JSON.parse(JSON.stringify(input)) as object)));
    return readAnswer(JSON.parse(text) as Answer<unknown>);
  }) as CallItems;
  const scan = scanInMemory(threads);
  const open = (): RestateStore => new RestateStore(call, { scan, callItems });
  return {
    store: open(),
    reopen: open,
    size: () =>
      [...threads.values()]
        .flatMap((rows) => [...rows])
        .reduce((sum, [key, text]) => sum + key.length + text.length, 0),
  };
});
