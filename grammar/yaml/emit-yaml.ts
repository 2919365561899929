/**
 * Writes YAML text. The emitter of the `yaml` package does not fit:
 * - It does not escape invisible and reordering characters such as U+202E. The reader accepts them only as escapes.
 * - It breaks a long flow collection inside its brackets. This emitter writes a block collection instead, so it needs
 *   the width before it chooses the style.
 * - It has one padding option for both `{ a: 1 }` and `[ a ]`. This emitter writes lists without padding.
 * - It takes several times as long: 40 µs for a node of a graph, measured with 20,000 nodes.
 */

export type YamlValue = string | number | boolean | null | RawScalar | YamlValueList | YamlValueMap | CommentedValue;
/** A number in its original spelling. */
export interface RawScalar {
  readonly kind: "raw";
  readonly text: string;
}
export interface YamlValueList {
  readonly kind: "list";
  readonly items: readonly YamlValue[];
  /** Always one item per line, even if all items fit on one line. */
  readonly isBlock?: boolean;
}
export interface YamlValueMap {
  readonly kind: "map";
  readonly entries: readonly (readonly [key: string, value: YamlValue])[];
  readonly isBlock?: boolean;
}

/** A value with comments above its key or dash, and one after it. Its lists and maps are written in block style. */
export interface CommentedValue {
  readonly kind: "commented";
  readonly value: YamlValue;
  readonly before: readonly string[];
  readonly behind: string | undefined;
}

export function yamlList(items: readonly YamlValue[], isBlock = false): YamlValueList {
  return { kind: "list", items, isBlock };
}

export function yamlMap(entries: readonly (readonly [string, YamlValue])[], isBlock = false): YamlValueMap {
  return { kind: "map", entries, isBlock };
}

/** The columns of a line; a longer collection is written in block style. */
const WIDTH = 120;

/** The text of a document that is a map in block style, followed by the comments `after`. */
export function emitDocument(map: YamlValueMap, after: readonly string[] = []): string {
  return [...emitEntries(map, 0), ...after.map((line) => emitComment(line))].map((line) => `${line}\n`).join("");
}

/** A line of comment. */
export function emitComment(text: string): string {
  return text === "" ? "#" : `# ${text}`;
}

function emitEntries(map: YamlValueMap, indent: number): string[] {
  return map.entries.flatMap(([key, value]) => emitAfter(`${" ".repeat(indent)}${emitKey(key)}:`, value, indent));
}

/** The comment after a value stays after a value of one line, and moves above a longer value. */
function emitCommented(
  { value, before, behind }: CommentedValue,
  indent: number,
  emit: (value: YamlValue) => string[],
): string[] {
  const lines = emit(value);
  const isBehind = behind !== undefined && lines.length === 1;
  const above = behind === undefined || isBehind ? before : [...before, behind];
  const margin = " ".repeat(indent);
  return [
    ...above.map((line) => margin + emitComment(line)),
    ...(isBehind ? [`${lines[0] ?? ""} ${emitComment(behind)}`] : lines),
  ];
}

/** The lines of a value; `head` is its key or dash. */
function emitAfter(head: string, value: YamlValue, indent: number): string[] {
  if (typeof value === "object" && value?.kind === "commented") {
    return emitCommented(value, indent, (inner) => emitAfter(head, inner, indent));
  }
  if (typeof value === "string" && isBlockText(value)) return emitBlockText(head, value, indent);
  const flow = typeof value === "string" ? emitString(value, PLAIN_ALONE) : emitFlow(value);
  const isComposite = typeof value === "object" && value !== null && value.kind !== "raw";
  if (!isComposite || sizeOf(value) === 0) return [`${head} ${flow}`];
  if (!mustBreak(value) && head.length + 1 + flow.length <= WIDTH) return [`${head} ${flow}`];
  if (value.kind === "map") return [head, ...emitEntries(value, indent + 2)];
  return [head, ...value.items.flatMap((item) => emitItem(item, indent + 2))];
}

function emitItem(item: YamlValue, indent: number): string[] {
  if (typeof item === "object" && item?.kind === "commented") {
    return emitCommented(item, indent, (inner) => emitItem(inner, indent));
  }
  const dash = `${" ".repeat(indent)}-`;
  const isMap = typeof item === "object" && item !== null && item.kind === "map" && item.entries.length > 0;
  if (!isMap || (!mustBreak(item) && dash.length + 1 + emitFlow(item).length <= WIDTH))
    return emitAfter(dash, item, indent);
  // The first key follows the dash.
  const [first = "", ...rest] = emitEntries(item, indent + 2);
  return [`${dash} ${first.trimStart()}`, ...rest];
}

