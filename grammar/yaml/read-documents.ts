/**
 * Reads YAML text into checked documents. Later stages rely on these checks: size, depth, syntax errors, tags,
 * duplicate keys, aliases.
 */
import { Composer, isAlias, isMap, isPair, isScalar, isSeq, type Document } from "yaml";
import { fileTooLarge, forbiddenCharacter, tooDeep, tooManyDeclarations } from "../../diagnostics/catalog/syntax.ts";
import {
  aliasBound,
  duplicateKey,
  mergeKey,
  wrongYamlShape,
  wrongYamlType,
  yamlSyntax,
} from "../../diagnostics/catalog/yaml.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import { shorten } from "../lexer/read-tokens.ts";
import { fileSize, LARGEST_FILE, MOST_DECLARATIONS } from "../limits.ts";
import { newReading, report, type Reading } from "../reading.ts";
import { readInParts, type EntryMemory } from "./entry-memory.ts";
import { tokensOf } from "./nesting.ts";
import { readSimple } from "./read-simple.ts";
import { syntaxHelp } from "./syntax-help.ts";
import {
  describeNode,
  entrySpan,
  type YamlEntry,
  type YamlList,
  type YamlMap,
  type YamlNode,
  type YamlScalar,
} from "./yaml-tree.ts";

/** The most levels of nested lists and maps. */
const DEEPEST_NESTING = 64;
/** The most values that all aliases of a file together may expand into. */
const MOST_ALIASED = 10_000;
/** The most syntax errors that are reported for one document. */
const MOST_SYNTAX_ERRORS = 10;

export interface YamlDocument {
  readonly span: Span;
  /** Absent where the document is empty. */
  readonly root: YamlNode | undefined;
  /** Syntax errors were reported: the content is unreliable. */
  readonly isBroken: boolean;
}

/**
 * The documents of a stream. Never throws.
 *
 * @param memory of an earlier text of the file: what has not changed is not read again
 */
export function readDocuments(reading: Reading, memory?: EntryMemory): YamlDocument[] {
  const { text } = reading;
  const bytes = fileSize(text);
  if (bytes > LARGEST_FILE) {
    report(reading, fileTooLarge(placeOf(reading, { start: 0, end: 0 }), bytes, LARGEST_FILE));
    return [];
  }
  checkCharacters(reading);
  const alone = (part: string): YamlMap | YamlList | undefined => readAlone(part, reading.source);
  const known = memory === undefined ? readInParts(text, alone) : memory.read(text, alone);
  if (known !== undefined && known.length <= MOST_DECLARATIONS)
    return known.map(({ root, start, end }) => ({ root, isBroken: false, span: { start, end } }));
  return readWhole(reading, DEEPEST_NESTING, { aliased: 0 });
}

/** Whether a part of a text is a map or a list of one entry, and has no problem. */
export function isEntry(text: string, source: SourceFile): boolean {
  const read = readAlone(text, source);
  return read !== undefined && (read.kind === "map" ? read.entries : read.items).length === 1;
}

/** A part of a text that is a map or a list and has no problem. It may stand below a key of the text. */
function readAlone(text: string, source: SourceFile): YamlMap | YamlList | undefined {
  const simple = readSimple(text);
  if (simple !== undefined) return simple;
  const reading = newReading(source, text);
  const budget = { aliased: 0 };
  const documents = readWhole(reading, DEEPEST_NESTING - 1, budget);
  if (documents.length !== 1 || reading.diagnostics.length > 0 || budget.aliased > 0) return undefined;
  const root = documents[0]?.root;
  return root?.kind === "map" || root?.kind === "list" ? root : undefined;
}

function readWhole(reading: Reading, deepest: number, budget: { aliased: number }): YamlDocument[] {
  const { text } = reading;
  const tokens = tokensOf(text, deepest);
  if (typeof tokens === "number") {
    report(reading, tooDeep(placeOf(reading, { start: tokens, end: tokens + 1 }), "nesting", deepest));
    return [];
  }
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    merge: false,
    // Graphs have no data of `!!binary` and similar types.
    resolveKnownTags: false,
    // The library's check is quadratic. `TreeReader` finds duplicate keys.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  const documents: YamlDocument[] = [];
  for (const document of composer.compose(tokens, false, text.length)) {
    if (documents.length >= MOST_DECLARATIONS) {
      report(reading, tooManyDeclarations(placeOf(reading, startOf(document)), MOST_DECLARATIONS));
      return [];
    }
    documents.push(readDocument(reading, document, budget));
  }
  return documents;
}

