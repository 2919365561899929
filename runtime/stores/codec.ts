import type {
  ChannelChange,
  Checkpoint,
  CheckpointHeader,
  CheckpointId,
  ListEdit,
  PendingWrite,
  Signal,
  ThreadId,
} from "../interface/checkpoint.ts";
import type { RunFailure } from "../interface/checkpoint.ts";
import { StoreError } from "../interface/errors.ts";
import { reasonOf } from "../interface/thrown-reason.ts";
import type { StoredItem, StoredItemsOptions } from "../interface/memory.ts";
import { registerRunView, runViewOf } from "../interface/run-view.ts";
import type { Claim, ListOptions, SaveRequest, Store } from "../interface/store.ts";
import { setField } from "../expression/operations.ts";
import type { Json, MaybePromise } from "../value/json.ts";
import { isThenable } from "../value/promise.ts";
import { ENCODED } from "./contract/encoded-text.ts";
import { freezeDeep } from "./contract/frozen-json.ts";
import { jsonText } from "./contract/json-text.ts";
import { quote } from "./contract/store-error.ts";

/** Where a text belongs, for codecs with a key for each thread or namespace. */
export interface CodecContext {
  /** Absent for items of the long-term memory. */
  readonly threadId?: ThreadId;
  /** Of an item of the long-term memory. */
  readonly namespace?: readonly string[];
}

/**
 * Converts texts before a store keeps them, and back: to encrypt them, for example.
 *
 * @example docs/stores.md has a codec for AES-256-GCM
 * const codec: StoreCodec = { keyId: "2026", encode: (text) => encrypt(text), decode: (data, keyId) => decrypt(data, keyId) };
 */
export interface StoreCodec {
  /** The key that `encode` uses: letters, digits, `-`, `_` and `.`. It is stored in plain text beside each encoded text. */
  readonly keyId: string;
  encode(text: string, context: CodecContext): string;
  /** @param keyId the key that the text was encoded with: an earlier one, after a rotation */
  decode(encoded: string, keyId: string, context: CodecContext): string;
}

/**
 * A store that passes everything with content through a codec: values of channels, results, answers, signals, payloads of pauses,
 * items that were sent, and error messages. Each item of a list is encoded on its own, so that lists still grow by their new
 * items.
 *
 * Names stay readable (threads, checkpoints, channels, nodes, labels), as do statuses, times, digests and `metadata`: the
 * store looks them up.
 *
 * A record that was written without a codec can be read, and is encoded when it is written again.
 *
 * @throws StoreError NG_STORE_FAILED for a `keyId` that is not valid; from calls, if the codec throws or returns no text
 * @example
 * const engine = createEngine(table, { store: withCodec(new SqliteStore("runs.db"), codec) });
 */
export function withCodec(store: Store, codec: StoreCodec): Store {
  const { keyId, encode, decode } = (codec ?? {}) as Partial<Record<keyof StoreCodec, unknown>>;
  if (keyId === undefined || typeof encode !== "function" || typeof decode !== "function") {
    throw new StoreError("NG_STORE_FAILED", "a codec has a `keyId` and the functions `encode` and `decode`");
  }
  if (typeof keyId !== "string" || !/^[\w.-]{1,100}$/.test(keyId)) {
    const found = typeof keyId === "string" ? quote(keyId) : typeof keyId;
    const message = `the id of a codec's key consists of up to 100 letters, digits, "-", "_" and ".", unlike ${found}`;
    throw new StoreError("NG_STORE_FAILED", message);
  }
  const coded = codedStore(store, codec);
  const view = runViewOf(store);
  if (view !== store) registerRunView(coded, codedStore(view, codec));
  return coded;
}

