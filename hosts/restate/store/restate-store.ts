import type {
  Checkpoint,
  CheckpointHeader,
  CheckpointId,
  PendingWrite,
  Signal,
  ThreadId,
} from "../../../runtime/interface/checkpoint.ts";
import { StoreError } from "../../../runtime/interface/errors.ts";
import type { StoredItem, StoredItemsOptions } from "../../../runtime/interface/memory.ts";
import type {
  Claim,
  ListOptions,
  PrunePolicy,
  Runner,
  SaveRequest,
  Store,
  ThreadInfo,
  ThreadsOptions,
} from "../../../runtime/interface/store.ts";
import { noteClaimedHead } from "../../../runtime/interface/claimed-heads.ts";
import { refuseUnknown } from "../../../runtime/interface/known-phase.ts";
import { continuesChain } from "../../../runtime/stores/contract/cells.ts";
import { checkJson, freezeDeep, frozenJson } from "../../../runtime/stores/contract/frozen-json.ts";
import { checkSchemaVersion } from "../../../runtime/stores/contract/header-text.ts";
import { encodeKey } from "../../../runtime/stores/contract/key.ts";
import { checkPrunePolicy, rowLimit } from "../../../runtime/stores/contract/limits.ts";
import { keptCheckpoints, type PrunePoint } from "../../../runtime/stores/contract/retention.ts";
import { quote, storeIsClosed } from "../../../runtime/stores/contract/store-error.ts";
import { Chain, frozenChanges, snapshotChanges } from "../../../runtime/stores/memory/chain.ts";
import type { Json } from "../../../runtime/value/json.ts";
import type { ItemState } from "./item-state.ts";
import { listThreads, type ScanThreads } from "./list-threads.ts";
import { MemoryParts } from "./memory-parts.ts";
import type { DrivenThread } from "./driven-thread.ts";
import type { Found, ListPart, SaveCall, SavedCopies, SavedPoints, ThreadState, WriteCall } from "./thread-state.ts";

/** Calls a method of the `ThreadState` of a thread, wherever its object is. */
export type CallThread = <Name extends keyof ThreadState>(
  thread: ThreadId,
  method: Name,
  input: Parameters<ThreadState[Name]> extends [infer Input] ? Input : object,
) => Promise<Awaited<ReturnType<ThreadState[Name]>>>;

/** Calls a method of the `ItemState` of a part of the long-term memory, wherever its object is. */
export type CallItems = <Name extends keyof ItemState>(
  part: string,
  method: Name,
  input: Parameters<ItemState[Name]>[0],
) => Promise<Awaited<ReturnType<ItemState[Name]>>>;

export interface RestateStoreOptions {
  /** Clock for leases, in milliseconds since 1970. */
  readonly now?: () => number;
  /** For a worker: the thread as the invocation that drives it writes to it. Its writes carry the invocation. */
  readonly drivenOf?: (thread: ThreadId) => DrivenThread | undefined;
  /** Reads the rows of threads for a listing. */
  readonly scan?: ScanThreads;
  /** Calls a method of the `ItemState` of a part of the long-term memory. */
  readonly callItems?: CallItems;
}

/**
 * A store in the state of virtual objects: each thread is one object, which executes one write at a time. An engine with this store
 * behaves as with any other store, in any process that reaches Restate.
 */
export class RestateStore implements Store {
  readonly acceptsSplices = true;
  readonly #call: CallThread;
  readonly #now: () => number;
  readonly #drivenOf: (thread: ThreadId) => DrivenThread | undefined;
  readonly #scan: ScanThreads | undefined;
  readonly #items: MemoryParts | undefined;
  /** The newest place in the listing that this store has given. */
  #position = 0;
  #isClosed = false;

