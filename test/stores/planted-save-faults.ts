/** Mistakes of saving: atomicity, compare-and-set, changes of channels, forks, shared references. */
import type { PlantedFault } from "./planted-faults.ts";

const CHECK_HEAD =
  "if (head !== expectedHead) throw conflict(claim.threadId, `stands at ${head}, not at ${expectedHead}`);";
const HEADER = "const text = jsonText({ ...header, label: null });";

/** Something is done before everything that may fail has been tried. */
const early = (what: string, statement: string, foundBy: string): PlantedFault => ({
  name: what,
  edits: [[CHECK_HEAD, `${statement}\n    ${CHECK_HEAD}`]],
  foundBy,
});

export const SAVE_FAULTS: readonly PlantedFault[] = [
  {
    name: "there is no compare-and-set",
    edits: [[CHECK_HEAD, ""]],
    foundBy: "compare-and-set: a save that expects another head writes nothing",
  },
  {
    name: "compare-and-set is only for the first checkpoint",
    edits: [[CHECK_HEAD, CHECK_HEAD.replace("(head !==", "(expectedHead === null && head !==")]],
    foundBy: "compare-and-set: a save that expects another head writes nothing",
  },
  {
    name: "compare-and-set takes any head that once was",
    edits: [[CHECK_HEAD, CHECK_HEAD.replace("(head !==", '(!thread.checkpoints.has(expectedHead ?? "") && head !==')]],
    foundBy: "compare-and-set: a save that expects another head writes nothing",
  },
  {
    name: "compare-and-set asks for the head of the graph itself",
    edits: [["const head = thread.heads.get(header.namespace) ?? null;", 'const head = thread.heads.get("") ?? null;']],
    foundBy: "namespaces have heads",
  },
  {
    name: "a checkpoint is replaced by another of its id",
    edits: [["if (thread.checkpoints.has(header.id)) throw failed(`there is a checkpoint ${header.id} already`);", ""]],
    foundBy: "a checkpoint is never replaced",
  },
  early("the head moves first", "thread.heads.set(header.namespace, header.id);", "compare-and-set"),
  early("pending writes are cleared first", "thread.writes.delete(clearWritesOf!);", "compare-and-set"),
  early(
    "the label is taken first",
    "if (header.label) thread.labels.set(header.label, thread.heads.get('')!);",
    "compare-and-set",
  ),
  early("the claim is given back first", "if (releaseClaim) thread.holder = undefined;", "compare-and-set"),
  {
    name: "the head moves before the values are known to be JSON",
    edits: [[HEADER, `${HEADER} thread.heads.set(header.namespace, header.id);`]],
    foundBy: "values that JSON cannot hold are refused, and nothing is written",
  },
  {
    name: "pending writes are cleared before the values are known to be JSON",
    edits: [[HEADER, `${HEADER} thread.writes.delete(clearWritesOf);`]],
    foundBy: "5.3 a failed save changes nothing: values, head, label, pending writes, claim",
  },
  {
    name: "the label is taken before the values are known to be JSON",
    edits: [[HEADER, `${HEADER} if (header.label) thread.labels.set(header.label, head);`]],
    foundBy: "5.3 a failed save changes nothing: values, head, label, pending writes, claim",
  },
  {
    name: "the claim is given back before the values are known to be JSON",
    edits: [[HEADER, `${HEADER} if (releaseClaim) thread.holder = undefined;`]],
    foundBy: "5.3 a failed save changes nothing: values, head, label, pending writes, claim",
  },
  {
    name: "the head moves after a moment",
    edits: [
      [
        "  save(claim: Claim, request: SaveRequest): void {",
        "  async save(claim: Claim, request: SaveRequest): Promise<void> {",
      ],
      ["thread.heads.set(header.namespace, header.id);", "await null; thread.heads.set(header.namespace, header.id);"],
    ],
    foundBy: "of concurrent claims or saves, exactly one succeeds",
  },
  {
    name: "the checkpoint follows its head after a moment",
    edits: [
      [
        "  save(claim: Claim, request: SaveRequest): void {",
        "  async save(claim: Claim, request: SaveRequest): Promise<void> {",
      ],
      [
        "thread.checkpoints.set(header.id, { header: text, cells });\n    thread.heads.set(header.namespace, header.id);",
        "thread.heads.set(header.namespace, header.id); for (let n = 0; n < 3; n++) await null; thread.checkpoints.set(header.id, { header: text, cells });",
      ],
    ],
    foundBy: "5.3 a read during a save sees the whole step or none of it",
  },
  {
    name: "a fork is taken for the next of its sibling",
    edits: [["head !== null && header.parentId === head ?", "head !== null ?"]],
    foundBy: "5.12 a fork within a thread: branches share their past and nothing else",
  },
  {
    name: "a fork starts from what was written last, in whichever branch",
    edits: [
      [
        "parent === undefined ? snapshotCells(request.snapshot()) :",
        "parent === undefined && head === null ? snapshotCells(request.snapshot()) : parent === undefined ? changedCells(thread.checkpoints.get(head).cells, request.changes) :",
      ],
    ],
    foundBy: "5.12 forks of forks: no branch sees the writes of another",
  },
  {
    name: "a new beginning keeps the old values",
    edits: [
      [
        "parent === undefined ? snapshotCells(request.snapshot()) :",
        "parent === undefined ? new Map([...(thread.checkpoints.get(head)?.cells ?? []), ...snapshotCells(request.snapshot())]) :",
      ],
    ],
    foundBy: "a new run on a thread starts without history",
  },
  {
    name: "a fork into another thread misses the values that did not change",
    edits: [
      [
        "parent === undefined ? snapshotCells(request.snapshot()) :",
        "parent === undefined ? changedCells(new Map(), request.changes) :",
      ],
    ],
    foundBy: "5.12 a fork into another thread is independent of its source",
  },
  {
    name: "appended items go into the list that the parent has",
    edits: [
      ["texts: [...texts, ...change.items.map(jsonText)]", "texts: (texts.push(...change.items.map(jsonText)), texts)"],
    ],
    foundBy: "5.12 channels are set, appended to and reset",
  },
  {
    name: "what is appended takes the list's place",
    edits: [["texts: [...texts, ...change.items.map(jsonText)]", "texts: change.items.map(jsonText)"]],
    foundBy: "5.12 channels are set, appended to and reset",
  },
  {
    name: "what is appended goes to the front",
    edits: [["texts: [...texts, ...change.items.map(jsonText)]", "texts: [...change.items.map(jsonText), ...texts]"]],
    foundBy: "5.12 channels are set, appended to and reset",
  },
  {
    name: "an append of nothing does nothing",
    edits: [
      [
        "    } else {\n      const { kind, texts }",
        "    } else if (change.items.length > 0) {\n      const { kind, texts }",
      ],
    ],
    foundBy: "5.12 no value, an empty list and an emptied list are distinct",
  },
  {
    name: "an append to what is no list makes one",
    edits: [['if (kind === "value") throw', 'if (kind === "no") throw']],
    foundBy: "an append to a value that is not a list is refused and writes nothing",
  },
  {
    name: "a reset does nothing",
    edits: [['cells.set(channel, { version, kind: "none", texts: [] });\n    } else {', "} else {"]],
    foundBy: "5.12 channels are set, appended to and reset",
  },
  {
    name: "a reset forgets the version",
    edits: [
      [
        'cells.set(channel, { version, kind: "none", texts: [] });\n    } else {',
        "cells.delete(channel);\n    } else {",
      ],
    ],
    foundBy: "5.12 channels are set, appended to and reset",
  },
  {
    name: "versions are counted by the store",
    edits: [
      ["cells.set(channel, cell(version, change.value));", "cells.set(channel, cell(cells.size, change.value));"],
    ],
    foundBy: "5.12 channels are set, appended to and reset",
  },
  {
    name: "all values are asked for each time",
    edits: [["const parent = head !== null", "request.snapshot();\n    const parent = head !== null"]],
    foundBy: "5.12 storage grows",
  },
  {
    name: "the header is kept as it was handed over",
    edits: [
      [HEADER, "const text = { ...header, label: null } as unknown as string;"],
      [
        "const header = JSON.parse(stored.header) as CheckpointHeader;\n    const",
        "const header = stored.header;\n    const",
      ],
    ],
    foundBy: "changing saved or returned objects does not change the store's content",
  },
  {
    name: "values are kept as they were handed over",
    edits: [
      [': { version, kind: "value", texts: [jsonText(value)] };', ': { version, kind: "value", texts: value };'],
      ['texts.join(",")}]` : texts.join("");', 'texts.join(",")}]` : texts;'],
      ["values[channel] = JSON.parse(text) as Json;", 'values[channel] = kind === "list" ? JSON.parse(text) : text;'],
    ],
    foundBy: "changing saved or returned objects does not change the store's content",
  },
  {
    name: "readers share what they are handed",
    edits: [
      ["#closed = false;", "#closed = false;\n  readonly #read = new Map();"],
      [
        "return { ...header, label: labelOf(thread, id), ...readCells(stored.cells) };",
        "if (!this.#read.has(stored)) this.#read.set(stored, { ...header, ...readCells(stored.cells) });\n    return { ...this.#read.get(stored), label: labelOf(thread, id) };",
      ],
    ],
    foundBy: "changing saved or returned objects does not change the store's content",
  },
  {
    name: "bigints are kept as text",
    edits: [
      ["JSON.stringify(value) as", "JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}` : one)) as"],
    ],
    foundBy: "values that JSON cannot hold are refused, and nothing is written",
  },
  {
    name: "negative zero is kept apart",
    edits: [["values[channel] = JSON.parse(text) as Json;", "values[channel] = text === '0' ? -0 : JSON.parse(text);"]],
    foundBy: "5.11 numbers are read as JSON holds them: -0 becomes 0",
  },
];