function codedStore(store: Store, codec: StoreCodec): Store {
  const of = (threadId: ThreadId): Texts => new Texts(codec, { threadId }, `thread ${quote(threadId)}`);
  const one = (threadId: ThreadId) => (found: Checkpoint | undefined) =>
    found === undefined ? undefined : decodeCheckpoint(of(threadId), found);
  const { putWrites, getWrites, clearWrites, putSignal, getSignals, label, loadByLabel, threads, prune, close } = store;
  return {
    ...(store.acceptsSplices === true ? { acceptsSplices: true } : {}),
    claim: (threadId, runner) => store.claim(threadId, runner),
    renew: (claim, leaseMs) => store.renew(claim, leaseMs),
    release: (claim) => store.release(claim),
    save: (claim, request) => store.save(claim, encodeRequest(of(claim.threadId), codec, request)),
    loadLatest: (threadId, namespace) => mapped(store.loadLatest(threadId, namespace), one(threadId)),
    loadById: (threadId, id) => mapped(store.loadById(threadId, id), one(threadId)),
    list: (threadId: ThreadId, options?: ListOptions) =>
      mapped(store.list(threadId, options), (found) => {
        const texts = of(threadId);
        return found.map((checkpoint) => decodeCheckpoint(texts, checkpoint));
      }),
    deleteThread: (threadId) => store.deleteThread(threadId),
    ...(putWrites && {
      putWrites: (claim: Claim, id: CheckpointId, writes: readonly PendingWrite[], taken?: readonly string[]) =>
        putWrites.call(store, claim, id, encodeWrites(of(claim.threadId), writes), taken),
    }),
    ...(getWrites && {
      getWrites: (threadId: ThreadId, id: CheckpointId) =>
        mapped(getWrites.call(store, threadId, id), (writes) => decodeWrites(of(threadId), writes)),
    }),
    ...(clearWrites && { clearWrites: clearWrites.bind(store) }),
    ...(putSignal && {
      putSignal: (threadId: ThreadId, signal: Signal) =>
        putSignal.call(store, threadId, encodeSignal(of(threadId), signal)),
    }),
    ...(getSignals && {
      getSignals: (threadId: ThreadId) =>
        mapped(getSignals.call(store, threadId), (signals) => {
          const texts = of(threadId);
          return signals.map((signal) => convertSignal(signal, (value, what) => texts.decode(value, what)));
        }),
    }),
    ...(label && { label: label.bind(store) }),
    ...(loadByLabel && {
      loadByLabel: (threadId: ThreadId, name: string) => mapped(loadByLabel.call(store, threadId, name), one(threadId)),
    }),
    ...codedItems(store, codec),
    ...(threads && { threads: threads.bind(store) }),
    ...(prune && { prune: prune.bind(store) }),
    ...(close && { close: close.bind(store) }),
  };
}

function codedItems(store: Store, codec: StoreCodec): Partial<Store> {
  const of = (namespace: readonly string[]): Texts =>
    new Texts(codec, { namespace }, `namespace ${quote(namespace.join("/"))} of the memory`);
  const decode = (item: StoredItem): StoredItem => {
    const texts = of(item.namespace);
    const what = `item ${quote(item.key)}`;
    const vector = texts.decode(item.vector, what) as string | null;
    return Object.freeze({ ...item, value: texts.decode(item.value, what), vector });
  };
  const { putItem, getItem, deleteItem, listItems, pruneItems } = store;
  return {
    ...(putItem && {
      putItem: (item: StoredItem) => {
        const texts = of(item.namespace);
        const what = `item ${quote(item.key)}`;
        const vector = item.vector === null ? null : texts.encode(item.vector, what);
        return putItem.call(store, { ...item, value: texts.encode(item.value, what), vector });
      },
    }),
    ...(getItem && {
      getItem: (namespace: readonly string[], key: string) =>
        mapped(getItem.call(store, namespace, key), (item) => item && decode(item)),
    }),
    ...(deleteItem && { deleteItem: deleteItem.bind(store) }),
    ...(listItems && {
      listItems: (prefix: readonly string[], options: StoredItemsOptions) =>
        mapped(listItems.call(store, prefix, options), (items) => items.map(decode)),
    }),
    ...(pruneItems && { pruneItems: pruneItems.bind(store) }),
  };
}

function mapped<T, R>(value: MaybePromise<T>, map: (value: T) => R): MaybePromise<R> {
  return isThenable(value) ? Promise.resolve(value).then(map) : map(value);
}

