/** Mistakes of pending writes, labels, threads, deleting, pruning and names. */
import type { PlantedFault } from "./planted-faults.ts";

const CLEARED = "if (clearWritesOf !== undefined) thread.writes.delete(clearWritesOf);";
const PUT = "for (const [taskId, text] of texts) pending.set(taskId, text);";
const CLEAR = "if (taskIds === undefined) writes.delete(checkpointId);";
const GIVEN = "return [...pending].map((text) => JSON.parse(text) as PendingWrite);";
const KEPT = "if (count < keepLast || isLabelled || timestamp >= olderThan) keep(id);";
const REMOVED = "this.#disk.threads.delete(keyOf(threadId));";
const KEY = "function keyOf(threadId: string): string {\n  return threadId;";
const SORTED = ".sort((a, b) => b.written - a.written)";
const WITH_A_HEAD = '.filter(({ heads }) => heads.has(""))';

const WRITES: readonly PlantedFault[] = [
  {
    name: "pending writes of all threads are one",
    edits: [
      [
        "const pending = thread.writes.get(checkpointId) ?? new Map<string, string>();\n    thread.writes.set(checkpointId, pending);",
        "const shared = [...this.#disk.threads.values()][0].writes; const pending = shared.get(checkpointId) ?? new Map(); shared.set(checkpointId, pending);",
      ],
      [
        "this.#find(threadId)?.writes.get(checkpointId)?.values() ?? []",
        "[...this.#disk.threads.values()][0]?.writes.get(checkpointId)?.values() ?? []",
      ],
    ],
    foundBy: "5.3 pending writes belong to their thread",
  },
  {
    name: "a second write of a task stands beside the first",
    edits: [[PUT, "for (const [taskId, text] of texts) pending.set(`${taskId} ${pending.size}`, text);"]],
    foundBy: "5.3 pending writes: in order, replaced by task, separate for each checkpoint",
  },
  {
    name: "a second write of a task is dropped",
    edits: [[PUT, "for (const [taskId, text] of texts) if (!pending.has(taskId)) pending.set(taskId, text);"]],
    foundBy: "5.3 pending writes: in order, replaced by task, separate for each checkpoint",
  },
  {
    name: "a write that was replaced moves to the end",
    edits: [[PUT, "for (const [taskId, text] of texts) pending.delete(taskId), pending.set(taskId, text);"]],
    foundBy: "5.3 pending writes: in order, replaced by task, separate for each checkpoint",
  },
  {
    name: "writes are given by the names of their tasks",
    edits: [
      [GIVEN, "return [...pending].map((text) => JSON.parse(text)).sort((a, b) => (a.taskId < b.taskId ? -1 : 1));"],
    ],
    foundBy: "5.3 pending writes: in order, replaced by task, separate for each checkpoint",
  },
  {
    name: "writes are put one by one",
    edits: [
      ["const texts = writes.map((write) => [write.taskId, jsonText(write)] as const);", ""],
      [PUT, "for (const write of writes) pending.set(write.taskId, jsonText(write));"],
    ],
    foundBy: "5.3 writes of one call are stored all or none",
  },
  {
    name: "writes that are put at the same time overwrite each other",
    edits: [
      [
        "  putWrites(claim: Claim, checkpointId: string, writes: readonly PendingWrite[]): void {",
        "  async putWrites(claim: Claim, checkpointId: string, writes: readonly PendingWrite[]): Promise<void> {",
      ],
      [
        "const pending = thread.writes.get(checkpointId) ?? new Map<string, string>();\n",
        "const pending = new Map(thread.writes.get(checkpointId)); await null;\n",
      ],
    ],
    foundBy: "5.3 concurrent writes of parallel tasks are all stored",
  },
  {
    name: "putting no writes clears those that are there",
    edits: [
      [
        "thread.writes.set(checkpointId, pending);",
        "if (texts.length === 0) pending.clear();\n    thread.writes.set(checkpointId, pending);",
      ],
    ],
    foundBy: "5.3 writes of one call are stored all or none",
  },
  {
    name: "clearing one clears all of its checkpoint",
    edits: [[CLEAR, "if (taskIds !== 1) writes.delete(checkpointId);"]],
    foundBy: "5.3 pending writes: in order, replaced by task, separate for each checkpoint",
  },
  {
    name: "clearing none clears all",
    edits: [[CLEAR, "if (!taskIds?.length) writes.delete(checkpointId);"]],
    foundBy: "5.3 pending writes: in order, replaced by task, separate for each checkpoint",
  },
  {
    name: "clearing clears those of other checkpoints",
    edits: [[CLEAR, "if (taskIds === undefined) writes.clear();"]],
    foundBy: "5.3 pending writes: in order, replaced by task, separate for each checkpoint",
  },
  {
    name: "a save clears no writes",
    edits: [[CLEARED, ""]],
    foundBy: "5.3 new checkpoint, head, clearing of writes and release are one transaction",
  },
  {
    name: "a save clears all writes",
    edits: [[CLEARED, "thread.writes.clear();"]],
    foundBy: "5.3 new checkpoint, head, clearing of writes and release are one transaction",
  },
  {
    name: "a save clears the writes of the former head, told or not",
    edits: [[CLEARED, "thread.writes.delete(head);"]],
    foundBy: "5.3 new checkpoint, head, clearing of writes and release are one transaction",
  },
  {
    name: "a save clears writes of other threads",
    edits: [[CLEARED, "for (const other of this.#disk.threads.values()) other.writes.delete(clearWritesOf!);"]],
    foundBy: "5.3 pending writes belong to their thread",
  },
  {
    name: "the node of a write is lost",
    edits: [[GIVEN, "return [...pending].map((text) => ({ ...JSON.parse(text), node: '' }));"]],
    foundBy: "5.3 pending writes: in order, replaced by task, separate for each checkpoint",
  },
];