function startOf({ range: [start] }: Document.Parsed): Span {
  return { start, end: start };
}

function placeOf(reading: Reading, span: Span) {
  return { file: reading.source, span };
}

const FORBIDDEN =
  // eslint-disable-next-line no-control-regex -- the pattern looks for control characters
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u0084\u0086-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const MOST_FORBIDDEN = 10;

/** Characters that make a text look different from its content: allowed as escapes in strings only. */
function checkCharacters(reading: Reading): void {
  let count = 0;
  for (const found of reading.text.matchAll(FORBIDDEN)) {
    const code = found[0].charCodeAt(0);
    const hex = code.toString(16).toUpperCase().padStart(4, "0");
    report(
      reading,
      forbiddenCharacter(placeOf(reading, { start: found.index, end: found.index + 1 }), {
        character: `${code < 0xa0 ? "a control character" : "a bidirectional control character or line separator"} (U+${hex})`,
        why: "is not allowed in YAML as it is",
        help: `in a string in double quotes it can be written \`\\u${hex.toLowerCase()}\``,
      }),
    );
    count += 1;
    if (count >= MOST_FORBIDDEN) return;
  }
}

function readDocument(reading: Reading, document: Document.Parsed, budget: { aliased: number }): YamlDocument {
  const [start, , end] = document.range;
  const span = { start: Math.min(start, reading.text.length), end: Math.min(end, reading.text.length) };
  const isBroken = reportSyntax(reading, document, span);
  const root = document.contents === null ? undefined : new TreeReader(reading, budget).read(document.contents);
  const isEmpty = root?.kind === "scalar" && root.value === null;
  return { span, root: isEmpty ? undefined : root, isBroken };
}

/** Returns whether errors make the content of the document unreliable. */
function reportSyntax(reading: Reading, document: Document.Parsed, span: Span): boolean {
  let isBroken = false;
  let count = 0;
  for (const error of [...document.errors, ...document.warnings]) {
    const [start, end] = error.pos;
    const clamped = Math.min(start, reading.text.length);
    const place = placeOf(reading, { start: clamped, end: Math.min(Math.max(end, clamped), reading.text.length) });
    if (error.code === "TAG_RESOLVE_FAILED") {
      const written = /^![^\s,[\]{}]*/.exec(reading.text.slice(clamped))?.[0] ?? "";
      report(reading, unknownTag({ ...place, span: { start: clamped, end: clamped + written.length } }, written));
      isBroken = true;
      continue;
    }
    if (error.code === "BAD_DIRECTIVE") {
      const from = reading.text.lastIndexOf("%", clamped);
      const directive = directiveAt(reading.text, from);
      report(
        reading,
        yamlSyntax(placeOf(reading, { start: from, end: from + directive.length }), {
          message: `unsupported directive \`${shorten(directive)}\``,
          help: "delete the line: the text is read as YAML 1.2",
        }),
      );
      isBroken = true;
      continue;
    }
    if (error.name === "YAMLWarning") continue;
    isBroken = true;
    // Follows from the first error: the text after the unreadable part is unexpected too.
    if (error.code === "UNEXPECTED_TOKEN" && count > 0) continue;
    count += 1;
    if (count <= MOST_SYNTAX_ERRORS) report(reading, yamlSyntax(place, syntaxHelp(error, reading.text)));
  }
  const version = document.directives.yaml;
  if (version.explicit === true && version.version !== "1.2") {
    const from = reading.text.lastIndexOf("%YAML", span.start);
    report(
      reading,
      yamlSyntax(placeOf(reading, { start: from, end: from + directiveAt(reading.text, from).length }), {
        message: `this document needs YAML ${version.version}`,
        help: "delete the `%YAML` line: the text is read as YAML 1.2",
      }),
    );
    isBroken = true;
  }
  return isBroken;
}

