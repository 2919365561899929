/** Mistakes of pending writes, labels, threads, deletion, pruning and names. */
import { after, before, swap } from "../support/mutate.ts";
import { inStore, VALUE, type PlantedFault } from "./planted-fault.ts";

const PENDING = "5.3 pending writes: in order, replaced by task, separate for each checkpoint";
const WRITES_OF_THREAD = "5.3 pending writes belong to their thread";
const ONE_CALL = "5.3 writes of one call are stored all or none";
const TRANSACTION = "5.3 new checkpoint, head, clearing of writes and release are one transaction";

const WRITES: readonly PlantedFault[] = [
  {
    name: "all threads share their pending writes",
    edits: [
      inStore(
        "writes-of-checkpoint",
        "[...this.#disk.threads.values()][0]!.writes.get(checkpointId) ?? new Map<string, string>()",
        VALUE,
      ),
      inStore("kept-writes", "[...this.#disk.threads.values()][0]!.writes.set(checkpointId, pending);"),
      inStore("found-writes", swap("this.#find(threadId)", "[...this.#disk.threads.values()][0]")),
    ],
    foundBy: WRITES_OF_THREAD,
  },
  {
    name: "a second write of a task is stored in addition to the first",
    edits: [inStore("stored-write", swap("set(taskId,", "set(`${taskId} ${pending.size}`,"))],
    foundBy: PENDING,
  },
  {
    name: "a second write of a task is dropped",
    edits: [inStore("stored-write", before("if (!pending.has(taskId))"), "body")],
    foundBy: PENDING,
  },
  {
    name: "a replaced write moves to the end",
    edits: [inStore("stored-write", "pending.delete(taskId), pending.set(taskId, text);", "body")],
    foundBy: PENDING,
  },
  {
    name: "writes are sorted by task",
    edits: [inStore("read-writes", (code) => `${code}.sort((a, b) => (a.taskId < b.taskId ? -1 : 1))`, "argument")],
    foundBy: PENDING,
  },
  {
    name: "writes are written as JSON one by one while they are stored",
    edits: [
      inStore("write-texts", ""),
      inStore("stored-write", "for (const write of writes) pending.set(write.taskId, jsonText(write));"),
    ],
    foundBy: ONE_CALL,
  },
  {
    name: "concurrent calls of `putWrites` overwrite each other",
    edits: [
      inStore("put-writes", before("async")),
      inStore("writes-of-checkpoint", "new Map(thread.writes.get(checkpointId))", VALUE),
      inStore("kept-writes", before("await null;")),
    ],
    foundBy: "5.3 concurrent writes of parallel tasks are all stored",
  },
  {
    name: "putting no writes clears the stored ones",
    edits: [inStore("kept-writes", before("if (texts.length === 0) pending.clear();"))],
    foundBy: ONE_CALL,
  },
  {
    name: "clearing one write clears all writes of its checkpoint",
    edits: [inStore("clear-writes", "true", "test")],
    foundBy: PENDING,
  },
  {
    name: "clearing an empty list of tasks clears all writes",
    edits: [inStore("clear-writes", "!taskIds?.length", "test")],
    foundBy: PENDING,
  },
  {
    name: "clearing the writes of one checkpoint clears those of all",
    edits: [inStore("clear-writes", "writes.clear();", "consequent")],
    foundBy: PENDING,
  },
  {
    name: "a save does not clear writes",
    edits: [inStore("cleared-writes", "")],
    foundBy: TRANSACTION,
  },
  {
    name: "a save clears the writes of all checkpoints",
    edits: [inStore("cleared-writes", "thread.writes.clear();")],
    foundBy: TRANSACTION,
  },
  {
    name: "a save always clears the writes of the previous head",
    edits: [inStore("cleared-writes", "thread.writes.delete(head!);")],
    foundBy: TRANSACTION,
  },
  {
    name: "a save clears the writes of other threads",
    edits: [
      inStore(
        "cleared-writes",
        "for (const other of this.#disk.threads.values()) other.writes.delete(clearWritesOf!);",
      ),
    ],
    foundBy: WRITES_OF_THREAD,
  },
  {
    name: "the node of a write is lost",
    edits: [inStore("read-writes", (code) => `${code}.map((write) => ({ ...write, node: "" }))`, "argument")],
    foundBy: PENDING,
  },
];