const LABELS: readonly PlantedFault[] = [
  {
    name: "a label that another has is refused",
    edits: [
      [
        "thread.labels.set(label, checkpointId);",
        "if (thread.labels.has(label)) throw failed('taken');\n    thread.labels.set(label, checkpointId);",
      ],
    ],
    foundBy: "a label names one checkpoint and can move",
  },
  {
    name: "a label that another has stays there, silently",
    edits: [
      [
        "thread.labels.set(label, checkpointId);",
        "if (!thread.labels.has(label)) thread.labels.set(label, checkpointId);",
      ],
    ],
    foundBy: "a label names one checkpoint and can move",
  },
  {
    name: "a checkpoint keeps its former label beside the new one",
    edits: [["if (former !== null) thread.labels.delete(former);", ""]],
    foundBy: "a label names one checkpoint and can move",
  },
  {
    name: "who has lost a label still shows it",
    edits: [
      ["const text = jsonText({ ...header, label: null });", "const text = jsonText(header);"],
      ["label: labelOf(thread, id), ...readCells", "label: labelOf(thread, id) ?? header.label, ...readCells"],
    ],
    foundBy: "a label names one checkpoint and can move",
  },
  {
    name: "a label given while saving is not found",
    edits: [["if (header.label !== null) thread.labels.set(header.label, header.id);", ""]],
    foundBy: "5.1 a checkpoint is read as it was saved, in every phase",
  },
  {
    name: "a label without characters is none",
    edits: [["if (header.label !== null) thread", "if (header.label) thread"]],
    foundBy: "names of namespaces, checkpoints, channels, labels and tasks are never confused",
  },
  {
    name: "an unknown checkpoint is labelled",
    edits: [
      [
        "if (thread === undefined || !thread.checkpoints.has(checkpointId)) throw unknown(threadId, checkpointId);",
        "if (thread === undefined) throw unknown(threadId, checkpointId);",
      ],
    ],
    foundBy: "a label names one checkpoint and can move",
  },
];

