/**
 * The numbers in the ids of a `for` node's items: `each[3]`. An item has the number of its index in the list. If an edit of the list
 * moves it while its step is unfinished, it keeps the number under which its result, its pauses, its answers, its called graph and
 * its idempotency key are stored, so that it is neither run nor asked again.
 */
import type { Checkpoint, PauseItem } from "../interface/checkpoint.ts";
import { digestOfIdentity, identityOfItem, taskName } from "../run/item-identity.ts";
import { inTurns } from "../run/cut-work.ts";
import type { Run } from "../run/run.ts";
import type { Json } from "../value/json.ts";
import { endsPart, type Work } from "../value/work.ts";
import { tasksInTurns } from "./step-tasks.ts";
import type { Outcome, Task } from "./task.ts";

/** An item about which something is stored: its identity with a result, else the digest in an id. */
export interface ItemRecord {
  readonly identity: string | undefined;
  readonly digest: string | undefined;
}

/** Node -> number -> the items that had this number. Several had it if an edit has replaced one. */
type NumberedItems = Map<number, ItemRecord[]>;
/** The stored items of an unfinished step. */
export type ItemRecords = ReadonlyMap<string, NumberedItems>;

/** Reads which items a restored step has stored something about. */
export function* readItemRecords(run: Run, head: Checkpoint): Work<ItemRecords | undefined> {
  const records = new Map<string, NumberedItems>();
  const add = (node: string, number: string, record: ItemRecord): void => {
    let known = records.get(node);
    if (known === undefined) records.set(node, (known = new Map()));
    const items = known.get(Number(number));
    if (items === undefined) known.set(Number(number), [record]);
    else items.push(record);
  };
  let count = 0;
  for (const [id, { item }] of run.stored ?? []) {
    const [, node, number] = item === undefined ? [] : (ITEM.exec(id) ?? []);
    if (node !== undefined) add(node, number!, { identity: item, digest: undefined });
    if (endsPart(count++)) yield;
  }
  const named = [
    ...head.pauses.map(({ id }) => run.ownPauseId(id)),
    ...[...run.shared.answers.keys(), ...(run.dues?.keys() ?? [])].map((id) => run.ownPauseId(id)),
    ...(run.parts?.keys() ?? []),
  ];
  for (const id of named) {
    const [, node, number, digest, step] = (id === undefined ? null : NAMED.exec(id)) ?? [];
    // A part has no step: it belongs to the present one.
    if (node !== undefined && (step === undefined || Number(step) === run.step))
      add(node, number!, { identity: undefined, digest });
    if (endsPart(count++)) yield;
  }
  return records.size === 0 ? undefined : records;
}

/** `each[3]` */
const ITEM = /^(\w+)\[(\d+)\]$/;

/** The beginning of the id of a pause, `each[3]#1f0c2a9b4d3e@2`, or of a part, `each[3]#1f0c2a9b4d3e/`. */
const NAMED = /^(\w+)\[(\d+)\]#([0-9a-f]+)(?:@(\d+)|\/)/;

/**
 * Gives the items of a node their numbers. Of equal items, the first unmoved ones keep theirs; the others take the remaining
 * numbers in the order of the list. An item about which nothing is stored has its index, or a number behind the list if another item
 * has kept that one.
 *
 * @param length of the list, with the items that a condition leaves out
 */
export function* numberItems(run: Run, node: string, items: Task[], length: number): Work<undefined> {
  const records = run.itemRecords?.get(node);
  if (records === undefined || !(yield* haveMoved(items, records))) return;
  const numbers = new Map<string, number[]>();
  // The lowest number is the last of its list.
  for (const [number, stored] of [...records].sort(([a], [b]) => b - a)) {
    for (const { identity, digest } of stored) {
      const key = digest ?? digestOfIdentity(identity!);
      const known = numbers.get(key);
      if (known === undefined) numbers.set(key, [number]);
      else known.push(number);
    }
    if (endsPart(number)) yield;
  }
  const held = new Map<number, Task>();
  const others: Task[] = [];
  for (const [at, item] of items.entries()) {
    if (isOf(records.get(item.itemIndex), item)) held.set(item.itemIndex, item);
    else others.push(item);
    if (endsPart(at)) yield;
  }
  const fresh: Task[] = [];
  for (const [at, item] of others.entries()) {
    const free = numbers.get(digestOfIdentity(identityOfItem(item.item as Json))) ?? [];
    while (free.length > 0 && held.has(free.at(-1)!)) free.pop();
    const number = free.pop();
    if (number === undefined) fresh.push(item);
    else held.set(number, item);
    if (endsPart(at)) yield;
  }
  // Mutation point: displaced-item
  const displaced = fresh.filter(({ itemIndex }) => held.has(itemIndex));
  let next = length;
  for (const item of displaced) {
    while (held.has(next)) next++;
    held.set(next, item);
  }
  const numberOf = new Map<Task, number>();
  for (const [number, item] of held) {
    numberOf.set(item, number);
    if (endsPart(numberOf.size)) yield;
  }
  for (const [at, item] of items.entries()) {
    const number = numberOf.get(item);
    // Mutation point: moved-item
    if (number !== undefined && number !== item.itemIndex) items[at] = { ...item, id: `${node}[${number}]` };
    if (endsPart(at)) yield;
  }
}

