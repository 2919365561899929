/** Mistakes of reading: order, pages, namespaces, kinds of values. */
import { swap, type Mutation } from "../support/mutate.ts";
import { inDisk, inStore, VALUE, type PlantedFault } from "./planted-fault.ts";

const NEWEST_FIRST = "5.10 history is newest first along the parents, independent of ids and clocks";
const PAGES = "history is paged: `limit`, `before`, 100 by default";
const VERSIONS = "5.1 schema version 0 is read; 5.11 a newer version is refused, naming the row";
const VALUES = "values of every kind are read as they were saved, in the first and in later checkpoints";
const CHECKPOINT = "5.1 a checkpoint is read as it was saved, in every phase";

/** Reads a stored value with a reviver of `JSON.parse`: an expression of the parsed `value`. */
function revived(expression: string): Mutation {
  return inDisk("read-value", swap("JSON.parse(text)", `JSON.parse(text, (_, value) => (${expression}))`));
}

export const READ_FAULTS: readonly PlantedFault[] = [
  {
    name: "history is oldest first",
    edits: [inStore("page", swap("push", "unshift"))],
    foundBy: NEWEST_FIRST,
  },
  {
    name: "history is sorted by timestamp",
    edits: [inStore("returned-page", "found.sort((a, b) => b.timestamp - a.timestamp)", "argument")],
    foundBy: NEWEST_FIRST,
  },
  {
    name: "history is sorted by id",
    edits: [inStore("returned-page", "found.sort((a, b) => (a.id < b.id ? 1 : -1))", "argument")],
    foundBy: NEWEST_FIRST,
  },
  {
    name: "the limit of a page is ignored",
    edits: [inStore("page", swap(" && found.length < limit", ""))],
    foundBy: PAGES,
  },
  {
    name: "a page has one checkpoint more than its limit",
    edits: [inStore("page", swap("<", "<="), "test")],
    foundBy: PAGES,
  },
  {
    name: "a limit of 0 means no limit",
    edits: [inStore("page", swap("< limit", "< (limit || Infinity)"), "test")],
    foundBy: PAGES,
  },
  {
    name: "a page without a limit has all checkpoints",
    edits: [inStore("list", swap("limit = 100", "limit = Infinity"))],
    foundBy: PAGES,
  },
  {
    name: "a page without a limit has 50 checkpoints",
    edits: [inStore("list", swap("limit = 100", "limit = 50"))],
    foundBy: PAGES,
  },
  {
    name: "a page begins with the cursor",
    edits: [inStore("first-of-page", swap("parentOf(cursor)", "cursor"))],
    foundBy: PAGES,
  },
  {
    name: "a page begins one checkpoint too late",
    edits: [inStore("first-of-page", swap("parentOf(cursor)", "parentOf(parentOf(cursor) ?? cursor)"))],
    foundBy: PAGES,
  },
  {
    name: "an unknown cursor returns an empty page",
    edits: [inStore("cursor-check", "return [];", "consequent")],
    foundBy: "a missing record is `undefined` or an empty list, not an error",
  },
  {
    name: "a cursor of another namespace is accepted",
    edits: [inStore("cursor-check", swap("cursor?.namespace !== namespace", "cursor === undefined"), "test")],
    foundBy: "namespaces have heads",
  },
  {
    name: "history continues in another namespace",
    edits: [inStore("page", swap("next?.namespace === namespace", "next !== undefined"), "test")],
    foundBy: "history stays in its namespace, even if a parent is in another",
  },
  {
    name: "history follows the order of the saves instead of the parents",
    edits: [
      inStore(
        "parent-of",
        `({ id }: Checkpoint) => {
          const found = [...this.#find(threadId)!.checkpoints.keys()].filter(
            (other: string) => this.loadById(threadId, other)!.namespace === namespace,
          );
          return this.loadById(threadId, found[found.indexOf(id) - 1]!);
        }`,
        VALUE,
      ),
    ],
    foundBy: "5.12 a fork within a thread: branches share their past and nothing else",
  },
  {
    name: "an empty parent id means no parent",
    edits: [inStore("parent-of", swap("parentId === null", "!parentId"), VALUE)],
    foundBy: NEWEST_FIRST,
  },
  {
    name: "the latest checkpoint is the one with the greatest timestamp",
    edits: [
      inStore(
        "latest",
        swap(
          "this.loadById(threadId, id)",
          "this.list(threadId, { namespace }).reduce((a, b) => (a.timestamp >= b.timestamp ? a : b))",
        ),
      ),
    ],
    foundBy: NEWEST_FIRST,
  },
  {
    name: "the head is read from the root namespace",
    edits: [inStore("head-of-namespace", swap("(namespace)", `("")`))],
    foundBy: "namespaces have heads",
  },
  {
    name: "a checkpoint of a newer schema version is read",
    edits: [inStore("version-check", swap(" || schemaVersion > CHECKPOINT_SCHEMA_VERSION", ""), "test")],
    foundBy: VERSIONS,
  },
  {
    name: "a schema version that is not an integer is accepted",
    edits: [inStore("version-check", "schemaVersion < 0", "test")],
    foundBy: VERSIONS,
  },
  {
    name: "a checkpoint of schema version 0 is refused",
    edits: [inStore("version-check", swap("schemaVersion < 0", "schemaVersion < 1"), "test")],
    foundBy: VERSIONS,
  },
  {
    name: "the error for a refused schema version does not name the checkpoint",
    edits: [inStore("version-problem", swap("checkpoint ${id} has", "a checkpoint has"))],
    foundBy: VERSIONS,
  },
  {
    name: "versions of channels are lost",
    edits: [inDisk("read-version", "")],
    foundBy: CHECKPOINT,
  },
  {
    name: "values of channels are in an object with a prototype",
    edits: [inDisk("read-values", "{}", VALUE)],
    foundBy: VALUES,
  },
  {
    name: "a stored `__proto__` becomes a prototype",
    edits: [
      revived(
        `value && typeof value === "object" && !Array.isArray(value)
          ? Object.entries(value).reduce((cells, item) => ((cells[item[0]] = item[1]), cells), {})
          : value`,
      ),
    ],
    foundBy: "5.11 loading returns plain data: a stored `__proto__` is an ordinary key",
  },
  {
    name: "null is read as no value",
    edits: [inDisk("read-value", `kind !== "none" && text !== "null"`, "test")],
    foundBy: VALUES,
  },
  {
    name: "numbers lose their last digits",
    edits: [revived(`typeof value === "number" ? Math.fround(value) : value`)],
    foundBy: VALUES,
  },
  {
    name: "text is normalized",
    edits: [inDisk("read-value", swap("JSON.parse(text)", `JSON.parse(text.normalize("NFC"))`))],
    foundBy: VALUES,
  },
  {
    name: "lone surrogates in text are replaced",
    edits: [revived(String.raw`typeof value === "string" ? value.replace(/\p{Surrogate}/gu, "\ufffd") : value`)],
    foundBy: VALUES,
  },
  {
    name: "text ends at NUL",
    edits: [revived(String.raw`typeof value === "string" ? value.split("\0")[0] : value`)],
    foundBy: VALUES,
  },
  {
    name: "an empty list is read as null",
    edits: [inDisk("cell-text", (code) => `kind === "list" && texts.length === 0 ? "null" : ${code}`, VALUE)],
    foundBy: VALUES,
  },
  {
    name: "an optional field of the header is lost",
    edits: [inStore("stored-header", swap("...header,", "...header, finished: undefined,"))],
    foundBy: CHECKPOINT,
  },
];
