import type { SaveRequest } from "../../interface/store.ts";
import type { Json } from "../../value/json.ts";
import { continuesChain, snapshotChanges } from "./cells.ts";
import { jsonText, keepText } from "./json-text.ts";
import { quote } from "./store-error.ts";

/** A shorter list is encoded with its checkpoint. */
const LONG = 2000;

/** Number of items that are encoded together. */
const PART = 256;

/** Milliseconds of encoding between two turns of the event loop. */
const TURN_MS = 4;

/**
 * Encodes the long lists of a checkpoint before it is saved, in turns of the event loop: one call of `JSON.stringify` for 100,000
 * records takes 30 ms and more. `encodeChanges` then takes the texts.
 *
 * @returns a promise if there is such a list
 */
export function encodeLong(request: SaveRequest): Promise<void> | undefined {
  const changes = continuesChain(request) ? request.changes : snapshotChanges(request);
  const lists = changes.flatMap((change) => {
    const content = change.kind === "append" ? change.items : change.kind === "set" ? change.value : null;
    return Array.isArray(content) && content.length >= LONG && Object.isFrozen(content)
      ? [{ channel: change.channel, list: content as readonly Json[] }]
      : [];
  });
  return lists.length === 0 ? undefined : encodeAll(lists);
}

async function encodeAll(
  lists: readonly { readonly channel: string; readonly list: readonly Json[] }[],
): Promise<void> {
  let since = performance.now();
  for (const { channel, list } of lists) {
    const what = () => `channel ${quote(channel)}`;
    const parts: string[] = [];
    for (let at = 0; at < list.length; at += PART) {
      if (performance.now() - since >= TURN_MS) {
        await nextTurn();
        since = performance.now();
      }
      parts.push(jsonText(list.slice(at, at + PART), what).slice(1, -1));
    }
    keepText(list, `[${parts.join(",")}]`);
  }
  await nextTurn();
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