/** Encodes and decodes the texts of one call. */
class Texts {
  readonly #codec: StoreCodec;
  readonly #context: CodecContext;
  /** The place of the texts in error messages. */
  readonly #place: string;
  /** Decoded values: the checkpoints of a history contain the same texts. */
  readonly #known = new Map<string, Json>();

  constructor(codec: StoreCodec, context: CodecContext, place: string) {
    this.#codec = codec;
    this.#context = context;
    this.#place = place;
  }

  encode(value: Json, what: string): string {
    const { keyId } = this.#codec;
    const text = jsonText(value, () => what);
    const encoded = this.#call(`${what} could not be encoded`, () => this.#codec.encode(text, this.#context));
    return `${ENCODED}${keyId}:${encoded}`;
  }

  /** A list stays a list of encoded items. */
  encodeValue(value: Json, what: string): Json {
    return Array.isArray(value) ? this.encodeItems(value as readonly Json[], what) : this.encode(value, what);
  }

  encodeItems(items: readonly Json[], what: string): Json[] {
    return items.map((item) => this.encode(item, what));
  }

  decode(value: Json, what: string): Json {
    if (typeof value !== "string" || !value.startsWith(ENCODED)) return value;
    const known = this.#known.get(value);
    if (known !== undefined) return known;
    const colon = value.indexOf(":", ENCODED.length);
    const keyId = value.slice(ENCODED.length, colon);
    const failure = `${what} could not be decoded with the key ${quote(keyId)}`;
    const text = this.#call(failure, () => this.#codec.decode(value.slice(colon + 1), keyId, this.#context));
    let decoded: Json;
    try {
      decoded = freezeDeep(JSON.parse(text) as Json);
    } catch (cause) {
      throw this.#failed(`${failure}: the codec returned a text that is not JSON`, cause);
    }
    this.#known.set(value, decoded);
    return decoded;
  }

  decodeValue(value: Json, what: string): Json {
    if (!Array.isArray(value)) return this.decode(value, what);
    return Object.freeze((value as readonly Json[]).map((item) => this.decode(item, what)));
  }

  #call(failure: string, call: () => unknown): string {
    let text: unknown;
    try {
      text = call();
    } catch (cause) {
      throw this.#failed(`${failure}: ${reasonOf(cause)}`, cause);
    }
    if (typeof text === "string") return text;
    // The call fails with the error below. A rejection would end the process besides.
    if (isThenable(text)) void Promise.resolve(text).catch(() => undefined);
    throw this.#failed(
      `${failure}: the codec must return a string at once, not ${text === null ? "null" : typeof text}`,
    );
  }

  #failed(problem: string, cause?: unknown): StoreError {
    const options = cause === undefined ? undefined : { cause };
    return new StoreError("NG_STORE_FAILED", `${this.#place}: ${problem}`, options);
  }
}

function encodeRequest(texts: Texts, { keyId }: StoreCodec, request: SaveRequest): SaveRequest {
  return {
    ...request,
    header: { ...encodeHeader(texts, request.header), codec: keyId },
    ...(request.returnedSignals && {
      returnedSignals: request.returnedSignals.map((signal) => encodeSignal(texts, signal)),
    }),
    changes: request.changes.map((change) => encodeChange(texts, change)),
    snapshot: () => {
      const { values, versions } = request.snapshot();
      return { values: mapRecord(values, (value, name) => texts.encodeValue(value, channel(name))), versions };
    },
  };
}

function encodeChange(texts: Texts, change: ChannelChange): ChannelChange {
  const what = channel(change.channel);
  switch (change.kind) {
    case "set":
      return { ...change, value: texts.encodeValue(change.value, what) };
    case "append":
      return { ...change, items: texts.encodeItems(change.items, what) };
    case "splice": {
      const edits = change.edits.map((edit): ListEdit => ({ ...edit, items: texts.encodeItems(edit.items, what) }));
      return { ...change, edits };
    }
    case "reset":
      return change;
  }
}

function channel(name: string): string {
  return `channel ${quote(name)}`;
}