const INBOX = "signals are kept in order";
const NO_CLAIM = "a signal needs no claim";
const KNOWN_SIGNAL = "a signal with a known id is not added again";
const TAKEN = "signals are taken in the transaction";

const SIGNALS: readonly PlantedFault[] = [
  {
    name: "signals have the order of their ids",
    edits: [inStore("inbox", (code) => code.replace(";", ".sort((a, b) => (a.id < b.id ? -1 : 1));"))],
    foundBy: INBOX,
  },
  {
    name: "an unknown thread gets an inbox",
    edits: [inStore("thread-of-signal", "if (thread === undefined) return false;")],
    foundBy: NO_CLAIM,
  },
  { name: "a signal with a known id replaces the first", edits: [inStore("known-signal", "")], foundBy: KNOWN_SIGNAL },
  {
    name: "the id of a signal that was taken is forgotten",
    edits: [inStore("taken-signal", "for (const id of ids) signals.delete(id);")],
    foundBy: KNOWN_SIGNAL,
  },
  { name: "a save takes no signals", edits: [inStore("signals-of-save", "")], foundBy: KNOWN_SIGNAL },
  {
    name: "a save returns no signals",
    edits: [inStore("returned-signals", "")],
    foundBy: "a save returns signals to the inbox",
  },
  { name: "a result takes no signals", edits: [inStore("signals-of-put", "")], foundBy: TAKEN },
  {
    name: "a save that fails takes signals",
    edits: [inStore("current-head", before("takeSignals(thread, request.takenSignals);"))],
    foundBy: TAKEN,
  },
];

const ONE_LABEL = "a label names one checkpoint and can move";

const LABELS: readonly PlantedFault[] = [
  {
    name: "a label of another checkpoint is refused",
    edits: [inStore("new-label", before(`if (thread.labels.has(label)) throw failed("taken");`))],
    foundBy: ONE_LABEL,
  },
  {
    name: "a label of another checkpoint does not move",
    edits: [inStore("new-label", before("if (!thread.labels.has(label))"))],
    foundBy: ONE_LABEL,
  },
  {
    name: "a checkpoint keeps its former label in addition to the new one",
    edits: [inStore("former-label", "")],
    foundBy: ONE_LABEL,
  },
  {
    name: "a checkpoint shows a label that it has lost",
    edits: [
      inStore("stored-header", "jsonText(header)", VALUE),
      inStore("returned-checkpoint", swap("labelOf(thread, id)", "labelOf(thread, id) ?? header.label")),
    ],
    foundBy: ONE_LABEL,
  },
  {
    name: "a label in the header of a save is not stored",
    edits: [inStore("saved-label", "")],
    foundBy: "5.1 a checkpoint is read as it was saved, in every phase",
  },
  {
    name: "an empty label means no label",
    edits: [inStore("saved-label", "header.label", "test")],
    foundBy: "names of namespaces, checkpoints, channels, labels and tasks are never confused",
  },
  {
    name: "an unknown checkpoint can be labelled",
    edits: [inStore("labelled-checkpoint", "thread === undefined", "test")],
    foundBy: ONE_LABEL,
  },
];

const LISTED = "threads are listed, most recently written first";
const PAGED = "threads are listed in pages, by status, graph, label and metadata";
const DELETED = "deleting a thread removes all its data and no other data";

/** Restores data of a deleted thread when it is claimed again. */
const restored = (part: "writes" | "labels" | "heads", data: string): PlantedFault => ({
  name: `a thread that is deleted and created again has its previous ${part}`,
  edits: [
    inStore("fields", after("readonly #gone = new Map();")),
    inStore("deleted-thread", before("this.#gone.set(threadId, this.#find(threadId));")),
    inStore("claimed-thread", swap("newThread(threadId)", `{ ...newThread(threadId), ${data} }`)),
  ],
  foundBy: DELETED,
});

