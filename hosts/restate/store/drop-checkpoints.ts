/**
 * Removes checkpoints of a thread. A row that follows a removed one in its chain receives all values, so that the values of every
 * remaining checkpoint can be computed from rows that are still there.
 */
import { Chain, snapshotChanges } from "../../../runtime/stores/memory/chain.ts";
import { keyOf, type HeadRow, type Place, type CheckpointRow, type SavedRow } from "./rows.ts";
import { range, type ThreadRows } from "./thread-rows.ts";

/**
 * A row with all values is written when the changes since the last one weigh more than it, so that all of them together stay
 * linear in what has changed (5.12). Every row counts with this weight in addition.
 */
export const ROW_WEIGHT = 200;

/** @param numbers of their saves. Returns how many of them were there. */
export async function dropCheckpoints(rows: ThreadRows, numbers: readonly number[]): Promise<number> {
  const [thread, kept, ...saved] = await Promise.all([
    rows.thread(),
    rows.kept(),
    ...numbers.map((number) => rows.read<SavedRow>(keyOf.saved(number))),
  ]);
  const places = saved.flatMap((row): Place[] => (row !== undefined && "place" in row ? [row.place] : []));
  const byChain = new Map<number, number[]>();
  for (const [chain, position] of places) byChain.set(chain, [...(byChain.get(chain) ?? []), position]);
  // Later runs first: the values of their successors may depend on the rows of earlier ones.
  for (const [chain, positions] of byChain) {
    for (const [first, last] of runsOf(positions).reverse()) await dropRun(rows, thread.next, chain, first, last);
  }
  for (const number of numbers) rows.clear(keyOf.saved(number));
  const gone = new Set(numbers);
  const first = Math.max(thread.first, ...numbers.map((number) => number + 1));
  const stays = [...kept, ...range(thread.first, first)].filter((number) => !gone.has(number));
  if (stays.length > 0) rows.write(keyOf.kept, stays);
  else if (kept.length > 0) rows.clear(keyOf.kept);
  rows.writeThread({ ...thread, first, checkpoints: thread.checkpoints - places.length });
  return places.length;
}

/** Runs of positions that follow each other, ascending. */
function runsOf(positions: readonly number[]): (readonly [first: number, last: number])[] {
  const runs: [number, number][] = [];
  for (const position of [...positions].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === position - 1) run[1] = position;
    else runs.push([position, position]);
  }
  return runs;
}

async function dropRun(rows: ThreadRows, saves: number, chain: number, first: number, last: number): Promise<void> {
  const dropped = await rows.rows(chain, first, last);
  const heir = await rows.checkpointIfAny([chain, last + 1]);
  if (heir !== undefined) await makeFull(rows, saves, chain, last + 1, heir);
  for (const [index, { header }] of dropped.entries()) {
    const { id } = header;
    const [label, batches = 0] = await Promise.all([rows.label(id), rows.read<number>(keyOf.batches(id))]);
    rows.clear(keyOf.checkpoint([chain, first + index]));
    rows.clear(keyOf.id(id));
    if (label !== null) {
      rows.clear(keyOf.label(label));
      rows.clear(keyOf.labelOf(id));
    }
    rows.clearBatches(id, batches);
  }
}

/** Gives all values to the row at a position, whose parent is removed. Later rows then start from it. */
async function makeFull(
  rows: ThreadRows,
  saves: number,
  chain: number,
  position: number,
  row: CheckpointRow,
): Promise<void> {
  const { namespace } = row.header;
  if (row.full === position) {
    rows.write(keyOf.checkpoint([chain, position]), { ...row, parent: null });
    return;
  }
  const values = new Chain({ threadId: row.header.threadId });
  for (const [index, earlier] of (await rows.rows(chain, row.full, position - 1)).entries()) {
    values.add(index, earlier.changes);
  }
  values.add(position - row.full, row.changes);
  const changes = snapshotChanges(values.at(position - row.full));
  rows.write(keyOf.checkpoint([chain, position]), { ...row, parent: null, full: position, changes });
  // A chain has at most as many rows as the thread has saves.
  for (let at = position + 1; at < saves; at++) {
    const later = await rows.checkpointIfAny([chain, at]);
    if (later?.full !== row.full) break;
    rows.write(keyOf.checkpoint([chain, at]), { ...later, full: position });
  }
  const head = await rows.read<HeadRow>(keyOf.head(namespace));
  if (head === undefined || head.place[0] !== chain || head.full !== row.full) return;
  rows.write(keyOf.head(namespace), { ...head, full: position, fullWeight: JSON.stringify(changes).length });
}
