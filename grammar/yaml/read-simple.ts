/**
 * Reads the simplest texts of YAML without the library, which takes twenty times as long for them: block maps and block lists whose
 * values are on one line, or texts in literal style (`|`). It finds no problems: where the library might read another tree or report
 * something, it gives up, and the library reads the text.
 */
import type { Part } from "./entry-memory.ts";
import { entrySpan, type YamlEntry, type YamlList, type YamlMap, type YamlNode, type YamlScalar } from "./yaml-tree.ts";

/**
 * The tree of a part of a text that is one simple map or list; `undefined` for every other part. Spans are offsets of the whole text.
 *
 * @param part whole lines; all of the text where it is absent
 */
export function readSimple(text: string, part: Part = { start: 0, end: text.length }): YamlMap | YamlList | undefined {
  if (!SIMPLE_TEXT.test(text.slice(part.start, part.end))) return undefined;
  const reader = new SimpleReader(text, part);
  const indent = reader.nextLine();
  const root = indent === undefined ? undefined : reader.block(indent);
  return root !== undefined && reader.nextLine() === undefined ? root : undefined;
}

/** No tabs, carriage returns, other control characters and characters beyond the first plane: they have rules of their own. */
const SIMPLE_TEXT = /^[\n\x20-\x7e\xa1-\u1fff\u2010-\u2027\u2030-\u2050\u2070-\ud7ff]*$/;

const MOST_LEVELS = 16;
/** A longer key is an error. */
const LONGEST_KEY = 500;

