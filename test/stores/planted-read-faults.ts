/** Mistakes of what is read: order, pages, namespaces, forms of values. */
import type { PlantedFault } from "./planted-faults.ts";

const STEP = "for (; next?.namespace === namespace && found.length < limit; next = parentOf(next)) found.push(next);";

export const READ_FAULTS: readonly PlantedFault[] = [
  {
    name: "history is given oldest first",
    edits: [[STEP, STEP.replace("push", "unshift")]],
    foundBy: "5.10 history is newest first along the parents, independent of ids and clocks",
  },
  {
    name: "history is sorted by timestamp",
    edits: [["    return found;\n", "    return found.sort((a, b) => b.timestamp - a.timestamp);\n"]],
    foundBy: "5.10 history is newest first along the parents, independent of ids and clocks",
  },
  {
    name: "history is sorted by id",
    edits: [["    return found;\n", "    return found.sort((a, b) => (a.id < b.id ? 1 : -1));\n"]],
    foundBy: "5.10 history is newest first along the parents, independent of ids and clocks",
  },
  {
    name: "the limit of a listing is ignored",
    edits: [[STEP, STEP.replace(" && found.length < limit", "")]],
    foundBy: "history is paged: `limit`, `before`, 100 by default",
  },
  {
    name: "a listing gives one more than its limit",
    edits: [[STEP, STEP.replace("<", "<=")]],
    foundBy: "history is paged: `limit`, `before`, 100 by default",
  },
  {
    name: "a limit of 0 means all",
    edits: [[STEP, STEP.replace("< limit", "< (limit || Infinity)")]],
    foundBy: "history is paged: `limit`, `before`, 100 by default",
  },
  {
    name: "a listing without limit gives everything",
    edits: [["before, limit = 100 }", "before, limit = Infinity }"]],
    foundBy: "history is paged: `limit`, `before`, 100 by default",
  },
  {
    name: "a listing without limit gives 50",
    edits: [["before, limit = 100 }", "before, limit = 50 }"]],
    foundBy: "history is paged: `limit`, `before`, 100 by default",
  },
  {
    name: "a page begins with the cursor itself",
    edits: [["namespace) : parentOf(from);", "namespace) : from;"]],
    foundBy: "history is paged: `limit`, `before`, 100 by default",
  },
  {
    name: "a page begins one too late",
    edits: [["namespace) : parentOf(from);", "namespace) : parentOf(parentOf(from) ?? from);"]],
    foundBy: "history is paged: `limit`, `before`, 100 by default",
  },
  {
    name: "an unknown cursor gives an empty page",
    edits: [["throw unknown(threadId, before);", "return [];"]],
    foundBy: "a missing record is `undefined` or an empty list, not an error",
  },
  {
    name: "a cursor of another namespace is taken",
    edits: [["from?.namespace !== namespace", "from === undefined"]],
    foundBy: "namespaces have heads",
  },
  {
    name: "history crosses from a namespace into another",
    edits: [[STEP, STEP.replace("next?.namespace === namespace", "next !== undefined")]],
    foundBy: "history stays in its namespace, even if a parent is in another",
  },
  {
    name: "history is whatever was written, not the chain of parents",
    edits: [
      [
        "const parentOf = ({ parentId }: Checkpoint) => (parentId === null ? undefined : this.loadById(threadId, parentId));",
        "const parentOf = ({ id }: Checkpoint) => { const ids = [...this.#find(threadId).checkpoints.keys()].filter((other) => this.loadById(threadId, other).namespace === namespace); return this.loadById(threadId, ids[ids.indexOf(id) - 1]); };",
      ],
    ],
    foundBy: "5.12 a fork within a thread: branches share their past and nothing else",
  },
  {
    name: "a parent without characters is none",
    edits: [["(parentId === null ? undefined", "(!parentId ? undefined"]],
    foundBy: "5.10 history is newest first along the parents, independent of ids and clocks",
  },
  {
    name: "the latest is the one with the greatest timestamp",
    edits: [
      [
        "return id === undefined ? undefined : this.loadById(threadId, id);\n  }\n\n  loadById",
        "return id === undefined ? undefined : this.list(threadId, { namespace }).reduce((a, b) => (a.timestamp >= b.timestamp ? a : b));\n  }\n\n  loadById",
      ],
    ],
    foundBy: "5.10 history is newest first along the parents, independent of ids and clocks",
  },
  {
    name: "the head is looked for without its namespace",
    edits: [["heads.get(namespace);", 'heads.get("");']],
    foundBy: "namespaces have heads",
  },
  {
    name: "a checkpoint from the future is read",
    edits: [[" || schemaVersion > CHECKPOINT_SCHEMA_VERSION", ""]],
    foundBy: "5.1 schema version 0 is read; 5.11 a newer version is refused, naming the row",
  },
  {
    name: "a version that is no whole number is read",
    edits: [
      ["!Number.isInteger(schemaVersion) ||", "schemaVersion === 4711 ||"],
      [" || schemaVersion > CHECKPOINT_SCHEMA_VERSION", ""],
    ],
    foundBy: "5.1 schema version 0 is read; 5.11 a newer version is refused, naming the row",
  },
  {
    name: "a checkpoint from before versions is refused",
    edits: [["schemaVersion < 0", "schemaVersion < 1"]],
    foundBy: "5.1 schema version 0 is read; 5.11 a newer version is refused, naming the row",
  },
  {
    name: "a refused version does not name the checkpoint",
    edits: [["const problem = `checkpoint ${id} has", "const problem = `a checkpoint has"]],
    foundBy: "5.1 schema version 0 is read; 5.11 a newer version is refused, naming the row",
  },
  {
    name: "versions of channels are forgotten",
    edits: [["if (version !== 0) versions[channel] = version;", ""]],
    foundBy: "5.1 a checkpoint is read as it was saved, in every phase",
  },
  {
    name: "channels are kept in an ordinary object",
    edits: [["const values: Record<string, Json> = Object.create(null);", "const values: Record<string, Json> = {};"]],
    foundBy: "values of every kind are read as they were saved, in the first and in later checkpoints",
  },
  {
    name: "what was stored becomes a prototype",
    edits: [
      [
        "values[channel] = JSON.parse(text) as Json;",
        "values[channel] = JSON.parse(text, (_, value) => (value && typeof value === 'object' && !Array.isArray(value) ? Object.entries(value).reduce((all, [key, one]) => ((all[key] = one), all), {}) : value));",
      ],
    ],
    foundBy: "5.11 loading returns plain data: a stored `__proto__` is an ordinary key",
  },
  {
    name: "null is no value",
    edits: [['if (kind !== "none") values', 'if (kind !== "none" && text !== "null") values']],
    foundBy: "values of every kind are read as they were saved, in the first and in later checkpoints",
  },
  {
    name: "numbers lose their last digits",
    edits: [
      [
        "values[channel] = JSON.parse(text) as Json;",
        "values[channel] = JSON.parse(text, (_, value) => (typeof value === 'number' ? Math.fround(value) : value));",
      ],
    ],
    foundBy: "values of every kind are read as they were saved, in the first and in later checkpoints",
  },
  {
    name: "text is normalised",
    edits: [["values[channel] = JSON.parse(text) as Json;", 'values[channel] = JSON.parse(text.normalize("NFC"));']],
    foundBy: "values of every kind are read as they were saved, in the first and in later checkpoints",
  },
  {
    name: "lone surrogates are replaced",
    edits: [
      [
        "values[channel] = JSON.parse(text) as Json;",
        "values[channel] = JSON.parse(text, (_, value) => (typeof value === 'string' ? value.toWellFormed?.() ?? value.replace(/\\p{Surrogate}/gu, '\\ufffd') : value));",
      ],
    ],
    foundBy: "values of every kind are read as they were saved, in the first and in later checkpoints",
  },
  {
    name: "text ends at NUL",
    edits: [
      [
        "values[channel] = JSON.parse(text) as Json;",
        "values[channel] = JSON.parse(text, (_, value) => (typeof value === 'string' ? value.split('\\0')[0] : value));",
      ],
    ],
    foundBy: "values of every kind are read as they were saved, in the first and in later checkpoints",
  },
  {
    name: "an empty list is no list",
    edits: [
      ['text = kind === "list" ? `[', 'text = kind === "list" && texts.length === 0 ? "null" : kind === "list" ? `['],
    ],
    foundBy: "values of every kind are read as they were saved, in the first and in later checkpoints",
  },
  {
    name: "header fields that are rare are lost",
    edits: [
      [
        "const text = jsonText({ ...header, label: null });",
        "const text = jsonText({ ...header, finished: undefined, label: null });",
      ],
    ],
    foundBy: "5.1 a checkpoint is read as it was saved, in every phase",
  },
];
