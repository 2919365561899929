/**
 * Reads a YAML text entry by entry, and after an edit: entries of block maps and block lists that stand in it as before are not read again.
 * The lines of an entry are those up to the next line with its indentation that begins an entry. A quoted text or a collection in flow style that goes on
 * there makes an entry that cannot be read by itself, and then the text is read as a whole, as every text with a problem is.
 */
import { readSimple } from "./read-simple.ts";
import { entrySpan, type YamlEntry, type YamlList, type YamlMap, type YamlNode } from "./yaml-tree.ts";

/** Reads a text that is one map or one list, without problems and aliases; `undefined` for every other text. */
export type ReadAlone = (text: string) => YamlMap | YamlList | undefined;

/** The map of a document, and where the document is. */
export interface ReadMap {
  readonly root: YamlMap;
  readonly start: number;
  readonly end: number;
}

/** What an earlier text of a file has. Keeps the entries of the last text that was read. */
export class EntryMemory {
  /** Maps and lists of one entry, by their text; spans are offsets of that text. */
  #known = new Map<string, YamlMap | YamlList>();
  #next = new Map<string, YamlMap | YamlList>();

  /** The documents of a text; `undefined` if it must be read as a whole. */
  read(text: string, readAlone: ReadAlone): readonly ReadMap[] | undefined {
    const documents = readDocuments(text, (part) => {
      const own = text.slice(part.start, part.end);
      const known = this.#known.get(own) ?? this.#next.get(own) ?? readAlone(own);
      if (known === undefined || sizeOf(known) !== 1) return undefined;
      this.#next.set(own, known);
      return moved(known, part.start);
    });
    this.#known = this.#next;
    this.#next = new Map();
    return documents;
  }
}

/** The documents of a text that is read once, entry by entry; `undefined` if it must be read as a whole. */
export function readInParts(text: string, readAlone: ReadAlone): readonly ReadMap[] | undefined {
  return readDocuments(text, (part) => {
    const simple = readSimple(text, part);
    const read = simple ?? readAlone(text.slice(part.start, part.end));
    if (read === undefined || sizeOf(read) !== 1) return undefined;
    return simple ?? moved(read, part.start);
  });
}

/** Lines of a text, as offsets. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

/** Reads a part that is a map or list of one entry. */
type ReadPart = (part: Part) => YamlMap | YamlList | undefined;

function readDocuments(text: string, read: ReadPart): readonly ReadMap[] | undefined {
  if (END_MARK.test(text)) return undefined;
  const documents: ReadMap[] = [];
  for (const document of documentsOf(text)) {
    const root = readDocument(text, document, read);
    if (root === undefined) return undefined;
    documents.push({ ...document, root });
  }
  return documents.at(-1)?.end === text.length ? documents : undefined;
}

/** The mark of a document's end. */
const END_MARK = /^\.\.\.(?=[ \t\r\n]|$)/m;

/** Documents from their marker on. A directive makes no document that can be read in parts. */
export function documentsOf(text: string): readonly Part[] {
  const starts = [...text.matchAll(/^---(?=[ \r\n]|$)/gm)].map(({ index }) => index);
  if (starts[0] === undefined || !isBlank(text.slice(0, starts[0]))) starts.unshift(0);
  return starts.map((start, at) => ({ start, end: starts[at + 1] ?? text.length }));
}

