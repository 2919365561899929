import { NO_ENTRIES, openUndos, underCall } from "../checkpoint/undo-log.ts";
import type { UndoEntry } from "../interface/undo.ts";
import type { Attempt } from "./attempt.ts";
import type { Update } from "./task.ts";

/** How the result of an attempt is undone: by the `undo` of its node, or by those of the graph that it has called. */
export function undosOf(attempt: Attempt, updates: readonly Update[]): readonly UndoEntry[] | undefined {
  const { undo } = attempt.task.node;
  // R5: the `undo` of a node replaces those of the graph that it calls.
  if (undo !== undefined) return [attempt.run.program.linker.undoEntry(attempt, undo, updates)];
  return calledUndos(attempt);
}

/** The entries of the graph that an attempt has called, for the log of the caller. */
export function calledUndos({ called = NO_ENTRIES, task, toolUndos }: Attempt): readonly UndoEntry[] | undefined {
  if (called.length === 0 && toolUndos === undefined) return undefined;
  // A call whose result is stored has its entries twice: from its run, and from the part.
  return openUndos([...underCall(called, task.node.spec.name, task.id), ...(toolUndos ?? NO_ENTRIES)]);
}
