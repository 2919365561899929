import { isThenable } from "../value/promise.ts";
import { emitEvent } from "../event/run-events.ts";
import type { Signal } from "../interface/checkpoint.ts";
import { isOver } from "../checkpoint/is-over.ts";
import { readSignals } from "../checkpoint/inbox.ts";
import type { Run, RunEnd } from "./run.ts";
import { entersFinally } from "./run-end.ts";

/**
 * Removes the signals that no node has taken, with the checkpoint that ends the run. A signal that arrives later belongs to the
 * next run of the thread.
 *
 * @param end absent for a run that a new one abandons
 */
export function dropSignals(run: Run, end?: RunEnd): Promise<void> | undefined {
  const { durable, inbox } = run.shared;
  if (durable === undefined || !run.program.receives || run.path.length > 0) return undefined;
  if (end !== undefined && !isOver(end)) return undefined;
  // The `finally` part can take signals, too.
  if (end !== undefined && entersFinally(run, end)) return undefined;
  const drop = (signals: readonly Signal[]): void => {
    for (const { id, name } of inbox.drop(signals)) {
      if (run.listening) emitEvent(run, { type: "signal", phase: "dropped", id, name });
    }
  };
  const signals = readSignals(durable.store, durable.threadId);
  if (isThenable(signals)) return Promise.resolve(signals).then(drop);
  drop(signals);
  return undefined;
}
