/** Mistakes of saving: atomicity, compare-and-set, changes of channels, forks, shared references. */
import { after, before, swap } from "../support/mutate.ts";
import { inDisk, inStore, VALUE, type PlantedFault } from "./planted-fault.ts";

const COMPARE_AND_SET = "compare-and-set: a save that expects another head writes nothing";
const CHANNELS = "5.12 channels are set, appended to and reset";
const FAILED_SAVE = "5.3 a failed save changes nothing: values, head, label, pending writes, claim";
const NOT_JSON = "values that JSON cannot hold are refused, and nothing is written";
const SHARED = "changing saved or returned objects does not change the store's content";

/** Runs a statement before the head is compared, so that a refused save has already written something. */
const early = (name: string, statement: string): PlantedFault => ({
  name: `${name} before the head is compared`,
  edits: [inStore("expected-head", before(statement))],
  foundBy: COMPARE_AND_SET,
});

/** Runs a statement before the values are written, so that a save with invalid values has already written something. */
const beforeValues = (name: string, statement: string, foundBy: string): PlantedFault => ({
  name: `${name} before the values are written as JSON`,
  edits: [inStore("stored-header", after(statement))],
  foundBy,
});

export const SAVE_FAULTS: readonly PlantedFault[] = [
  {
    name: "a save does not compare the head",
    edits: [inStore("expected-head", "")],
    foundBy: COMPARE_AND_SET,
  },
  {
    name: "only the first save of a thread compares the head",
    edits: [inStore("expected-head", (code) => `expectedHead === null && ${code}`, "test")],
    foundBy: COMPARE_AND_SET,
  },
  {
    name: "a save accepts any previous head",
    edits: [inStore("expected-head", (code) => `!thread.checkpoints.has(expectedHead ?? "") && ${code}`, "test")],
    foundBy: COMPARE_AND_SET,
  },
  {
    name: "a save compares the head of the root namespace",
    edits: [inStore("current-head", swap("(header.namespace)", `("")`))],
    foundBy: "namespaces have heads",
  },
  {
    name: "a checkpoint replaces another of the same id",
    edits: [inStore("existing-checkpoint", "")],
    foundBy: "a checkpoint is never replaced",
  },
  early("the head moves", "thread.heads.set(header.namespace, header.id);"),
  early("pending writes are cleared", "thread.writes.delete(clearWritesOf!);"),
  early("the label moves", `if (header.label) thread.labels.set(header.label, thread.heads.get("")!);`),
  early("the claim is released", "if (releaseClaim) thread.holder = undefined;"),
  beforeValues("the head moves", "thread.heads.set(header.namespace, header.id);", NOT_JSON),
  beforeValues("pending writes are cleared", "thread.writes.delete(clearWritesOf!);", FAILED_SAVE),
  beforeValues("the label moves", "if (header.label) thread.labels.set(header.label, head!);", FAILED_SAVE),
  beforeValues("the claim is released", "if (releaseClaim) thread.holder = undefined;", FAILED_SAVE),
  {
    name: "the head moves asynchronously",
    edits: [inStore("save", before("async")), inStore("new-head", before("await null;"))],
    foundBy: "of concurrent claims or saves, exactly one succeeds",
  },
  {
    name: "the head moves first, the checkpoint is stored asynchronously",
    edits: [
      inStore("save", before("async")),
      inStore("stored-checkpoint", ""),
      inStore(
        "new-head",
        after(
          `for (let n = 0; n < 3; n++) await null;
          thread.checkpoints.set(header.id, { header: text, cells });`,
        ),
      ),
    ],
    foundBy: "5.3 a read during a save sees the whole step or none of it",
  },
  {
    name: "a fork continues its sibling",
    edits: [inStore("parent", swap("head !== null && header.parentId === head", "head !== null"))],
    foundBy: "5.12 a fork within a thread: branches share their past and nothing else",
  },
  {
    name: "a fork starts from the newest values of any branch",
    edits: [
      inStore(
        "stored-cells",
        `head === null ? snapshotCells(request.snapshot())
          : changedCells((parent ?? thread.checkpoints.get(head)!).cells, request.changes)`,
        VALUE,
      ),
    ],
    foundBy: "5.12 forks of forks: no branch sees the writes of another",
  },
  {
    name: "a new run keeps the values of the previous run",
    edits: [
      inStore(
        "stored-cells",
        swap(
          "snapshotCells(request.snapshot())",
          "new Map([...(thread.checkpoints.get(head!)?.cells ?? []), ...snapshotCells(request.snapshot())])",
        ),
      ),
    ],
    foundBy: "a new run on a thread starts without history",
  },
  {
    name: "a fork into another thread lacks the unchanged values",
    edits: [
      inStore("stored-cells", swap("snapshotCells(request.snapshot())", "changedCells(new Map(), request.changes)")),
    ],
    foundBy: "5.12 a fork into another thread is independent of its source",
  },
  {
    name: "an append changes the list of the parent",
    edits: [
      inDisk(
        "appended-items",
        swap("[...texts, ...change.items.map(jsonText)]", "(texts.push(...change.items.map(jsonText)), texts)"),
      ),
    ],
    foundBy: CHANNELS,
  },
  {
    name: "a splice keeps the items that it replaces",
    edits: [inDisk("edits", swap("edited.splice(at, remove,", "edited.splice(at, 0,"))],
    foundBy: "5.12 a list that changes in the middle",
  },
  {
    name: "a splice applies its edits from the front, so that they move each other",
    edits: [inDisk("edits", swap("[...change.edits].reverse()", "change.edits"))],
    foundBy: "5.12 a list that changes in the middle",
  },
  {
    name: "an append replaces the list",
    edits: [inDisk("appended-items", swap("...texts, ", ""))],
    foundBy: CHANNELS,
  },
  {
    name: "an append adds to the front of the list",
    edits: [
      inDisk(
        "appended-items",
        swap("...texts, ...change.items.map(jsonText)", "...change.items.map(jsonText), ...texts"),
      ),
    ],
    foundBy: CHANNELS,
  },
  {
    name: "an append of no items does not create the list",
    edits: [inDisk("append", before("if (change.items.length === 0) continue;"))],
    foundBy: "5.12 no value, an empty list and an emptied list are distinct",
  },
  {
    name: "an append to a value that is not a list is accepted",
    edits: [inDisk("append-check", "")],
    foundBy: "an append to a value that is not a list is refused and writes nothing",
  },
  {
    name: "a reset does nothing",
    edits: [inDisk("reset-channel", "")],
    foundBy: CHANNELS,
  },
  {
    name: "a reset loses the version of the channel",
    edits: [inDisk("reset-channel", "cells.delete(channel);")],
    foundBy: CHANNELS,
  },
  {
    name: "the store counts the versions of channels itself",
    edits: [inDisk("set-channel", swap("cell(version,", "cell(cells.size,"))],
    foundBy: CHANNELS,
  },
  {
    name: "every save reads the snapshot",
    edits: [inStore("parent", before("request.snapshot();"))],
    foundBy: "5.12 storage grows",
  },
  {
    name: "the header is not copied",
    edits: [
      inStore("stored-header", swap("jsonText({ ...header, label: null })", "{ ...header, label: null }")),
      inStore("read-header", "stored.header", VALUE),
    ],
    foundBy: SHARED,
  },
  {
    name: "values are not copied",
    edits: [
      inDisk("stored-cell", swap("[jsonText(value)]", "value")),
      inDisk("cell-text", swap(`texts.join("")`, "texts")),
      inDisk("read-value", swap("JSON.parse(text)", `kind === "list" ? JSON.parse(text) : text`)),
    ],
    foundBy: SHARED,
  },
  {
    name: "two reads return the same objects",
    edits: [
      inStore("fields", after("readonly #read = new Map();")),
      inStore(
        "returned-checkpoint",
        `if (!this.#read.has(stored)) this.#read.set(stored, { ...header, ...readCells(stored.cells) });
        return { ...this.#read.get(stored), label: labelOf(thread, id) };`,
      ),
    ],
    foundBy: SHARED,
  },
  {
    name: "a bigint is written as text",
    edits: [
      inDisk(
        "json-text",
        swap("(value)", "(value, (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))"),
      ),
    ],
    foundBy: NOT_JSON,
  },
  {
    name: "negative zero is not changed to zero",
    edits: [inDisk("read-value", swap("JSON.parse(text)", `text === "0" ? -0 : JSON.parse(text)`))],
    foundBy: "5.11 numbers are read as JSON holds them: -0 becomes 0",
  },
];