const ITEMS_BY_NAME = "the memory keeps items by namespace and key";
const ITEMS_LISTED = "the memory lists items below a prefix";

const MEMORY: readonly PlantedFault[] = [
  {
    name: "a replaced item is new",
    edits: [inStore("created", "const isNew = true;")],
    foundBy: ITEMS_BY_NAME,
  },
  {
    name: "an item in place of an expired one is old",
    edits: [inStore("created", "const isNew = former === undefined;")],
    foundBy: ITEMS_LISTED,
  },
  {
    name: "an item loses its vector",
    edits: [inStore("put-item", swap("...item,", "...item, vector: null,"))],
    foundBy: ITEMS_BY_NAME,
  },
  {
    name: "items are found by their key alone",
    edits: [
      inStore(
        "get-item",
        "const text = [...this.#disk.items].find(([name]) => name.endsWith(itemName([], key)))?.[1];",
      ),
    ],
    foundBy: ITEMS_BY_NAME,
  },
  {
    name: "a prefix is ignored",
    edits: [inStore("item-prefix", "const isBelow = (_: StoredItem): boolean => true;")],
    foundBy: ITEMS_LISTED,
  },
  {
    name: "expired items are listed",
    edits: [inStore("item-expiry", "const isLive = (_: StoredItem): boolean => true;")],
    foundBy: ITEMS_LISTED,
  },
  {
    name: "a page of items repeats the last one",
    edits: [inStore("item-page", swap("> 0", ">= 0"))],
    foundBy: ITEMS_LISTED,
  },
  {
    name: "items are removed when they expire one moment later",
    edits: [inStore("pruned-items", swap("> now", ">= now"))],
    foundBy: ITEMS_LISTED,
  },
];

const THREADS: readonly PlantedFault[] = [
  {
    name: "threads are listed oldest first",
    edits: [inStore("thread-order", swap("b.written - a.written", "a.written - b.written"))],
    foundBy: LISTED,
  },
  {
    name: "threads are listed in the order of their creation",
    edits: [inStore("thread-order", "")],
    foundBy: LISTED,
  },
  {
    name: "threads are listed by name",
    edits: [inStore("thread-order", swap("b.written - a.written", "(a.threadId < b.threadId ? -1 : 1)"))],
    foundBy: LISTED,
  },
  {
    name: "the limit of threads is ignored",
    edits: [inStore("thread-limit", "")],
    foundBy: LISTED,
  },
  {
    name: "threads are listed without a default limit",
    edits: [inStore("threads", swap("limit = 100", "limit = Infinity"))],
    foundBy: LISTED,
  },
  {
    name: "the limit counts threads that are not listed",
    edits: [
      inStore("threads-with-head", ""),
      inStore("thread-limit", after(`found = found.filter(({ heads }) => heads.has(""));`)),
    ],
    foundBy: LISTED,
  },
  { name: "a page begins at the first thread", edits: [inStore("threads-behind", "")], foundBy: PAGED },
  {
    name: "a page repeats the last thread of the page before it",
    edits: [inStore("threads-behind", swap("written < after", "written <= after"))],
    foundBy: PAGED,
  },
  { name: "a listing ignores its filters", edits: [inStore("threads-with-properties", "")], foundBy: PAGED },
  {
    name: "the limit counts threads that a filter leaves out",
    edits: [
      inStore("threads-with-properties", ""),
      inStore("thread-limit", after("found = found.filter((thread) => hasProperties(this.#info(thread), filter));")),
    ],
    foundBy: PAGED,
  },
  {
    name: "a thread that a runner holds is listed as free",
    edits: [inStore("held", "const held = false;")],
    foundBy: PAGED,
  },
  {
    name: "the number of checkpoints of a thread lacks those of called graphs",
    edits: [inStore("thread-info", swap("checkpoints.size", "this.list(threadId, { limit: 1e9 }).length"))],
    foundBy: LISTED,
  },
  {
    name: "deleting a thread does nothing",
    edits: [inStore("deleted-thread", "")],
    foundBy: DELETED,
  },
  {
    name: "deleting a thread deletes all threads",
    edits: [inStore("deleted-thread", "this.#disk.threads.clear();")],
    foundBy: DELETED,
  },
  {
    name: "the claim of a deleted thread stays valid",
    edits: [
      inStore(
        "deleted-thread",
        `const thread = this.#find(threadId);
        if (thread) {
          this.#disk.threads.set(keyOf(threadId), { ...newThread(threadId), holder: thread.holder });
        }`,
      ),
    ],
    foundBy: DELETED,
  },
  restored("writes", "writes: this.#gone.get(threadId)?.writes ?? new Map()"),
  restored("labels", "labels: this.#gone.get(threadId)?.labels ?? new Map()"),
  restored(
    "heads",
    `checkpoints: this.#gone.get(threadId)?.checkpoints ?? new Map(),
    heads: new Map([...(this.#gone.get(threadId)?.heads ?? [])].filter((head) => head[0] !== ""))`,
  ),
];

