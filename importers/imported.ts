/** What an importer makes of a file of another system, and what the importers share. */
import { PRINT_WIDTH } from "../grammar/format/print-file.ts";

/** A file of another system in the language. */
export interface Imported {
  /** `.ngraph` text that is formatted and has no syntax error. */
  readonly text: string;
  /** The functions that the text imports, as stubs in TypeScript; absent if it imports none. */
  readonly stubs?: string;
  /** What the language cannot say, or says in another way: a sentence each, with the place in the source in front. */
  readonly changes: readonly string[];
}

/** A source that cannot be imported. `at` is the place in it: `$.edges[3].to`. */
export class ImportError extends Error {
  readonly at: string;
  readonly help: string | undefined;

  constructor(at: string, message: string, help?: string) {
    super(message);
    this.at = at;
    this.help = help;
  }
}

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** A value of a source with its place, for messages about what it has to be. */
export class Source {
  readonly value: JsonValue | undefined;
  readonly at: string;

  constructor(value: JsonValue | undefined, at = "$") {
    this.value = value;
    this.at = at;
  }

  get isPresent(): boolean {
    return this.value !== undefined;
  }

  field(name: string): Source {
    const { value } = this;
    const own = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return new Source(own, /^[A-Za-z_]\w*$/.test(name) ? `${this.at}.${name}` : `${this.at}[${JSON.stringify(name)}]`);
  }

  /** @throws ImportError */
  text(): string {
    if (typeof this.value === "string" && this.value !== "") return this.value;
    throw this.wrong("a text");
  }

  optionalText(): string | undefined {
    return this.value === undefined || this.value === null ? undefined : this.text();
  }

  /** @throws ImportError */
  items(): readonly Source[] {
    if (this.value === undefined || this.value === null) return [];
    if (!Array.isArray(this.value)) throw this.wrong("a list");
    return (this.value as readonly JsonValue[]).map((item, index) => new Source(item, `${this.at}[${index}]`));
  }

  /** The fields, without annotations. @throws ImportError */
  entries(): readonly (readonly [string, Source])[] {
    if (this.value === undefined || this.value === null) return [];
    if (!isObject(this.value)) throw this.wrong("an object");
    return Object.keys(this.value).map((name) => [name, this.field(name)] as const);
  }

  /** A text, or a list of texts. @throws ImportError */
  texts(): readonly string[] {
    return typeof this.value === "string" ? [this.text()] : this.items().map((item) => item.text());
  }

  wrong(expected: string): ImportError {
    if (this.value === undefined) return new ImportError(this.at, `${expected} is missing`);
    return new ImportError(this.at, `expected ${expected}, found ${shortJson(this.value)}`);
  }
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON of at most 60 characters. */
export function shortJson(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

const RESERVED: ReadonlySet<string> = new Set(
  "true false null match else in when otherwise start end finally rollback error outcome set each all any settled".split(
    " ",
  ),
);

/** Names of the language for names of a source. Each name is given once. */
export class Names {
  readonly #taken: Set<string>;
  readonly #known = new Map<string, string>();

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** The name for a name of the source, the same each time. Kinds keep equal names of a source apart. */
  of(kind: string, source: string): string {
    const key = `${kind} ${source}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // A graph often has the name of one of its nodes.
    const isTaken = kind === "graph" && this.#taken.has(plainName(identifier(source)));
    const name = this.fresh(isTaken ? `${source}_graph` : source);
    this.#known.set(key, name);
    return name;
  }

  /** A new name that resembles the given one. */
  fresh(wish: string): string {
    const base = identifier(wish);
    let name = base;
    // Names that differ in case or underscores only are confusing, and cause a warning.
    for (let count = 2; this.#taken.has(plainName(name)); count++) name = `${base}_${count}`;
    this.#taken.add(plainName(name));
    return name;
  }
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll("_", "");
}

/** An identifier made of a name: other characters become `_`. */
function identifier(text: string): string {
  const ascii = text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "");
  const joined = ascii.replace(/[^A-Za-z0-9_]+/g, "_");
  // Underscores at the edges that the source does not have.
  const plain = joined === text ? text : joined.replace(/^_+|_+$/g, "");
  const name = plain === "" || /^_*$/.test(plain) ? "node" : /^\d/.test(plain) ? `n${plain}` : plain;
  return RESERVED.has(name) ? `${name}_` : name;
}

/** A JSON value as an expression. @throws ImportError for a value that nests too deeply */
export function literal(source: Source, depth = 0): string {
  const { value } = source;
  if (depth > 40) throw new ImportError(source.at, "the value nests more than 40 levels deep");
  if (value === undefined) return "null";
  if (Array.isArray(value))
    return `[${source
      .items()
      .map((item) => literal(item, depth + 1))
      .join(", ")}]`;
  if (isObject(value)) {
    const fields = source.entries().map(([name, field]) => `${recordKey(name)}: ${literal(field, depth + 1)}`);
    return fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`;
  }
  if (typeof value === "number" && !Number.isInteger(value)) return number(value);
  if (typeof value === "number" && !Number.isSafeInteger(value)) return JSON.stringify(String(value));
  return JSON.stringify(value);
}

/** Decimal notation: the language has no other. */
function number(value: number): string {
  const text = String(value);
  return /e/.test(text) ? value.toFixed(20).replace(/0+$/, "").replace(/\.$/, ".0") : text;
}

/** A text in quotes. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The name of a field in a record and in a type. */
export function recordKey(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name);
}

/** A comment of whole lines, broken at words. */
export function comment(text: string, mark = "//", indent = ""): string {
  const width = PRINT_WIDTH - indent.length - mark.length - 1;
  const lines = text.split(/\r\n?|\n|[\u2028\u2029]/).flatMap((line) => {
    const broken: string[] = [""];
    for (const word of printableText(line).split(" ")) {
      const last = broken.length - 1;
      const longer = broken[last] === "" ? word : `${broken[last]} ${word}`;
      if (longer.length <= width || broken[last] === "") broken[last] = longer;
      else broken.push(word);
    }
    return broken;
  });
  return lines.map((line) => `${indent}${mark} ${line}`.trimEnd()).join("\n");
}

/** Without control characters, which would hide a part of a comment. */
function printableText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters to remove
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, " ");
}

/** A duration in the largest unit that has a whole number. */
export function duration(milliseconds: number): string {
  for (const [unit, size] of [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["m", 60_000],
    ["s", 1_000],
  ] as const) {
    if (milliseconds >= size && milliseconds % size === 0) return `${milliseconds / size}${unit}`;
  }
  return `${Math.max(1, Math.round(milliseconds))}ms`;
}

/** The changes of an import: each is a comment in the text and a sentence of the report. */
export class Changes {
  readonly list: string[] = [];

  /** Records a change and returns its comment. */
  add(at: string, message: string): string {
    this.list.push(`${at}: ${message}`);
    return message;
  }
}
