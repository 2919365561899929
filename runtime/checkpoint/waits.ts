/** Pauses that continue without an answer: their due time has passed, or their signal has come. */
import type { PauseItem, Signal } from "../interface/checkpoint.ts";
import type { MaybePromise } from "../value/json.ts";
import type { Run } from "../run/run.ts";

/** Whether the body of a waiting task has to run again: its wait is due, or a signal may have come. */
export function mayContinue(run: Run, { kind, due }: PauseItem): boolean {
  return kind === "signal" || (due !== undefined && run.isDue(due));
}

/** Whether one of the pauses continues now: its due time has passed, or its signal is in the inbox. */
export async function someContinue(
  pauses: readonly PauseItem[],
  now: number,
  readInbox: () => MaybePromise<readonly Signal[]>,
): Promise<boolean> {
  if (pauses.some(({ due }) => due !== undefined && due <= now)) return true;
  const names = new Set(pauses.flatMap(({ kind, payload }) => (kind === "signal" ? [payload] : [])));
  if (names.size === 0) return false;
  return (await readInbox()).some(({ name }) => names.has(name));
}

/** When the first pause becomes due; `undefined` if none has a due time. */
export function firstDue(pauses: readonly PauseItem[]): number | undefined {
  let first: number | undefined;
  for (const { due } of pauses) if (due !== undefined && (first === undefined || due < first)) first = due;
  return first;
}