const THREADS: readonly PlantedFault[] = [
  {
    name: "threads are listed oldest first",
    edits: [[SORTED, ".sort((a, b) => a.written - b.written)"]],
    foundBy: "threads are listed",
  },
  { name: "threads are listed as they were made", edits: [[SORTED, ""]], foundBy: "threads are listed" },
  {
    name: "threads are listed by name",
    edits: [[SORTED, ".sort((a, b) => (a.threadId < b.threadId ? -1 : 1))"]],
    foundBy: "threads are listed",
  },
  { name: "all threads are listed", edits: [[".slice(0, Math.max(0, limit))", ""]], foundBy: "threads are listed" },
  {
    name: "threads without a limit are all listed",
    edits: [["threads({ limit = 100 }", "threads({ limit = Infinity }"]],
    foundBy: "threads are listed",
  },
  {
    name: "the limit counts threads that are not listed",
    edits: [
      [WITH_A_HEAD, ""],
      [".slice(0, Math.max(0, limit))", `.slice(0, Math.max(0, limit))${WITH_A_HEAD}`],
    ],
    foundBy: "threads are listed",
  },
  {
    name: "a thread is said to have what its graph itself has",
    edits: [["checkpoints: checkpoints.size,", "checkpoints: this.list(threadId, { limit: 1e9 }).length,"]],
    foundBy: "threads are listed",
  },
  {
    name: "nothing is deleted",
    edits: [[REMOVED, ""]],
    foundBy: "deleting a thread removes all its data and no other data",
  },
  {
    name: "all threads are deleted",
    edits: [[REMOVED, "this.#disk.threads.clear();"]],
    foundBy: "deleting a thread removes all its data and no other data",
  },
  {
    name: "the claim of a deleted thread stays good",
    edits: [
      [
        REMOVED,
        "const thread = this.#find(threadId);\n    if (thread) this.#disk.threads.set(keyOf(threadId), { ...newThread(threadId), holder: thread.holder });",
      ],
    ],
    foundBy: "deleting a thread removes all its data and no other data",
  },
  ...(["writes", "labels", "heads"] as const).map((part) => ({
    name: `a thread that was deleted and made again has its ${part} back`,
    edits: [
      [REMOVED, `this.#gone.set(threadId, this.#find(threadId));\n    ${REMOVED}`],
      ["#closed = false;", "#closed = false;\n  readonly #gone = new Map();"],
      [
        "const thread = this.#find(threadId) ?? newThread(threadId);",
        part === "heads"
          ? 'const thread = this.#find(threadId) ?? { ...newThread(threadId), checkpoints: this.#gone.get(threadId)?.checkpoints ?? new Map(), heads: new Map([...(this.#gone.get(threadId)?.heads ?? [])].filter(([namespace]) => namespace !== "")) };'
          : part === "labels"
            ? "const thread = this.#find(threadId) ?? { ...newThread(threadId), labels: this.#gone.get(threadId)?.labels ?? new Map() };"
            : "const thread = this.#find(threadId) ?? { ...newThread(threadId), writes: this.#gone.get(threadId)?.writes ?? new Map() };",
      ],
    ] as const,
    foundBy: "deleting a thread removes all its data and no other data",
  })),
];

const PRUNING: readonly PlantedFault[] = [
  {
    name: "pruning removes what has a label",
    edits: [[KEPT, KEPT.replace(" || isLabelled", "")]],
    foundBy: "pruning keeps the newest checkpoints of each namespace and labelled ones",
  },
  {
    name: "pruning keeps labels that the policy gives up",
    edits: [["const isLabelled = keepLabelled && ", "const isLabelled = "]],
    foundBy: "pruning by age, with labelled checkpoints if the policy includes them",
  },
  {
    name: "pruning keeps one too few",
    edits: [[KEPT, KEPT.replace("count < keepLast", "count + 1 < keepLast")]],
    foundBy: "pruning keeps the newest checkpoints of each namespace and labelled ones",
  },
  {
    name: "pruning keeps one too many",
    edits: [[KEPT, KEPT.replace("count < keepLast", "count <= keepLast")]],
    foundBy: "pruning keeps the newest checkpoints of each namespace and labelled ones",
  },
  {
    name: "pruning counts over all namespaces",
    edits: [
      [
        "const count = newer.get(namespace) ?? 0;\n      newer.set(namespace, count + 1);",
        'const count = newer.get("") ?? 0;\n      newer.set("", count + 1);',
      ],
    ],
    foundBy: "pruning counts in each namespace and does not touch other threads",
  },
  {
    name: "pruning looks at no time",
    edits: [[KEPT, KEPT.replace(" || timestamp >= olderThan", "")]],
    foundBy: "pruning by age, with labelled checkpoints if the policy includes them",
  },
  {
    name: "pruning removes what is as old as the policy says",
    edits: [[KEPT, KEPT.replace(">=", ">")]],
    foundBy: "pruning by age, with labelled checkpoints if the policy includes them",
  },
  {
    name: "pruning removes what a called graph goes on from",
    edits: [["for (const child of Object.values(children)) keep(child);", ""]],
    foundBy: "7.2 pruning keeps the checkpoint that a called graph resumes from",
  },
  {
    name: "pruning looks one call deep",
    edits: [
      [
        "for (const child of Object.values(children)) keep(child);",
        "for (const child of Object.values(children)) kept.add(child);",
      ],
    ],
    foundBy: "7.2 pruning keeps the checkpoint that a called graph resumes from",
  },
  {
    name: "pruning keeps nothing where it is told so",
    edits: [["if (!Number.isSafeInteger(keepLast) || keepLast < 1)", "if (Number.isNaN(keepLast))"]],
    foundBy: "pruning counts in each namespace and does not touch other threads",
  },
  {
    name: "pruning takes any time",
    edits: [["if (Number.isNaN(olderThan)) throw", "if (keepLast === 0) throw"]],
    foundBy: "pruning by age, with labelled checkpoints if the policy includes them",
  },
  {
    name: "pruning says what stayed",
    edits: [["return gone.length;", "return kept.size;"]],
    foundBy: "pruning keeps the newest checkpoints of each namespace and labelled ones",
  },
  {
    name: "pruning leaves pending writes",
    edits: [["thread.checkpoints.delete(id);\n      thread.writes.delete(id);", "thread.checkpoints.delete(id);"]],
    foundBy: "pruning keeps the newest checkpoints of each namespace and labelled ones",
  },
  {
    name: "pruning takes whatever was pruned along for its descendants",
    edits: [
      [
        "thread.checkpoints.delete(id);\n      thread.writes",
        "thread.checkpoints.delete(id);\n      thread.heads.clear();\n      thread.writes",
      ],
    ],
    foundBy: "pruning keeps the newest checkpoints of each namespace and labelled ones",
  },
  {
    name: "pruning prunes other threads",
    edits: [
      [
        "    return gone.length;\n",
        "    if (gone.length > 0) for (const other of this.#disk.threads.values()) { const last = [...other.checkpoints.keys()].slice(0, -1); if (other !== thread) for (const id of last) other.checkpoints.delete(id); }\n    return gone.length;\n",
      ],
    ],
    foundBy: "pruning counts in each namespace and does not touch other threads",
  },
];