/** Applies a conversion to each part of a header that has content. */
function convertHeader<H extends CheckpointHeader>(header: H, convert: (value: Json, what: string) => Json): H {
  const { pendingSends, pauses, answers, errors, finished, failure, taken, outcome, finally: ended } = header;
  const id = quote(header.id);
  const convertFailure = (of: NonNullable<CheckpointHeader["failure"]>) => {
    const text = (message: string): string => String(convert(message, `the failure in checkpoint ${id}`));
    return { ...of, message: text(of.message), ...(of.causes && { causes: of.causes.map(text) }) };
  };
  return {
    ...header,
    pendingSends: pendingSends.map((send) => ({
      ...send,
      item: convert(send.item, `an item sent to ${quote(send.node)}`),
    })),
    pauses: pauses.map((pause) => ({ ...pause, payload: convert(pause.payload, `the pause ${quote(pause.id)}`) })),
    answers: answers.map((answer) => ({
      ...answer,
      value: convert(answer.value, `the answer to ${quote(answer.id)}`),
    })),
    errors: mapRecord(errors, (error, node) => convert(error, `the error of ${quote(node)}`)),
    ...(finished && { finished: finished.map((write) => convertWrite(write, convert)) }),
    ...(taken && { taken: taken.map((signal) => convertSignal(signal, convert)) }),
    ...(failure && { failure: convertFailure(failure) }),
    ...(outcome?.error && { outcome: { ...outcome, error: convertError(outcome.error, convert, id) } }),
    ...(ended && {
      finally: {
        ...ended,
        values: mapRecord(ended.values, (value, name) => convert(value, channel(name))),
        ...(ended.failure && { failure: convertFailure(ended.failure) }),
      },
    }),
  };
}

/** The parts of an outcome's error that can have content. */
function convertError(error: RunFailure, convert: (value: Json, what: string) => Json, id: string): RunFailure {
  const what = `the outcome in checkpoint ${id}`;
  const items = error.items?.map((item) => convert(item, what));
  return { ...error, message: String(convert(error.message, what)), ...(items && { items }) };
}

function encodeHeader(texts: Texts, header: CheckpointHeader): CheckpointHeader {
  return convertHeader(header, (value, what) => texts.encode(value, what));
}

function decodeCheckpoint(texts: Texts, checkpoint: Checkpoint): Checkpoint {
  // Records of version 0 lack fields, and no codec wrote them.
  if (checkpoint.codec === undefined) return checkpoint;
  const { codec: _, ...header } = convertHeader(checkpoint, (value, what) => texts.decode(value, what));
  const values = mapRecord(checkpoint.values, (value, name) => texts.decodeValue(value, channel(name)));
  return Object.freeze({ ...header, values: Object.freeze(values) });
}

function convertWrite(write: PendingWrite, convert: (value: Json, what: string) => Json): PendingWrite {
  return { ...write, result: convert(write.result, `the result of task ${quote(write.taskId)}`) };
}

function convertSignal(signal: Signal, convert: (value: Json, what: string) => Json): Signal {
  return Object.freeze({ ...signal, value: convert(signal.value, `the signal ${quote(signal.name)}`) });
}

function encodeSignal(texts: Texts, signal: Signal): Signal {
  return convertSignal(signal, (value, what) => texts.encode(value, what));
}

function encodeWrites(texts: Texts, writes: readonly PendingWrite[]): readonly PendingWrite[] {
  return writes.map((write) => convertWrite(write, (value, what) => texts.encode(value, what)));
}

function decodeWrites(texts: Texts, writes: readonly PendingWrite[]): readonly PendingWrite[] {
  return writes.map((write) => Object.freeze(convertWrite(write, (value, what) => texts.decode(value, what))));
}

function mapRecord(
  record: Readonly<Record<string, Json>>,
  map: (value: Json, name: string) => Json,
): Readonly<Record<string, Json>> {
  const result: Record<string, Json> = {};
  // Not an assignment: a name may be `__proto__`.
  for (const [name, value] of Object.entries(record)) setField(result, name, map(value, name));
  return result;
}