/** A directive up to the end of its line. */
function directiveAt(text: string, from: number): string {
  return /^[^\r\n]*/.exec(text.slice(from))?.[0].trimEnd() ?? "";
}

function unknownTag(place: ReturnType<typeof placeOf>, written: string) {
  return wrongYamlShape(place, {
    message: `the tag \`${written}\` has no meaning here`,
    label: "unknown tag",
    help: /^![A-Za-z_(]/.test(written)
      ? `to YAML this is a tag; an expression that begins with \`!\` goes in quotes: \`"${written}"\``
      : "values are plain YAML; delete the tag",
  });
}

const KNOWN_TAGS = new Set(
  ["str", "int", "float", "bool", "null", "map", "seq"].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Facts about a node that has been read. */
interface Measure {
  /** The number of values in it, itself included, with aliases expanded. */
  readonly size: number;
  readonly depth: number;
}

/** Converts the nodes of one document, and keeps its anchors. */
class TreeReader {
  readonly #reading: Reading;
  readonly #budget: { aliased: number };
  readonly #anchors = new Map<string, { node: YamlNode | undefined }>();
  readonly #measures = new Map<YamlNode, Measure>();

  constructor(reading: Reading, budget: { aliased: number }) {
    this.#reading = reading;
    this.#budget = budget;
  }

  read(node: unknown, level = 1): YamlNode {
    if (isAlias(node)) return this.#alias(node.source, this.#span(node), level);
    const anchor = (node as { anchor?: string }).anchor;
    const entry = { node: undefined as YamlNode | undefined };
    if (anchor !== undefined) this.#anchors.set(anchor, entry);
    const read = this.#checkTag(node) ? this.#readNode(node, level) : this.#broken(this.#span(node));
    entry.node = read;
    return read;
  }

  #readNode(node: unknown, level: number): YamlNode {
    const span = this.#span(node);
    if (isMap(node)) return this.#map(node.items, span, level, node.flow === true);
    if (isSeq(node)) {
      const items = node.items.map((item) =>
        // `[a: b]` is a list of a map with one key.
        isPair(item) ? this.#map([item], this.#pairSpan(item), level + 1, true) : this.read(item, level + 1),
      );
      const trimmed = node.flow === true ? span : endingWith(span, items[items.length - 1]?.span);
      return this.#measure({ kind: "list", span: trimmed, items }, items);
    }
    if (!isScalar(node)) return this.#broken(span);
    return this.#measure(this.#scalar(node, span), []);
  }

  #scalar(node: { value: unknown; type?: string; source?: string }, span: Span): YamlNode {
    const { value } = node;
    const style = STYLES[node.type ?? "PLAIN"] ?? "plain";
    const written = style === "plain" ? this.#reading.text.slice(span.start, span.end) : "";
    if (typeof value === "number" && !Number.isFinite(value)) {
      report(
        this.#reading,
        wrongYamlType(this.#place(span), { expected: "a finite number", found: `\`${written}\``, key: undefined }),
      );
      return this.#broken(span);
    }
    if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      return { kind: "scalar", span, value, style, written };
    }
    return { kind: "scalar", span, value: String(value), style, written };
  }

  #map(pairs: readonly { key: unknown; value: unknown }[], span: Span, level: number, isFlow: boolean): YamlNode {
    const entries: YamlEntry[] = [];
    const firsts = new Map<string, YamlScalar>();
    for (const pair of pairs) {
      const entry = this.#entry(pair, level);
      if (entry === undefined) continue;
      const first = firsts.get(entry.key);
      if (first !== undefined) {
        report(this.#reading, duplicateKey(this.#place(entry.keyNode.span), entry.key, this.#place(first.span)));
        continue;
      }
      firsts.set(entry.key, entry.keyNode);
      entries.push(entry);
    }
    const last = entries[entries.length - 1];
    const trimmed = isFlow || last === undefined ? span : endingWith(span, entrySpan(last));
    const map: YamlMap = { kind: "map", span: trimmed, entries };
    return this.#measure(
      map,
      entries.map(({ value }) => value),
    );
  }

  #entry(pair: { key: unknown; value: unknown }, level: number): YamlEntry | undefined {
    const keyNode = this.read(pair.key, level + 1);
    const value =
      pair.value === null || pair.value === undefined
        ? this.#missing(keyNode.span.end)
        : this.read(pair.value, level + 1);
    if (keyNode.kind === "broken") return undefined;
    if (keyNode.kind !== "scalar") {
      const found = describeNode(keyNode);
      report(this.#reading, wrongYamlType(this.#place(keyNode.span), { expected: "a name as key", found }));
      return undefined;
    }
    if (keyNode.value === "<<" && keyNode.style === "plain") {
      report(this.#reading, mergeKey(this.#place(keyNode.span)));
      return undefined;
    }
    const key = typeof keyNode.value === "string" ? keyNode.value : keyNode.written || String(keyNode.value ?? "");
    return { key, keyNode, value };
  }

  #alias(name: string, span: Span, level: number): YamlNode {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      const known = [...this.#anchors.keys()].slice(0, 8).map((anchor) => `\`&${anchor}\``);
      const help =
        known.length === 0 ? "nothing is anchored before this line" : `anchored before it: ${known.join(", ")}`;
      report(this.#reading, yamlSyntax(this.#place(span), { message: `there is no anchor \`&${name}\``, help }));
      return this.#broken(span);
    }
    if (target.node === undefined) {
      report(this.#reading, aliasBound(this.#place(span), { problem: "cycle", name }));
      return this.#broken(span);
    }
    const { size, depth } = this.#measures.get(target.node) ?? { size: 1, depth: 1 };
    if (level + depth - 1 > DEEPEST_NESTING) {
      report(this.#reading, aliasBound(this.#place(span), { problem: "depth", limit: DEEPEST_NESTING }));
      return this.#broken(span);
    }
    const before = this.#budget.aliased;
    this.#budget.aliased += size;
    if (this.#budget.aliased > MOST_ALIASED) {
      if (before <= MOST_ALIASED) {
        report(this.#reading, aliasBound(this.#place(span), { problem: "size", limit: MOST_ALIASED }));
      }
      return this.#broken(span);
    }
    return target.node;
  }

  #checkTag(node: unknown): boolean {
    const { tag } = node as { tag?: string };
    // `reportSyntax` has reported tags that are not resolved.
    return tag === undefined || tag === "!" || KNOWN_TAGS.has(tag);
  }

  #measure(node: YamlNode, children: readonly YamlNode[]): YamlNode {
    let size = 1;
    let depth = 0;
    for (const child of children) {
      const measure = this.#measures.get(child);
      size += measure?.size ?? 1;
      depth = Math.max(depth, measure?.depth ?? 1);
    }
    this.#measures.set(node, { size, depth: depth + 1 });
    return node;
  }

  #missing(at: number): YamlScalar {
    return { kind: "scalar", span: { start: at, end: at }, value: null, style: "plain", written: "" };
  }

  #broken(span: Span): YamlNode {
    return { kind: "broken", span };
  }

  #place(span: Span) {
    return placeOf(this.#reading, span);
  }

  #span(node: unknown): Span {
    const range = (node as { range?: readonly [number, number, number] | null } | null)?.range;
    const length = this.#reading.text.length;
    const start = Math.min(range?.[0] ?? 0, length);
    return { start, end: Math.max(start, Math.min(range?.[1] ?? start, length)) };
  }

  #pairSpan(pair: { key: unknown; value: unknown }): Span {
    const key = this.#span(pair.key);
    const value = pair.value === null || pair.value === undefined ? key : this.#span(pair.value);
    return { start: key.start, end: Math.max(key.end, value.end) };
  }
}

/** The end of a block collection: after its last value, not at the start of the next line. */
function endingWith(span: Span, last: Span | undefined): Span {
  return last === undefined || last.end < span.start ? span : { start: span.start, end: last.end };
}

const STYLES: Readonly<Record<string, YamlScalar["style"]>> = {
  PLAIN: "plain",
  QUOTE_SINGLE: "single",
  QUOTE_DOUBLE: "double",
  BLOCK_LITERAL: "block",
  BLOCK_FOLDED: "block",
};
