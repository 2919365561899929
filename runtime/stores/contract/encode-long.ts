import { systemClock } from "../../interface/clock.ts";
import type { SaveRequest } from "../../interface/store.ts";
import { inTurns } from "../../run/cut-work.ts";
import { atNextTurn } from "../../run/next-turn.ts";
import { turnOf } from "../../run/take-turns.ts";
import type { Json } from "../../value/json.ts";
import type { Work } from "../../value/work.ts";
import { continuesChain, snapshotChanges } from "./cells.ts";
import { jsonText, keepText } from "./json-text.ts";
import { quote } from "./store-error.ts";

/** A shorter list is encoded with its checkpoint. */
const LONG = 2000;

/** Number of items that are encoded together. */
const PART = 256;

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
  return lists.length === 0 ? undefined : inTurnsAndLast(encodeAll(lists));
}

async function inTurnsAndLast(work: Work<void>): Promise<void> {
  const turn = turnOf(systemClock);
  await inTurns({ turn, clock: systemClock }, work);
  // The transaction is one call: it has a turn of its own.
  await new Promise<void>((resolve) => atNextTurn(turn, systemClock, resolve));
}

function* encodeAll(lists: readonly { readonly channel: string; readonly list: readonly Json[] }[]): Work<void> {
  for (const { channel, list } of lists) {
    const what = () => `channel ${quote(channel)}`;
    const parts: string[] = [];
    for (let at = 0; at < list.length; at += PART) {
      parts.push(jsonText(list.slice(at, at + PART), what).slice(1, -1));
      yield;
    }
    keepText(list, `[${parts.join(",")}]`);
  }
}
