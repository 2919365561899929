import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  maxChannelVersion,
  type PendingWrite,
  type SerializerProtocol,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import type { Json } from "../../runtime/value/json.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { draftRecord, holdsCheckpoint, infoOf, readCheckpoint } from "./checkpoint-record.ts";
import { bucketOf, draftWrites, readWrites } from "./pending-writes.ts";
import { createThreadRecords, type Head, type ThreadRecords } from "./thread-records.ts";

/** How a thread's records are found: its list of LangGraph namespaces, and checkpoints that were put twice. */
const REGISTRY = "";
const PAGE = 100;

/**
 * A checkpointer for LangGraph JS that keeps its checkpoints in a store of this package. A list that grows, such as messages,
 * costs its new items, not a copy in every checkpoint. Needs the package `@langchain/langgraph-checkpoint`, which LangGraph
 * installs.
 *
 * Threads of LangGraph and of an ngraph engine are separate: the engine refuses to run a thread of LangGraph, and `put`
 * refuses a thread of an engine.
 *
 * @example
 * const checkpointer = new LangGraphSaver(new SqliteStore("runs.db"));
 * const app = graph.compile({ checkpointer });
 */
export class LangGraphSaver extends BaseCheckpointSaver {
  readonly #store: Store;
  readonly #records: ThreadRecords;

  constructor(store: Store, serde?: SerializerProtocol) {
    super(serde);
    this.#store = store;
    this.#records = createThreadRecords(store);
  }