function sizeOf(value: YamlValueList | YamlValueMap): number {
  return value.kind === "list" ? value.items.length : value.entries.length;
}

/** Whether the value, or a value inside it, must be written in block style. */
function mustBreak(value: YamlValue): boolean {
  if (typeof value === "string") return isBlockText(value);
  if (typeof value !== "object" || value === null || value.kind === "raw") return false;
  if (value.kind === "commented") return true;
  if (value.isBlock === true && sizeOf(value) > 0) return true;
  return value.kind === "list" ? value.items.some(mustBreak) : value.entries.some(([, each]) => mustBreak(each));
}

/** A value on one line, in flow style. */
export function flowText(value: YamlValue): string {
  return emitFlow(value);
}

/** A string on one line outside of flow collections, with quotes if it needs them. */
export function plainText(text: string): string {
  return emitString(text, PLAIN_ALONE);
}

function emitFlow(value: YamlValue): string {
  if (value === null) return "null";
  if (typeof value === "string") return emitString(value);
  if (typeof value !== "object") return String(value);
  switch (value.kind) {
    case "raw":
      return value.text;
    case "commented":
      return emitFlow(value.value);
    case "list":
      return `[${value.items.map(emitFlow).join(", ")}]`;
    case "map":
      if (value.entries.length === 0) return "{}";
      return `{ ${value.entries.map(([key, each]) => `${emitKey(key)}: ${emitFlow(each)}`).join(", ")} }`;
  }
}

function emitKey(key: string): string {
  return /^[A-Za-z_./][\w ./-]*$/.test(key) && isPlain(key) ? key : emitString(key);
}

// Strings ---------------------------------------------------------------------------------------------

/** Strings that need no quotes, even in a flow collection. */
const PLAIN = /^[\w./(][\w ./()<>=!&|+*?%@~^$-]*$/;
/** Strings that need no quotes outside of a flow collection. */
const PLAIN_ALONE = /^[\w./(][\u0020-\u007e]*$/;
/** Strings that need quotes, because YAML reads the plain scalar as another type or as syntax. */
const NO_STRING = /^(?:true|false|null|~|[-+]?(?:\.?\d|0[xo]).*|[-+]?\.(?:inf|nan)|\.{1,3}|---.*)$/i;

function isPlain(text: string, plain = PLAIN): boolean {
  return plain.test(text) && !NO_STRING.test(text) && !/: | #/.test(text) && !/[\s:-]$/.test(text);
}

/** Durations and ranges of durations. They need no quotes, although they begin with a digit. */
const DIGITS_FIRST = /^\d+(?:\.\d+)?(?:ms|s|m|h|d)(?:\.\.\d+(?:\.\d+)?(?:ms|s|m|h|d))?$/;

/** Invisible and reordering characters. They are always escaped. */
const HIDDEN = /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\uffff]/g;
const VISIBLE_LINES = /^[\n\u0020-\u007e\u00a1-\ud7ff]*$/;

function isVisible(text: string): boolean {
  return VISIBLE_LINES.test(text) && text.search(HIDDEN) === -1;
}

function emitString(text: string, plain = PLAIN): string {
  if (isPlain(text, plain) || DIGITS_FIRST.test(text)) return text;
  // Single quotes need no backslashes.
  if (/["\\]/.test(text) && !text.includes("\n") && isVisible(text)) return `'${text.replaceAll("'", "''")}'`;
  return JSON.stringify(text).replace(
    HIDDEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Whether a text has several lines and a block scalar preserves it exactly. */
function isBlockText(text: string): boolean {
  return (
    text.includes("\n") && isVisible(text) && /^\S/.test(text) && !/ (?:\n|$)/.test(text) && !text.endsWith("\n\n")
  );
}

function emitBlockText(head: string, text: string, indent: number): string[] {
  const header = text.endsWith("\n") ? "|" : "|-";
  const lines = text.replace(/\n$/, "").split("\n");
  const margin = " ".repeat(indent + 2);
  return [`${head} ${header}`, ...lines.map((line) => (line === "" ? "" : margin + line))];
}
