import type { UndoEntry } from "../interface/undo.ts";
import type { Program } from "../program/program.ts";
import type { StoredOutcome } from "../run/shared.ts";

interface StoredResult {
  readonly taskId: string;
  readonly result: Pick<StoredOutcome, "undo">;
}

/** The undo entries of the stored results of one step, in task order (2.2). */
export function undosOfResults(
  { nodeIndex }: Pick<Program, "nodeIndex">,
  results: readonly StoredResult[],
): readonly UndoEntry[] {
  const withUndos = results.filter(({ result }) => result.undo !== undefined);
  if (withUndos.length === 0) return NO_ENTRIES;
  const placed = withUndos.map(({ taskId, result }) => ({
    place: placeOf(taskId, nodeIndex),
    undo: result.undo ?? [],
  }));
  placed.sort((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1] || a.place[2] - b.place[2]);
  return placed.flatMap(({ undo }) => undo);
}

/** The place of a task in its step: nodes in declaration order with their items, then sent items in the order of sending. */
function placeOf(taskId: string, nodes: ReadonlyMap<string, number>): readonly [number, number, number] {
  const [, name = "", item, sent] = /^(\w+)(?:\[(\d+)\]|~\d+\.(\d+))?/.exec(taskId) ?? [];
  if (sent !== undefined) return [1, Number(sent), 0];
  return [0, nodes.get(name) ?? nodes.size, item === undefined ? -1 : Number(item)];
}

const NO_ENTRIES: readonly never[] = Object.freeze([]);