  /** @throws Error when the config has no `thread_id`; StoreError as the store does */
  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const { threadId, namespace, checkpointId } = placeOf(config, "put a checkpoint");
    const parent = checkpointId ?? null;
    await this.#register(threadId, namespace);
    const key = checkpointKey(namespace, checkpoint.id);
    const save = (recordId: string): Promise<void> =>
      this.#records.append(threadId, checkpointsOf(namespace), async (head) => {
        const isParent = parent !== null && head !== undefined && infoOf(head.metadata).id === parent;
        const base = parent === null ? undefined : isParent ? head : await this.#load(threadId, namespace, parent);
        return draftRecord(this.serde, recordId, { checkpoint, metadata, newVersions, parent }, head, base);
      });
    try {
      await save(key);
    } catch (error) {
      // Checked only after a failure, because a second `put` of one checkpoint is rare.
      if ((await this.#store.loadById(threadId, key)) === undefined) throw error;
      await save(await this.#replace(threadId, key));
    }
    return configOf(threadId, namespace, checkpoint.id);
  }

  /** @throws Error when the config has no `thread_id` or `checkpoint_id`; StoreError as the store does */
  async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { threadId, namespace, checkpointId } = placeOf(config, "put writes");
    if (checkpointId === undefined) throw new Error("cannot put writes: `configurable` has no `checkpoint_id`");
    await this.#register(threadId, namespace);
    const key = checkpointKey(namespace, checkpointId);
    await this.#records.append(threadId, bucketOf(key), (head) => draftWrites(this.serde, head, key, taskId, writes));
  }

  /** The latest of its namespace when the config names none. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    const { threadId, namespace, checkpointId } = placeOf(config, "read a checkpoint");
    const record = await this.#load(threadId, namespace, checkpointId);
    return record && this.#toTuple(threadId, namespace, record);
  }

  /** Newest first; of all threads when the config names none, of all namespaces of a thread when it names none. */
  async *list(config: RunnableConfig, options: CheckpointListOptions = {}): AsyncGenerator<CheckpointTuple> {
    const { thread_id: thread, checkpoint_ns: wanted, checkpoint_id: id } = config.configurable ?? {};
    const before = options.before?.configurable?.["checkpoint_id"];
    const filter = Object.entries(options.filter ?? {});
    let left = options.limit ?? Infinity;
    for (const threadId of thread === undefined ? await this.#threads() : [placeOf(config, "list").threadId]) {
      const { namespaces, replaced } = await this.#registry(threadId);
      const chosen = namespaces.filter((namespace) => wanted === undefined || namespace === wanted);
      for await (const { namespace, record } of newestFirst(chosen.map((name) => this.#chain(threadId, name)))) {
        if (left <= 0) return;
        const info = infoOf(record.metadata);
        const key = checkpointKey(namespace, info.id);
        if ((replaced.get(key) ?? key) !== record.id) continue;
        if (id !== undefined && id !== "" && info.id !== id) continue;
        if (typeof before === "string" && info.id >= before) continue;
        const tuple = await this.#toTuple(threadId, namespace, record);
        const metadata = new Map<string, unknown>(Object.entries(tuple.metadata ?? {}));
        if (!filter.every(([name, value]) => JSON.stringify(metadata.get(name)) === JSON.stringify(value))) continue;
        left--;
        yield tuple;
      }
    }
  }

  /** Every checkpoint and write of a thread, in all namespaces. */
  async deleteThread(threadId: string): Promise<void> {
    await this.#records.forget(threadId, async () => this.#store.deleteThread(threadId));
  }

  async #toTuple(
    threadId: string,
    namespace: string,
    record: Pick<Head, "values" | "metadata">,
  ): Promise<CheckpointTuple> {
    const { id, parent } = infoOf(record.metadata);
    const { checkpoint, metadata } = await readCheckpoint(this.serde, record);
    // Before version 4, sends were stored among the parent's writes.
    if (checkpoint.v < 4 && parent !== null) await this.#addSends(threadId, namespace, parent, checkpoint);
    return {
      config: configOf(threadId, namespace, id),
      checkpoint,
      metadata,
      pendingWrites: await this.#writes(threadId, namespace, id),
      ...(parent === null ? {} : { parentConfig: configOf(threadId, namespace, parent) }),
    };
  }

  async #addSends(threadId: string, namespace: string, parent: string, checkpoint: Checkpoint): Promise<void> {
    const writes = await this.#writes(threadId, namespace, parent);
    checkpoint.channel_values[TASKS] = writes.filter(([, channel]) => channel === TASKS).map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  async #writes(threadId: string, namespace: string, id: string): Promise<[string, string, unknown][]> {
    const key = checkpointKey(namespace, id);
    return readWrites(this.serde, (await this.#store.loadLatest(threadId, bucketOf(key)))?.values, key);
  }

  async #load(threadId: string, namespace: string, id: string | undefined): Promise<Head | undefined> {
    if (id === undefined) {
      const head = await this.#store.loadLatest(threadId, checkpointsOf(namespace));
      const latest = head && infoOf(head.metadata).latest.record;
      return latest === undefined || latest === head?.id ? head : this.#store.loadById(threadId, latest);
    }
    const key = checkpointKey(namespace, id);
    const { replaced } = await this.#registry(threadId);
    return this.#store.loadById(threadId, replaced.get(key) ?? key);
  }

  async *#chain(threadId: string, namespace: string): AsyncGenerator<NamespaceRecord> {
    const options = { namespace: checkpointsOf(namespace), limit: PAGE };
    let page = await this.#store.list(threadId, options);
    for (let last = page.at(-1); last !== undefined; last = page.at(-1)) {
      for (const record of page) yield { namespace, record };
      if (page.length < PAGE) return;
      page = await this.#store.list(threadId, { ...options, before: last.id });
    }
  }

  async #threads(): Promise<readonly string[]> {
    if (this.#store.threads === undefined) {
      throw new Error("this store cannot list its threads: pass a `thread_id` in `configurable`");
    }
    const all = await this.#store.threads({ limit: Number.MAX_SAFE_INTEGER });
    return all.filter(({ metadata }) => holdsCheckpoint(metadata)).map(({ threadId }) => threadId);
  }

  async #registry(threadId: string): Promise<Registry> {
    return registryOf(await this.#store.loadLatest(threadId, REGISTRY), threadId);
  }

  /** Makes a namespace known, once. */
  async #register(threadId: string, namespace: string): Promise<void> {
    if ((await this.#registry(threadId)).namespaces.includes(namespace)) return;
    await this.#records.append(threadId, REGISTRY, (head) => {
      const { namespaces, replaced } = registryOf(head, threadId);
      return namespaces.includes(namespace) ? undefined : draftRegistry([...namespaces, namespace], replaced);
    });
  }

  /** A checkpoint that is put again replaces the first one. Records never change, so it gets a record of its own. */
  async #replace(threadId: string, key: string): Promise<string> {
    const id = globalThis.crypto.randomUUID();
    await this.#records.append(threadId, REGISTRY, (head) => {
      const { namespaces, replaced } = registryOf(head, threadId);
      return draftRegistry(namespaces, new Map([...replaced, [key, id]]));
    });
    return id;
  }
}

