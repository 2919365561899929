/** Claims of threads. Those of this process that are made together share a transaction. */
import type { CheckpointId, ThreadId } from "../../interface/checkpoint.ts";
import type { Claim, Runner } from "../../interface/store.ts";
import { thisProcess } from "../contract/holder-process.ts";
import { decodeKey, encodeKey } from "../contract/key.ts";
import { addChecksum, THREADS, type ThreadRow, verifyRow } from "../contract/rows.ts";
import { threadIsHeld } from "../contract/store-error.ts";
import { describeHolder, isHeld, leaseEnd, newThread } from "../contract/thread-row.ts";
import type { Outcome } from "./call-groups.ts";
import type { Connection, Statement, Transaction } from "./connection.ts";
import { isRefusal } from "./failure.ts";
import { NOW } from "./thread.ts";

export interface ClaimRequest {
  readonly threadId: ThreadId;
  readonly runner: Runner;
}

export interface TakenClaim {
  readonly claim: Claim;
  /** The head of the thread; `null` if the claim has created the thread, `undefined` if reading it takes a message. */
  readonly head: CheckpointId | null | undefined;
}

/** The thread's row with a claim, and the row before it. */
interface Claimed {
  readonly row: ThreadRow;
  /** Absent for a new thread. */
  readonly before?: ThreadRow;
  readonly isNew: boolean;
}

/** @returns one outcome for each request, in order */
export async function takeClaims(
  connection: Connection,
  requests: readonly ClaimRequest[],
): Promise<readonly Outcome<TakenClaim>[]> {
  for (const { threadId } of requests) connection.known.forget(encodeKey(threadId));
  // A group skips threads that others have locked, so each of those, and a single request, is claimed alone, where it waits.
  const together = requests.length === 1 ? [undefined] : await claimTogether(connection, requests).catch(orAlone);
  function orAlone(error: unknown): readonly undefined[] {
    if (!isRefusal(error)) throw error;
    return requests.map(() => undefined);
  }
  return Promise.all(
    together.map(async (outcome, index): Promise<Outcome<TakenClaim>> => {
      const { threadId, runner } = requests[index]!;
      try {
        const claimed = outcome ?? { value: await claimAlone(connection, requests[index]!) };
        if ("error" in claimed) return claimed;
        const { row, before } = claimed.value;
        const released = before === undefined ? undefined : connection.known.takeReleased(before);
        if (row.last === 0) {
          connection.known.set(row.name, { thread: row, head: undefined, cells: new Map(), isComplete: true });
        } else if (released !== undefined) connection.known.set(row.name, { ...released, thread: row });
        const head = before === undefined ? null : released?.head && decodeKey(released.head.id);
        return { value: { claim: Object.freeze({ threadId, owner: runner.owner, epoch: row.epoch }), head } };
      } catch (error) {
        return { error };
      }
    }),
  );
}

type FoundRow = { readonly [Column in keyof ThreadRow]: ThreadRow[Column] | null } & {
  readonly now: number;
  readonly next_epoch: number;
  readonly next_thread: number;
};

/**
 * Locks a thread, and draws the numbers of a claim: an epoch of the whole database, so that a thread that is deleted and created again
 * never reuses one.
 */
const LOCK =
  "WITH locked AS (SELECT * FROM @.threads WHERE name = $1 FOR UPDATE) " +
  `SELECT ${NOW}, nextval('@.epochs') AS next_epoch, nextval('@.thread_numbers') AS next_thread, locked.* ` +
  "FROM (SELECT 1) AS one LEFT JOIN locked ON true";

const LOCK_FREE =
  "WITH locked AS (SELECT * FROM @.threads WHERE name = ANY($1::text[]) FOR UPDATE SKIP LOCKED) " +
  `SELECT ${NOW}, nextval('@.epochs') AS next_epoch, nextval('@.thread_numbers') AS next_thread, locked.* ` +
  "FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, place) LEFT JOIN locked ON locked.name = wanted.name " +
  "ORDER BY wanted.place";

async function claimAlone(connection: Connection, request: ClaimRequest): Promise<Claimed> {
  for (;;) {
    const lock: Statement = [LOCK, encodeKey(request.threadId)];
    const claimed = await connection.writeAfter<FoundRow, Claimed | undefined>(lock, async (transaction, [found]) => {
      const row = claimedRow(connection, request, found!);
      return (await writeClaims(transaction, [row])).length === 0 ? undefined : row;
    });
    // Otherwise another transaction has created the thread in the meantime: its row is used.
    if (claimed !== undefined) return claimed;
  }
}