const NAMES: readonly PlantedFault[] = [
  ["the case of letters is ignored", "threadId.toLowerCase()"],
  ["names are normalised", 'threadId.normalize("NFC")'],
  ["names end at NUL", "threadId.split('\\0')[0]!"],
  ["names are trimmed", "threadId.trim()"],
  ["lone surrogates are replaced", "Buffer.from(threadId).toString()"],
  ["names are cut after 255 characters", "threadId.slice(0, 255)"],
  ["numbers are read as such", 'String(threadId.trim() === "" ? threadId : Number(threadId) || threadId)'],
  ["backslashes are escapes", 'threadId.replace(/\\\\u0000/g, "\\0")'],
].map(([name, key]) => ({
  name: name!,
  edits: [[KEY, KEY.replace("return threadId", `return ${key}`)]],
  foundBy: "names of threads are never confused",
}));

const JOINED: readonly PlantedFault[] = [":", "/", "|", "\\0", '","', "\\u001f", "-"].map((between) => ({
  name: `checkpoints are found by thread and id, joined with ${between}`,
  edits: [
    [
      "const stored = thread?.checkpoints.get(id);\n    if (thread === undefined",
      `const joined = \`\${threadId}${between.replace("`", "")}\${id}\`;\n    const stored = [...this.#disk.threads.values()].flatMap((one) => [...one.checkpoints].filter(([other]) => \`\${one.threadId}${between}\${other}\` === joined))[0]?.[1];\n    if (thread === undefined`,
    ],
  ],
  foundBy: "pairs of names are never confused, even if joining them gives the same text",
}));

export const REST_FAULTS: readonly PlantedFault[] = [
  ...WRITES,
  ...LABELS,
  ...THREADS,
  ...PRUNING,
  ...NAMES,
  ...JOINED,
  {
    name: "writes are found by checkpoint and task, joined",
    edits: [
      [
        PUT,
        "const flat = (this.#disk.flat ??= new Map()); for (const [taskId, text] of texts) flat.set(`${claim.threadId}\\n${checkpointId}:${taskId}`, text), pending.set(taskId, text);",
      ],
      [
        GIVEN,
        "return [...pending].map((text) => JSON.parse(this.#disk.flat.get(`${threadId}\\n${checkpointId}:${JSON.parse(text).taskId}`) ?? text));",
      ],
    ],
    foundBy: "pairs of names are never confused, even if joining them gives the same text",
  },
  {
    name: "a closed store answers",
    edits: [["this.#closed = true;", ""]],
    foundBy: "calls on a closed store fail, and closing it again is harmless",
  },
  {
    name: "a store may be closed once",
    edits: [["this.#closed = true;", "this.#checkOpen();\n    this.#closed = true;"]],
    foundBy: "calls on a closed store fail, and closing it again is harmless",
  },
];