/** A key, up to its colon: words, or the path of a module. */
const KEY = /(?:(?:\.\.?\/)*[A-Za-z_][\w./-]*(?: \w+)*|"[^"\\\n]*"|'[^'\n]*')(?=:[ \n]|:$)/y;
const QUOTED = /"(?:[^"\\\n]|\\["\\nt])*"|'(?:[^'\n]|'')*'/y;
const ESCAPES: Readonly<Record<string, string>> = { '\\"': '"', "\\\\": "\\", "\\n": "\n", "\\t": "\t" };
/** The first line of a text in literal style. */
const LITERAL = /\|(-?) *(?: #[^\n]*)?\n/y;
/** What begins with a mark of YAML is read by the library. `: ` and ` #` end a plain scalar, so the library reads what contains them. */
const PLAIN = /(?:[A-Za-z_0-9(]|\.{0,2}\/|-(?=\d))[^\n:#]*(?::[^ \n:#][^\n:#]*)*/y;
const PLAIN_IN_FLOW = /(?:[A-Za-z_0-9(]|\.{0,2}\/|-(?=\d))[^\n:#,[\]{}]*/y;

/** May be a number, `true`, `false` or `null` in one of their many spellings. */
const NO_TEXT = /^(?!\d+d$)(?:[-\d.][\d.a-fA-FxoXO_eE+-]*|true|false|null)$/i;
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/;
const DECIMAL = /^-?(?:0|[1-9]\d{0,7})\.\d{1,7}$/;
const WORDS: ReadonlyMap<string, boolean | null> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** A place in the text. Methods return `undefined` where the reader gives up. */
class SimpleReader {
  readonly #text: string;
  readonly #end: number;
  #at: number;
  #level = 0;

  constructor(text: string, { start, end }: Part) {
    this.#text = text;
    this.#at = start;
    this.#end = end;
  }

  /** Goes to the first character of the next line that is neither empty nor a comment; returns its indentation, or `undefined` at the end. */
  nextLine(): number | undefined {
    const text = this.#text;
    for (let line = this.#at; line < this.#end; line = lineEnd(text, line) + 1) {
      let at = line;
      while (text[at] === " ") at++;
      if (at >= this.#end) break;
      if (text[at] === "\n" || text[at] === "#") continue;
      this.#at = at;
      return at - line;
    }
    this.#at = this.#end;
    return undefined;
  }

  /** The map or list whose first entry is here, with its further entries at the same indentation. */
  block(indent: number): YamlMap | YamlList | undefined {
    if (this.#level >= MOST_LEVELS) return undefined;
    this.#level++;
    const read = this.#text.startsWith("- ", this.#at) ? this.#blockList(indent) : this.#blockMap(indent);
    this.#level--;
    return read;
  }

  #blockMap(indent: number): YamlMap | undefined {
    const start = this.#at;
    const entries: YamlEntry[] = [];
    for (let next: number | undefined = indent; next === indent; next = this.#lineAfter(indent)) {
      const keyNode = this.#key();
      if (keyNode === undefined) return undefined;
      const end = this.#at;
      const value = this.#endsLine() ? this.#below(indent, end) : this.#valueOnLine(indent);
      if (value === undefined) return undefined;
      entries.push({ key: keyNode.value, keyNode, value });
    }
    const last = entries.at(-1);
    if (last === undefined || this.#isWrong || hasRepeatedKey(entries)) return undefined;
    return { kind: "map", span: { start, end: entrySpan(last).end }, entries };
  }

  #blockList(indent: number): YamlList | undefined {
    const start = this.#at;
    const items: YamlNode[] = [];
    for (let next: number | undefined = indent; next === indent; next = this.#lineAfter(indent)) {
      if (!this.#text.startsWith("- ", this.#at)) return undefined;
      this.#at += 2;
      const item = this.#keyLength() > 0 ? this.block(indent + 2) : this.#valueOnLine(indent);
      if (item === undefined) return undefined;
      items.push(item);
    }
    const last = items.at(-1);
    return last === undefined || this.#isWrong
      ? undefined
      : { kind: "list", span: { start, end: last.span.end }, items };
  }

  /** The indentation of the line after an entry. One that is deeper continues the value of the entry, which the library reads. */
  #lineAfter(indent: number): number | undefined {
    const begin = this.#at;
    const next = this.nextLine();
    if (next === undefined) return undefined;
    if (next > indent) this.#isWrong = true;
    // The collection around this one looks at the line again.
    if (next < indent) this.#at = begin;
    return next;
  }

  #isWrong = false;

  /** The collection below a key that ends its line; no value where nothing follows. The key, with the blanks behind it, ends at `end`. */
  #below(indent: number, end: number): YamlNode | undefined {
    const below = this.nextLine();
    if (below === undefined)
      return { kind: "scalar", span: { start: end, end }, value: null, style: "plain", written: "" };
    return below <= indent ? undefined : this.block(below);
  }

  #keyLength(): number {
    KEY.lastIndex = this.#at;
    return KEY.test(this.#text) ? KEY.lastIndex - this.#at : 0;
  }

  /** A key, with its colon and the blanks behind it. */
  #key(): (YamlScalar & { readonly value: string }) | undefined {
    const length = this.#keyLength();
    if (length === 0 || length > LONGEST_KEY) return undefined;
    const start = this.#at;
    const span = { start, end: start + length };
    this.#at = span.end + 1;
    this.#skipBlanks();
    const written = this.#text.slice(start, span.end);
    const first = written[0];
    if (first === '"' || first === "'")
      return {
        kind: "scalar",
        span,
        value: written.slice(1, -1),
        style: first === '"' ? "double" : "single",
        written: "",
      };
    return NO_TEXT.test(written) ? undefined : { kind: "scalar", span, value: written, style: "plain", written };
  }

  /** A value that ends its line, or begins with `|` there. It is part of a collection with this indentation. */
  #valueOnLine(indent: number): YamlNode | undefined {
    const first = this.#text[this.#at];
    if (first === "|") return this.#literal(indent);
    const value = first === "{" || first === "[" ? this.#flow() : this.#scalar(PLAIN);
    return value !== undefined && this.#endsLine() ? value : undefined;
  }

  /** Goes behind blanks and a comment; returns whether the line ends there. */
  #endsLine(): boolean {
    const text = this.#text;
    this.#skipBlanks();
    if (text[this.#at] === "#" && text[this.#at - 1] === " ") this.#at = lineEnd(text, this.#at);
    const next = text[this.#at];
    return next === "\n" || next === undefined;
  }

  /** A text in literal style, whose lines are deeper than `indent`. Goes to the line behind it. */
  #literal(indent: number): YamlScalar | undefined {
    const text = this.#text;
    const start = this.#at;
    LITERAL.lastIndex = start;
    const header = LITERAL.exec(text);
    if (header === null) return undefined;
    const lines: string[] = [];
    let depth = 0;
    let end = LITERAL.lastIndex;
    for (let line = end, empty = 0; line < this.#end; line = lineEnd(text, line) + 1) {
      let at = line;
      while (text[at] === " ") at++;
      if (lines.length === 0) depth = at - line;
      const isEmpty = at >= this.#end || text[at] === "\n";
      // Blanks of a line that has nothing else can be part of the text.
      if (isEmpty && (lines.length === 0 || at - line > depth)) return undefined;
      if (isEmpty) {
        empty++;
        continue;
      }
      if (at - line < depth || depth <= indent) break;
      for (; empty > 0; empty--) lines.push("");
      lines.push(text.slice(line + depth, lineEnd(text, line)));
      end = Math.min(lineEnd(text, line) + 1, text.length);
    }
    if (lines.length === 0) return undefined;
    this.#at = end;
    const value = `${lines.join("\n")}${header[1] === "-" ? "" : "\n"}`;
    return { kind: "scalar", span: { start, end }, value, style: "block", written: "" };
  }

  #flow(): YamlMap | YamlList | undefined {
    if (this.#level >= MOST_LEVELS) return undefined;
    this.#level++;
    const read = this.#text[this.#at] === "{" ? this.#flowMap() : this.#flowList();
    this.#level--;
    return read;
  }

  #flowMap(): YamlMap | undefined {
    const start = this.#at;
    const entries: YamlEntry[] = [];
    for (let isOpen = this.#opens("}"); isOpen; isOpen = this.#goesOn()) {
      const keyNode = this.#key();
      const value = keyNode === undefined ? undefined : this.#valueInFlow();
      if (keyNode === undefined || value === undefined) return undefined;
      entries.push({ key: keyNode.value, keyNode, value });
    }
    if (!this.#closes("}") || hasRepeatedKey(entries)) return undefined;
    return { kind: "map", span: { start, end: this.#at }, entries };
  }

  #flowList(): YamlList | undefined {
    const start = this.#at;
    const items: YamlNode[] = [];
    for (let isOpen = this.#opens("]"); isOpen; isOpen = this.#goesOn()) {
      const item = this.#valueInFlow();
      if (item === undefined) return undefined;
      items.push(item);
    }
    return this.#closes("]") ? { kind: "list", span: { start, end: this.#at }, items } : undefined;
  }

  /** Goes behind an opening bracket; returns whether the collection has something. */
  #opens(close: string): boolean {
    this.#at++;
    this.#skipBlanks();
    return this.#text[this.#at] !== close;
  }

  /** Goes behind a comma and the blank that must follow it. */
  #goesOn(): boolean {
    this.#skipBlanks();
    if (!this.#text.startsWith(", ", this.#at)) return false;
    this.#at += 2;
    this.#skipBlanks();
    return true;
  }

  #closes(close: string): boolean {
    if (this.#text[this.#at] !== close) return false;
    this.#at++;
    return true;
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === " ") this.#at++;
  }

  #valueInFlow(): YamlNode | undefined {
    const first = this.#text[this.#at];
    return first === "{" || first === "[" ? this.#flow() : this.#scalar(PLAIN_IN_FLOW);
  }

  #scalar(plain: RegExp): YamlScalar | undefined {
    const text = this.#text;
    const start = this.#at;
    const first = text[start];
    const isQuoted = first === '"' || first === "'";
    const pattern = isQuoted ? QUOTED : plain;
    pattern.lastIndex = start;
    if (!pattern.test(text)) return undefined;
    let end = pattern.lastIndex;
    this.#at = end;
    if (isQuoted) {
      const content = text.slice(start + 1, end - 1);
      const span = { start, end };
      if (first === '"') {
        const value = content.replace(/\\./g, (escape) => ESCAPES[escape] ?? "");
        return { kind: "scalar", span, value, style: "double", written: "" };
      }
      return { kind: "scalar", span, value: content.replaceAll("''", "'"), style: "single", written: "" };
    }
    while (text[end - 1] === " ") end--;
    const written = text.slice(start, end);
    const span = { start, end };
    if (!NO_TEXT.test(written)) return { kind: "scalar", span, value: written, style: "plain", written };
    const value = INTEGER.test(written) || DECIMAL.test(written) ? Number(written) : WORDS.get(written);
    return value === undefined ? undefined : { kind: "scalar", span, value, style: "plain", written };
  }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function hasRepeatedKey(entries: readonly YamlEntry[]): boolean {
  if (entries.length < 2) return false;
  const [first, second] = entries;
  if (entries.length === 2) return first!.key === second!.key;
  return new Set(entries.map(({ key }) => key)).size < entries.length;
}