/** An outcome for each request; `undefined` for a thread that another transaction has locked or created. */
function claimTogether(
  connection: Connection,
  requests: readonly ClaimRequest[],
): Promise<readonly (Outcome<Claimed> | undefined)[]> {
  // Of several requests for one thread, the first belongs to the group. In one order, so that groups do not deadlock.
  const byName = new Map<string, ClaimRequest>();
  for (const request of requests) {
    const name = encodeKey(request.threadId);
    if (!byName.has(name)) byName.set(name, request);
  }
  const names = [...byName.keys()].sort();
  const lock: Statement = [LOCK_FREE, names];
  return connection.writeAfter<FoundRow, (Outcome<Claimed> | undefined)[]>(lock, async (transaction, rows) => {
    const outcomes = new Map<ClaimRequest, Outcome<Claimed>>();
    for (const [index, name] of names.entries()) {
      const request = byName.get(name)!;
      try {
        outcomes.set(request, { value: claimedRow(connection, request, rows[index]!) });
      } catch (error) {
        outcomes.set(request, { error });
      }
    }
    const claimed = [...outcomes.values()].flatMap((outcome) => ("value" in outcome ? [outcome.value] : []));
    const written = new Set(await writeClaims(transaction, claimed));
    return requests.map((request) => {
      const outcome = outcomes.get(request);
      return outcome !== undefined && "value" in outcome && !written.has(outcome.value.row.name) ? undefined : outcome;
    });
  });
}

/** @throws ThreadError NG_THREAD_CONFLICT if another runner has the thread */
function claimedRow(connection: Connection, { threadId, runner }: ClaimRequest, found: FoundRow): Claimed {
  const { now, next_epoch: epoch, next_thread: thread, ...columns } = found;
  const name = encodeKey(threadId);
  const owner = encodeKey(runner.owner);
  const holder = { epoch, owner, expires: leaseEnd(now, runner.leaseMs), ...thisProcess() };
  if (columns.thread === null)
    return { row: addChecksum(THREADS, { ...newThread(name), thread, ...holder }), isNew: true };
  const known = verifyRow(THREADS, columns as ThreadRow, { name });
  if (known.owner !== null && known.owner !== owner && isHeld(known, now, connection.lost)) {
    throw threadIsHeld(threadId, describeHolder(known));
  }
  return { row: addChecksum(THREADS, { ...known, ...holder }), before: known, isNew: false };
}

/** Writes the rows and commits. Returns the names of the threads that are written: not those that another transaction has created. */
async function writeClaims(transaction: Transaction, claimed: readonly Claimed[]): Promise<readonly string[]> {
  if (claimed.length === 0) return [];
  const isNew = claimed.map((one) => (one.isNew ? 1 : 0));
  const column = <Name extends keyof ThreadRow>(name: Name) => claimed.map(({ row }) => row[name]);
  const rows = await transaction.commitWith<{ name: string }>(
    "WITH given AS (SELECT * FROM unnest(" +
      "$1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::text[], $8::bigint[], $9::text[], " +
      "$10::bigint[], $11::bigint[]) AS given (is_new, thread, name, epoch, owner, expires, host, pid, started, v, sum)" +
      "), added AS (" +
      "INSERT INTO @.threads (thread, name, epoch, owner, expires, host, pid, started, last, checkpoints, namespaces, writes, v, sum) " +
      "SELECT thread, name, epoch, owner, expires, host, pid, started, 0, 0, 0, 0, v, sum FROM given WHERE is_new = 1 " +
      "ORDER BY name ON CONFLICT (name) DO NOTHING RETURNING name" +
      "), changed AS (" +
      "UPDATE @.threads t SET epoch = g.epoch, owner = g.owner, expires = g.expires, host = g.host, pid = g.pid, " +
      "started = g.started, v = g.v, sum = g.sum FROM given g WHERE t.thread = g.thread AND g.is_new = 0 RETURNING t.name" +
      ") SELECT name FROM added UNION ALL SELECT name FROM changed",
    ...([isNew, column("thread"), column("name"), column("epoch"), column("owner"), column("expires")] as const),
    ...([column("host"), column("pid"), column("started"), column("v"), column("sum")] as const),
  );
  return rows.map(({ name }) => name);
}