  constructor(call: CallThread, options: RestateStoreOptions = {}) {
    this.#call = (async (thread: ThreadId, method: keyof ThreadState, input: never) => {
      if (this.#isClosed) throw storeIsClosed();
      const driven = this.#drivenOf(thread);
      if (driven === undefined) return call(thread, method, input);
      const { claim } = input as { readonly claim?: Claim };
      if (claim !== undefined && BATCHED.has(method)) {
        return driven.owns(claim) ? driven.write({ method, input } as WriteCall) : call(thread, method, input);
      }
      await driven.flush();
      return call(thread, method, input);
    }) as CallThread;
    this.#now = options.now ?? Date.now;
    this.#drivenOf = options.drivenOf ?? (() => undefined);
    this.#scan = options.scan;
    this.#items = options.callItems && new MemoryParts(options.callItems);
  }

  async claim(thread: ThreadId, { owner, leaseMs }: Runner): Promise<Claim> {
    encodeKey(owner);
    const driven = this.#drivenOf(thread)?.takeClaim();
    if (driven !== undefined) {
      noteClaimedHead(this, driven.claim, driven.head);
      return driven.claim;
    }
    const { epoch, head } = await this.#call(thread, "claim", {
      thread,
      owner,
      leaseMs,
      now: this.#now(),
    });
    const claim = Object.freeze({ threadId: thread, owner, epoch });
    noteClaimedHead(this, claim, head);
    return claim;
  }

  async renew(claim: Claim, leaseMs: number): Promise<void> {
    await this.#call(claim.threadId, "renew", { claim, leaseMs, now: this.#now() });
  }

  async release(claim: Claim): Promise<void> {
    await this.#call(claim.threadId, "release", { claim });
  }

  async save(claim: Claim, request: SaveRequest): Promise<void> {
    const { header, expectedHead, clearWritesOf, takenSignals, returnedSignals, releaseClaim } = request;
    refuseUnknown(header);
    checkJson(header, () => `the header of checkpoint ${quote(header.id)}`);
    const changes = frozenChanges(continuesChain(request) ? request.changes : snapshotChanges(request.snapshot()));
    const call: SaveCall = {
      claim,
      header,
      changes,
      expectedHead,
      ...(clearWritesOf === undefined ? {} : { clearWritesOf }),
      ...(takenSignals === undefined || takenSignals.length === 0 ? {} : { takenSignals }),
      ...(returnedSignals === undefined ? {} : { returnedSignals: returnedSignals.map(copyOfSignal) }),
      ...(releaseClaim === undefined ? {} : { releaseClaim }),
      position: this.#nextPosition(),
      ...this.#tag(claim.threadId),
    };
    const driven = this.#drivenOf(claim.threadId);
    const isHeld = header.phase === "input" && releaseClaim !== true && driven?.owns(claim) === true;
    if (isHeld) driven.hold({ method: "save", input: call });
    else await this.#call(claim.threadId, "save", call);
  }

  async loadLatest(thread: ThreadId, namespace = ""): Promise<Checkpoint | undefined> {
    return checkpointOf(await this.#call(thread, "loadLatest", { namespace }));
  }

  async loadById(thread: ThreadId, id: CheckpointId): Promise<Checkpoint | undefined> {
    return checkpointOf(await this.#call(thread, "loadById", { id }));
  }

  async loadByLabel(thread: ThreadId, label: string): Promise<Checkpoint | undefined> {
    return checkpointOf(await this.#call(thread, "loadByLabel", { label }));
  }

  async list(thread: ThreadId, options: ListOptions = {}): Promise<readonly Checkpoint[]> {
    const { namespace = "", before } = options;
    const limit = rowLimit(options.limit);
    const call = { thread, namespace, limit, ...(before === undefined ? {} : { before }) };
    return (await this.#call(thread, "list", call)).flatMap(checkpointsOf);
  }

  async deleteThread(thread: ThreadId): Promise<void> {
    await this.#call(thread, "deleteThread", {});
  }

  async putWrites(
    claim: Claim,
    checkpoint: CheckpointId,
    writes: readonly PendingWrite[],
    takenSignals: readonly string[] = [],
  ): Promise<void> {
    const taken = takenSignals.length === 0 ? {} : { taken: takenSignals };
    for (const write of writes) {
      encodeKey(write.taskId);
      checkJson(write, () => `the result of task ${quote(write.taskId)}`);
    }
    await this.#call(claim.threadId, "putWrites", {
      claim,
      checkpoint,
      writes,
      ...taken,
      ...this.#tag(claim.threadId),
    });
  }

  async getWrites(thread: ThreadId, checkpoint: CheckpointId): Promise<readonly PendingWrite[]> {
    const writes = await this.#call(thread, "writes", { checkpoint });
    return freezeDeep(writes as unknown as Json) as unknown as readonly PendingWrite[];
  }

  async clearWrites(claim: Claim, checkpoint: CheckpointId, tasks?: readonly string[]): Promise<void> {
    await this.#call(claim.threadId, "clearWrites", { claim, checkpoint, ...(tasks === undefined ? {} : { tasks }) });
  }

  async putSignal(thread: ThreadId, signal: Signal): Promise<boolean> {
    return this.#call(thread, "putSignal", { thread, signal: copyOfSignal(signal) });
  }

  async getSignals(thread: ThreadId): Promise<readonly Signal[]> {
    return freezeDeep((await this.#call(thread, "signals", {})) as unknown as Json) as unknown as readonly Signal[];
  }

  async label(thread: ThreadId, id: CheckpointId, label: string): Promise<void> {
    await this.#call(thread, "label", { thread, id, label });
  }

  async threads(options: ThreadsOptions = {}): Promise<readonly ThreadInfo[]> {
    if (this.#isClosed) throw storeIsClosed();
    if (this.#scan === undefined) {
      throw new StoreError("NG_STORE_FAILED", "a worker cannot list threads: ask a client of the host");
    }
    return listThreads(this.#scan, options, this.#now());
  }

  async prune(thread: ThreadId, policy: PrunePolicy): Promise<number> {
    checkPrunePolicy(policy);
    const points: PrunePoint[] = [];
    for (let from: number | null = 0; from !== null;) {
      const page: SavedPoints = await this.#call(thread, "points", { from, limit: POINTS });
      for (const { number: ord, id, namespace, label, ...header } of page.points) {
        points.push({ ord, id, namespace, label, header: () => header });
      }
      from = page.next;
    }
    const kept = keptCheckpoints(points, policy);
    const gone = points.filter(({ ord }) => !kept.has(ord)).map(({ ord }) => ord);
    let removed = 0;
    for (let start = 0; start < gone.length; start += DROPPED) {
      removed += await this.#call(thread, "drop", { numbers: gone.slice(start, start + DROPPED) });
    }
    return removed;
  }

  async putItem(item: StoredItem): Promise<void> {
    checkJson(item, () => `the item ${quote(item.key)}`);
    await this.#memory().put(item);
  }

  async getItem(namespace: readonly string[], key: string): Promise<StoredItem | undefined> {
    return this.#memory().get(namespace, key);
  }

  async deleteItem(namespace: readonly string[], key: string): Promise<boolean> {
    return this.#memory().delete(namespace, key);
  }

  async listItems(prefix: readonly string[], options: StoredItemsOptions): Promise<readonly StoredItem[]> {
    return this.#memory().list(prefix, options);
  }

  async pruneItems(now: number): Promise<number> {
    return this.#memory().prune(now);
  }

  /** What was saved from a number on, for a copy of the thread in another store. */
  copies(thread: ThreadId, from: number, limit: number): Promise<SavedCopies> {
    return this.#call(thread, "copies", { from, limit });
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Microseconds and more, so that two saves of one process have different places. */
  #nextPosition(): number {
    const now = Math.min(Math.max(0, Math.floor(this.#now())), LAST_MS) * 4096;
    // Processes that save at the same time should differ, too.
    this.#position = Math.max(this.#position + 1, now + Math.floor(Math.random() * 2048));
    return this.#position;
  }

  #memory(): MemoryParts {
    if (this.#isClosed) throw storeIsClosed();
    if (this.#items !== undefined) return this.#items;
    throw new StoreError("NG_STORE_FAILED", "this store has no long-term memory");
  }

  #tag(thread: ThreadId): { readonly tag?: string } {
    const driven = this.#drivenOf(thread);
    return driven === undefined ? {} : { tag: driven.invocation };
  }
}

/** Writes of a driver, which go together with those that it holds. */
const BATCHED: ReadonlySet<string> = new Set(["renew", "release", "save", "putWrites", "clearWrites"]);
/** Checkpoints that a prune reads, and removes, with one call. */
const POINTS = 500;
const DROPPED = 100;
/** The last time whose places are safe integers: in the year 2039. Later places rise by one. */
const LAST_MS = 2 ** 41 - 1;

function copyOfSignal(signal: Signal): Signal {
  encodeKey(signal.id);
  return frozenJson(signal, () => `the value of signal ${quote(signal.id)}`);
}

export function checkpointOf(found: Found | undefined): Checkpoint | undefined {
  if (found === undefined) return undefined;
  const chain = chainOf(found.header.threadId, found.rows);
  return checkpointAt(chain, found.rows.length - 1, { ...found.header, label: found.label });
}

/** Newest first. */
function checkpointsOf({ rows, headers }: ListPart): readonly Checkpoint[] {
  const chain = chainOf(headers[0]!.threadId, rows);
  const first = rows.length - headers.length;
  return headers.map((header, index) => checkpointAt(chain, first + index, header)).reverse();
}

function chainOf(thread: ThreadId, rows: Found["rows"]): Chain {
  const chain = new Chain({ threadId: thread });
  for (const [index, changes] of rows.entries()) {
    chain.add(index, freezeDeep(changes as unknown as Json) as unknown as Found["rows"][number]);
  }
  return chain;
}

function checkpointAt(chain: Chain, index: number, header: CheckpointHeader): Checkpoint {
  checkSchemaVersion(`checkpoint ${quote(header.id)}`, header.schemaVersion);
  const frozen = freezeDeep(header as unknown as Json) as unknown as CheckpointHeader;
  return Object.freeze({ ...frozen, ...chain.at(index) });
}