const NEWEST_AND_LABELLED = "pruning keeps the newest checkpoints of each namespace and labelled ones";
const BY_AGE = "pruning by age, with labelled checkpoints if the policy includes them";
const EACH_NAMESPACE = "pruning counts in each namespace and does not touch other threads";
const CALLED_GRAPH = "7.2 pruning keeps the checkpoint that a called graph resumes from";

const PRUNING: readonly PlantedFault[] = [
  {
    name: "pruning removes labelled checkpoints",
    edits: [inStore("kept-checkpoint", swap(" || isLabelled", ""), "test")],
    foundBy: NEWEST_AND_LABELLED,
  },
  {
    name: "pruning keeps labelled checkpoints despite the policy",
    edits: [inStore("is-labelled", swap("keepLabelled && ", ""))],
    foundBy: BY_AGE,
  },
  {
    name: "pruning keeps one checkpoint too few",
    edits: [inStore("kept-checkpoint", swap("count < keepLast", "count + 1 < keepLast"), "test")],
    foundBy: NEWEST_AND_LABELLED,
  },
  {
    name: "pruning keeps one checkpoint too many",
    edits: [inStore("kept-checkpoint", swap("count < keepLast", "count <= keepLast"), "test")],
    foundBy: NEWEST_AND_LABELLED,
  },
  {
    name: "pruning counts over all namespaces",
    edits: [
      inStore("newer-checkpoints", swap("namespace", `""`)),
      inStore("counted-checkpoint", swap("namespace", `""`)),
    ],
    foundBy: EACH_NAMESPACE,
  },
  {
    name: "pruning ignores the age",
    edits: [inStore("kept-checkpoint", swap(" || timestamp >= olderThan", ""), "test")],
    foundBy: BY_AGE,
  },
  {
    name: "pruning removes a checkpoint that is exactly as old as the policy allows",
    edits: [inStore("kept-checkpoint", swap(">=", ">"), "test")],
    foundBy: BY_AGE,
  },
  {
    name: "pruning removes the checkpoint that a called graph resumes from",
    edits: [inStore("kept-children", "")],
    foundBy: CALLED_GRAPH,
  },
  {
    name: "pruning follows calls one level deep",
    edits: [inStore("kept-children", swap("keep(child)", "kept.add(child)"))],
    foundBy: CALLED_GRAPH,
  },
  {
    name: "pruning accepts a `keepLast` of 0",
    edits: [inStore("keep-last-check", "Number.isNaN(keepLast)", "test")],
    foundBy: EACH_NAMESPACE,
  },
  {
    name: "pruning accepts an `olderThan` that is not a number",
    edits: [inStore("older-than-check", "")],
    foundBy: BY_AGE,
  },
  {
    name: "pruning returns the number of the kept checkpoints",
    edits: [inStore("pruned-count", "kept.size", "argument")],
    foundBy: NEWEST_AND_LABELLED,
  },
  {
    name: "pruning does not remove pending writes",
    edits: [inStore("pruned-writes", "")],
    foundBy: NEWEST_AND_LABELLED,
  },
  {
    name: "pruning removes the heads",
    edits: [inStore("pruned-checkpoint", after("thread.heads.clear();"))],
    foundBy: NEWEST_AND_LABELLED,
  },
  {
    name: "pruning removes checkpoints of other threads",
    edits: [
      inStore(
        "pruned-count",
        before(
          `for (const other of this.#disk.threads.values()) {
            if (other === thread || gone.length === 0) continue;
            for (const id of [...other.checkpoints.keys()].slice(0, -1)) other.checkpoints.delete(id);
          }`,
        ),
      ),
    ],
    foundBy: EACH_NAMESPACE,
  },
];