/** Whether something is stored under a number whose index holds another item now, or none. */
function* haveMoved(items: readonly Task[], records: NumberedItems): Work<boolean> {
  let same = 0;
  for (const [at, item] of items.entries()) {
    if (isOf(records.get(item.itemIndex), item)) same++;
    if (endsPart(at)) yield;
  }
  return same < records.size;
}

export function isOf(records: readonly ItemRecord[] | undefined, task: Task | undefined): boolean {
  if (records === undefined || task === undefined) return false;
  const own = identityOfItem(task.item as Json);
  return records.some(({ identity, digest }) =>
    identity === undefined ? digest === digestOfIdentity(own) : identity === own,
  );
}

/**
 * Records the items that have failed, that were cut off, or whose called graph is unfinished: they have no result and may have no
 * pause, but their next execution needs the same key. Only a checkpoint inside the step stores it.
 */
export function* recordBegunItems(run: Run, items: readonly Task[], outcomes: readonly Outcome[]): Work<undefined> {
  for (const [at, { failure, cutOff, children, pauses }] of outcomes.entries()) {
    // Mutation point: cut-off-item
    if (failure !== undefined || cutOff === true || (children !== undefined && pauses === undefined))
      (run.parts ??= new Map()).set(`${taskName(items[at]!)}/${BEGUN}`, true);
    if (endsPart(at)) yield;
  }
}

/**
 * Stores the items whose number is behind their list, before any of them begins. An edit of the graph may change the length of the list,
 * from which this number follows: a process that dies would leave nothing that shows it.
 */
export async function keepNumbers(run: Run, tasks: readonly Task[]): Promise<void> {
  const displaced = await inTurns(run.shared, displacedItems(run, tasks));
  const stored = displaced.map((item) => {
    const id = `${taskName(item)}/${BEGUN}`;
    (run.parts ??= new Map()).set(id, true);
    // Mutation point: kept-number
    return run.writer!.keepPart(item.node.spec.name, id, true);
  });
  await Promise.all(stored);
}

function* displacedItems(run: Run, tasks: readonly Task[]): Work<readonly Task[]> {
  const displaced: Task[] = [];
  for (const { id, items } of tasks) {
    const records = run.itemRecords?.get(id);
    if (records === undefined || items === undefined || run.stored?.has(id) === true) continue;
    for (const [at, item] of items.entries()) {
      const number = Number(ITEM.exec(item.id)![2]);
      if (number !== item.itemIndex && !isOf(records.get(number), item)) displaced.push(item);
      if (endsPart(at)) yield;
    }
  }
  return displaced;
}

/** Records the items that ask beside a failure or a cancellation: its checkpoint has no pauses, and a resume runs these items again. */
export function recordAskingItems(run: Run, pauses: readonly PauseItem[]): void {
  for (const { id } of pauses) {
    const [, node, number, digest] = NAMED.exec(run.ownPauseId(id) ?? "") ?? [];
    // Mutation point: asking-item
    if (node !== undefined) (run.parts ??= new Map()).set(`${node}[${number}]#${digest}/${BEGUN}`, true);
  }
}

/**
 * Applies an edit of the state to an unfinished step. If it moves items that have no result, all of their node are recorded: a process
 * that has died may have begun any of them, and each keeps its number and its key.
 */
export async function editItems(run: Run, head: Checkpoint, edit: () => void): Promise<void> {
  const { shared } = run;
  const hasItems = run.ready.some((node) => run.program.nodes[node]!.list !== undefined);
  if (!hasItems) return edit();
  run.itemRecords = await inTurns(shared, readItemRecords(run, head));
  const before = await tasksInTurns(run);
  edit();
  await inTurns(shared, recordMovedItems(run, before, await tasksInTurns(run)));
}

function* recordMovedItems(run: Run, before: readonly Task[], after: readonly Task[]): Work<undefined> {
  const presentItems = new Map(after.map(({ id, items }) => [id, items]));
  for (const { id, items } of before) {
    if (items === undefined || run.stored?.has(id) === true) continue;
    const open: Task[] = [];
    for (const [at, item] of items.entries()) {
      if (run.stored?.get(item.id)?.item !== identityOfItem(item.item as Json)) open.push(item);
      if (endsPart(at)) yield;
    }
    // An item that has not moved may have a number behind the list, which moves with its length.
    const present = new Map<string, Json>();
    for (const { id: number, item } of presentItems.get(id) ?? []) present.set(number, item as Json);
    let hasMoved = false;
    for (const [at, { id: number, item }] of open.entries()) {
      const now = present.get(number);
      // Mutation point: edited-number
      hasMoved ||= now === undefined || identityOfItem(now) !== identityOfItem(item as Json);
      if (endsPart(at)) yield;
    }
    if (!hasMoved) continue;
    for (const [at, item] of open.entries()) {
      (run.parts ??= new Map()).set(`${taskName(item)}/${BEGUN}`, true);
      if (endsPart(at)) yield;
    }
  }
}

/** Forgets what was recorded about the items of tasks whose results are written by hand. */
export function forgetBegunItems(run: Run, isOwn: (item: string) => boolean): void {
  for (const id of [...(run.parts?.keys() ?? [])]) {
    const [, item] = BEGUN_ITEM.exec(id) ?? [];
    if (item !== undefined && isOwn(item)) run.parts!.delete(id);
  }
}

/** No part of a body has this name: keys of parts are not empty. */
const BEGUN = "";
const BEGUN_ITEM = /^(\w+\[\d+\])#[0-9a-f]+\/$/;