interface NamespaceRecord {
  readonly namespace: string;
  readonly record: Head;
}

interface Registry {
  readonly namespaces: readonly string[];
  readonly replaced: ReadonlyMap<string, string>;
}

function registryOf(head: Head | undefined, threadId: string): Registry {
  if (head !== undefined && !holdsCheckpoint(head.metadata)) {
    throw new Error(`thread ${JSON.stringify(threadId)} belongs to an ngraph engine: use another \`thread_id\``);
  }
  return {
    namespaces: (head?.values["namespaces"] ?? []) as readonly string[],
    replaced: new Map((head?.values["replaced"] ?? []) as unknown as readonly [string, string][]),
  };
}

function draftRegistry(namespaces: readonly string[], replaced: ReadonlyMap<string, string>) {
  const values = new Map<string, Json>([
    ["namespaces", namespaces],
    ["replaced", [...replaced]],
  ]);
  return { id: globalThis.crypto.randomUUID(), values, metadata: { langgraph: {} } };
}

/** Merges chains by their checkpoints' ids, which grow with time. */
async function* newestFirst(chains: readonly AsyncGenerator<NamespaceRecord>[]): AsyncGenerator<NamespaceRecord> {
  const fronts: { readonly chain: AsyncGenerator<NamespaceRecord>; value: NamespaceRecord }[] = [];
  for (const chain of chains) {
    const first = await chain.next();
    if (first.done !== true) fronts.push({ chain, value: first.value });
  }
  const idOf = ({ value }: { value: NamespaceRecord }): string => infoOf(value.record.metadata).id;
  while (fronts.length > 0) {
    let newest = 0;
    for (const [index, front] of fronts.entries()) if (idOf(front) > idOf(fronts[newest]!)) newest = index;
    const front = fronts[newest]!;
    yield front.value;
    const next = await front.chain.next();
    if (next.done === true) fronts.splice(newest, 1);
    else front.value = next.value;
  }
}

function placeOf(config: RunnableConfig, purpose: string) {
  const { thread_id, checkpoint_ns, checkpoint_id } = config.configurable ?? {};
  if (typeof thread_id !== "string" || thread_id === "") {
    const found = thread_id === undefined ? "has no `thread_id`" : `has a \`thread_id\` that is ${shown(thread_id)}`;
    throw new Error(
      `cannot ${purpose}: \`configurable\` ${found}: pass { configurable: { thread_id: "…" } }, a string that is not empty`,
    );
  }
  const isName = (value: unknown): value is string | undefined => value === undefined || typeof value === "string";
  if (!isName(checkpoint_ns) || !isName(checkpoint_id)) {
    throw new Error(`cannot ${purpose}: \`checkpoint_ns\` and \`checkpoint_id\` must be strings`);
  }
  return {
    threadId: thread_id,
    namespace: checkpoint_ns ?? "",
    checkpointId: checkpoint_id === "" ? undefined : checkpoint_id,
  };
}

function shown(value: unknown): string {
  return typeof value === "string" ? "empty" : `of type ${value === null ? "null" : typeof value}`;
}

function configOf(threadId: string, namespace: string, id: string): RunnableConfig {
  return { configurable: { thread_id: threadId, checkpoint_ns: namespace, checkpoint_id: id } };
}

// Names as JSON, so that different pairs have different names.
const checkpointsOf = (namespace: string): string => JSON.stringify(["checkpoints", namespace]);
const checkpointKey = (namespace: string, id: string): string => JSON.stringify([namespace, id]);