/** Keys that are equal for some different ids of threads. */
const NAMES: readonly PlantedFault[] = (
  [
    ["ignores case", "threadId.toLowerCase()"],
    ["is normalized", `threadId.normalize("NFC")`],
    ["ends at NUL", String.raw`threadId.split("\0")[0]!`],
    ["is trimmed", "threadId.trim()"],
    ["has no lone surrogates", String.raw`threadId.replace(/\p{Surrogate}/gu, "\ufffd")`],
    ["is cut after 255 characters", "threadId.slice(0, 255)"],
    ["is a number if it looks like one", `String(threadId.trim() === "" ? threadId : Number(threadId) || threadId)`],
    ["has escape sequences", String.raw`threadId.replace(/\\u0000/g, "\0")`],
  ] as const
).map(([name, key]) => ({
  name: `the key of a thread ${name}`,
  edits: [inStore("thread-key", key, "argument")],
  foundBy: "names of threads are never confused",
}));

const PAIRS = "pairs of names are never confused, even if joining them gives the same text";

const JOINED: readonly PlantedFault[] = [":", "/", "|", "\\0", '","', "\\u001f", "-"].map((separator) => ({
  name: `the key of a checkpoint is its thread and id, joined with ${separator}`,
  edits: [
    inStore(
      "found-checkpoint",
      `[...this.#disk.threads.values()]
        .flatMap((other) => [...other.checkpoints].map((found) => ({ key: \`\${other.threadId}${separator}\${found[0]}\`, found })))
        .find(({ key }) => key === \`\${threadId}${separator}\${id}\`)?.found[1]`,
      VALUE,
    ),
  ],
  foundBy: PAIRS,
}));

const CLOSED = "calls on a closed store fail, and closing it again is harmless";

export const REST_FAULTS: readonly PlantedFault[] = [
  ...WRITES,
  ...LABELS,
  ...SIGNALS,
  ...THREADS,
  ...MEMORY,
  ...PRUNING,
  ...NAMES,
  ...JOINED,
  {
    name: "the key of a write is its checkpoint and task, joined with :",
    edits: [
      inStore("fields", after("static readonly #written = new Map<string, string>();")),
      inStore(
        "stored-write",
        after(
          `for (const [taskId, text] of texts) {
            PlainStore.#written.set(\`\${claim.threadId}\\n\${checkpointId}:\${taskId}\`, text);
          }`,
        ),
      ),
      inStore(
        "read-writes",
        `[...pending].map((text) =>
          JSON.parse(PlainStore.#written.get(\`\${threadId}\\n\${checkpointId}:\${JSON.parse(text).taskId}\`) ?? text))`,
        "argument",
      ),
    ],
    foundBy: PAIRS,
  },
  {
    name: "a closed store can be read",
    edits: [inStore("close", "")],
    foundBy: CLOSED,
  },
  {
    name: "closing a closed store is an error",
    edits: [inStore("close", before("this.#checkOpen();"))],
    foundBy: CLOSED,
  },
];