/** Only comments and empty lines. */
function isBlank(text: string): boolean {
  return /^(?:[ ]*(?:#[^\n]*)?\r?\n)*$/.test(text);
}

function readDocument(text: string, { start, end }: Part, read: ReadPart): YamlMap | undefined {
  const marker = /^---[ ]*(?:#[^\n]*)?\r?\n/.exec(text.slice(start, Math.min(end, start + LONGEST_LINE)))?.[0] ?? "";
  const maps: YamlMap[] = [];
  for (const part of partsOf(text, { start: start + marker.length, end }, 0, KEY)) {
    const inner = innerParts(text, part);
    const map = inner === undefined ? read(part) : readBelow(part, inner, read);
    if (map?.kind !== "map") return undefined;
    maps.push(map);
  }
  return joinMaps(maps);
}

/** The entry of a key, with a map or list that is read entry by entry. */
function readBelow({ start }: Part, { parts, isList }: InnerParts, read: ReadPart): YamlMap | undefined {
  const key = read({ start, end: parts[0]!.start });
  if (key?.kind !== "map") return undefined;
  const values: (YamlMap | YamlList)[] = [];
  for (const part of parts) {
    const value = read(part);
    if (value === undefined) return undefined;
    values.push(value);
  }
  const value = isList
    ? joinLists(values.filter((each) => each.kind === "list"))
    : joinMaps(values.filter((each) => each.kind === "map"));
  if (value === undefined || sizeOf(value) !== parts.length) return undefined;
  const entries = key.entries.map((entry) => ({ ...entry, value }));
  return { kind: "map", span: { start: key.span.start, end: value.span.end }, entries };
}

interface InnerParts {
  readonly parts: readonly Part[];
  readonly isList: boolean;
}

/** The entries of the block collection below a key; `undefined` if there are not several, or something else is there. */
export function innerParts(text: string, { start, end }: Part): InnerParts | undefined {
  const header = HEADER.exec(text.slice(start, Math.min(end, start + LONGEST_LINE)))?.[0];
  if (header === undefined) return undefined;
  const below = { start: start + header.length, end };
  const [, indent, dash] = FIRST_LINE.exec(text.slice(below.start, end)) ?? [];
  if (indent === undefined || (indent === "" && dash === undefined)) return undefined;
  const isList = dash !== undefined;
  const parts = partsOf(text, below, indent.length, isList ? DASH : KEY);
  return parts.length < 2 ? undefined : { parts, isList };
}

/** A key on a line of its own. */
const HEADER = /^(?:[A-Za-z_][\w ]*|"[^"\\\n]*"|'[^'\n]*'):[ ]*(?:#[^\n]*)?\r?\n/;
/** Longer lines are read with what follows them. */
const LONGEST_LINE = 500;

/** After comments and empty lines, the indentation of a line that begins an entry, and its dash. */
const FIRST_LINE = /^(?:[ ]*(?:#[^\n]*)?\r?\n)*([ ]*)(?:(-)(?=[ \r\n])|[A-Za-z_"'])/;

/** What begins an entry behind its indentation. */
export const KEY = /(?:[A-Za-z_][\w ]*|"[^"\\\n]*"|'[^'\n]*'):(?=[ \r\n]|$)/y;
const DASH = /-(?=[ \r\n]|$)/y;

/** Where the entries of a collection begin. */
export function startsOf(text: string, { start, end }: Part, indent: number, begins: RegExp): readonly number[] {
  const starts: number[] = [];
  for (let line = start; line < end; line = text.indexOf("\n", line) + 1 || end) {
    let at = line;
    while (text[at] === " ") at++;
    if (at - line !== indent) continue;
    begins.lastIndex = at;
    if (begins.test(text)) starts.push(line);
  }
  return starts;
}

/** The entries of a collection by their first lines; none if something else stands before the first one. */
function partsOf(text: string, part: Part, indent: number, begins: RegExp): readonly Part[] {
  const { start, end } = part;
  const starts = startsOf(text, part, indent, begins);
  const [first] = starts;
  if (first === undefined || !isBlank(text.slice(start, first))) return [];
  // Comments above the first entry belong to the key.
  return starts.map((from, at) => ({ start: from, end: starts[at + 1] ?? end }));
}

/** `undefined` if a key is repeated, which is a problem. */
function joinMaps(maps: readonly YamlMap[]): YamlMap | undefined {
  const entries = maps.flatMap((map) => map.entries);
  const [first, last] = [maps[0], entries.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  if (new Set(entries.map(({ key }) => key)).size < entries.length) return undefined;
  return { kind: "map", span: { start: first.span.start, end: entrySpan(last).end }, entries };
}

function joinLists(lists: readonly YamlList[]): YamlList | undefined {
  const items = lists.flatMap((list) => list.items);
  const [first, last] = [lists[0], items.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return { kind: "list", span: { start: first.span.start, end: Math.max(first.span.start, last.span.end) }, items };
}

function sizeOf(node: YamlMap | YamlList): number {
  return node.kind === "map" ? node.entries.length : node.items.length;
}

function moved<T extends YamlNode>(node: T, by: number): T {
  return by === 0 ? node : (movedNode(node, by) as T);
}

function movedNode(node: YamlNode, by: number): YamlNode {
  const span = { start: node.span.start + by, end: node.span.end + by };
  switch (node.kind) {
    case "map": {
      const entries = node.entries.map(({ key, keyNode, value }): YamlEntry => ({
        key,
        keyNode: movedNode(keyNode, by) as YamlEntry["keyNode"],
        value: movedNode(value, by),
      }));
      return { kind: "map", span, entries };
    }
    case "list":
      return { kind: "list", span, items: node.items.map((item) => movedNode(item, by)) };
    case "scalar":
      return { kind: "scalar", span, value: node.value, style: node.style, written: node.written };
    case "broken":
      return { kind: "broken", span };
  }
}
