/**
 * Forms: descriptions of the values that a place in a YAML file takes. A form is declared once. The reader, the
 * messages about wrong kinds and unknown keys, and the JSON Schema for editors are derived from it.
 */
import { unknownKey, wrongYamlShape, wrongYamlType } from "../../diagnostics/catalog/yaml.ts";
import type { Diagnostic, Place } from "../../diagnostics/diagnostic.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import type { Span } from "../../diagnostics/source.ts";
import type { Identifier } from "../ast.ts";
import { report, type Reading } from "../reading.ts";
import { describeNode, entrySpan, type YamlEntry, type YamlMap, type YamlNode, type YamlScalar } from "./yaml-tree.ts";
import { foreignKeyHelp } from "./foreign-keys.ts";

export type JsonSchema = { readonly [keyword: string]: unknown };

/** Collects named definitions while a schema is written. */
export type Definitions = Map<string, JsonSchema>;

export interface Form<T> {
  /** Completes "expected …": "a list of names". */
  readonly expected: string;
  schema(definitions: Definitions): JsonSchema;
  /** Returns `undefined` after reporting an error if the value cannot be read. */
  read(node: YamlNode, reader: FormReader): T | undefined;
}

/** The context of a reading form: the source text and the current key. */
export interface FormReader {
  readonly reading: Reading;
  readonly key: string | undefined;
}

export function placeIn(reader: FormReader, span: Span): Place {
  return { file: reader.reading.source, span };
}

export function complain(reader: FormReader, diagnostic: Diagnostic): undefined {
  report(reader.reading, diagnostic);
  return undefined;
}

/** NG014 for a value of the wrong kind. */
export function wrongKind(node: YamlNode, reader: FormReader, expected: string, help?: string): undefined {
  if (node.kind === "broken") return undefined;
  const at = node.span.start === node.span.end ? emptyPlace(node.span, reader) : firstLine(node.span, reader);
  const details = { expected, found: describeNode(node), key: reader.key, help };
  return complain(reader, wrongYamlType(placeIn(reader, at), details));
}

/** The span of an empty value, extended by the character before it if that is on the same line. */
function emptyPlace(span: Span, reader: FormReader): Span {
  const before = reader.reading.text[span.start - 1];
  return before === undefined || before === "\n" ? span : { start: span.start - 1, end: span.end };
}

/** The first line of a map or list, which may be long. */
function firstLine(span: Span, reader: FormReader): Span {
  const lineEnd = reader.reading.text.indexOf("\n", span.start);
  return { start: span.start, end: lineEnd === -1 ? span.end : Math.min(span.end, Math.max(lineEnd, span.start + 1)) };
}

/** A form from a function on scalars. */
export function scalarForm<T>(
  expected: string,
  schema: JsonSchema,
  read: (node: YamlScalar, reader: FormReader) => T | undefined,
): Form<T> {
  return {
    expected,
    schema: () => schema,
    read: (node, reader) => (node.kind === "scalar" ? read(node, reader) : wrongKind(node, reader, expected)),
  };
}

/** The form with its schema as a named definition. */
export function named<T>(name: string, form: Form<T>): Form<T> {
  return {
    expected: form.expected,
    read: (node, reader) => form.read(node, reader),
    schema(definitions) {
      if (!definitions.has(name)) {
        definitions.set(name, {});
        definitions.set(name, form.schema(definitions));
      }
      return { $ref: `#/$defs/${name}` };
    },
  };
}

/** Converts the result of a form; `undefined` for values that have been reported. */
export function mapForm<T, U>(
  form: Form<T>,
  change: (value: T, node: YamlNode, reader: FormReader) => U | undefined,
): Form<U> {
  return {
    expected: form.expected,
    schema: (definitions) => form.schema(definitions),
    read(node, reader) {
      const value = form.read(node, reader);
      return value === undefined ? undefined : change(value, node, reader);
    },
  };
}

/** A list without its broken items. */
export function listOf<T>(item: Form<T>, expected: string): Form<T[]> {
  return {
    expected,
    schema: (definitions) => ({ type: "array", items: item.schema(definitions) }),
    read(node, reader) {
      if (node.kind !== "list") return wrongKind(node, reader, expected);
      const values = node.items.map((each) => item.read(each, reader));
      const read = values.filter((value) => value !== undefined);
      return read.length === values.length ? read : undefined;
    },
  };
}

/** `a` for `[a]`; an empty list is wrong. */
export function oneOrMore<T>(item: Form<T>, expected: string): Form<T[]> {
  const list = listOf(item, expected);
  return {
    expected,
    schema: (definitions) => ({ anyOf: [item.schema(definitions), { ...list.schema(definitions), minItems: 1 }] }),
    read(node, reader) {
      if (node.kind === "list")
        return node.items.length === 0 ? wrongKind(node, reader, expected) : list.read(node, reader);
      const one = item.read(node, reader);
      return one === undefined ? undefined : [one];
    },
  };
}

/**
 * One form for each kind of YAML value; kinds without one are wrong.
 *
 * @param help for the kinds without a form
 */
export function byKind<T>(
  expected: string,
  forms: { readonly scalar?: Form<T>; readonly list?: Form<T>; readonly map?: Form<T> },
  help?: string,
): Form<T> {
  return {
    expected,
    schema(definitions) {
      const all = Object.values(forms).map((form) => form.schema(definitions));
      return all.length === 1 ? (all[0] as JsonSchema) : { anyOf: all };
    },
    read(node, reader) {
      const form = node.kind === "broken" ? undefined : forms[node.kind];
      return form === undefined ? wrongKind(node, reader, expected, help) : form.read(node, reader);
    },
  };
}

/** A map from names that the author chose. Entries in order; an empty place is an empty map. */
export function mapOf<K, V, T>(
  keys: Form<K>,
  values: Form<V>,
  expected: string,
  make: (key: K, value: V, entry: YamlEntry) => T,
  broken: (entry: YamlEntry, reader: FormReader) => T,
): Form<T[]> {
  const listHelp = expected.startsWith("a map from modules")
    ? 'write `"./nodes.ts": [f]` for each, without `-`'
    : "write `name: …` for each, without `-`";
  return {
    expected,
    schema: (definitions) => ({ type: ["object", "null"], additionalProperties: values.schema(definitions) }),
    read(node, reader) {
      if (node.kind === "scalar" && node.value === null && node.written === "") return [];
      if (node.kind !== "map") return wrongKind(node, reader, expected, node.kind === "list" ? listHelp : undefined);
      return node.entries.map((entry) => {
        const key = keys.read(entry.keyNode, { ...reader, key: undefined });
        const value = values.read(entry.value, { ...reader, key: entry.key });
        return key === undefined || value === undefined ? broken(entry, reader) : make(key, value, entry);
      });
    },
  };
}

// Maps with known keys -------------------------------------------------------------------------------

export interface Field<T> {
  readonly form: Form<T>;
  /** For editors. */
  readonly description: string;
  readonly isRequired: boolean;
}

export function optional<T>(form: Form<T>, description: string): Field<T> {
  return { form, description, isRequired: false };
}

export function required<T>(form: Form<T>, description: string): Field<T> {
  return { form, description, isRequired: true };
}

export type Fields = { readonly [key: string]: Field<unknown> };
export type Values<F extends Fields> = { [K in keyof F]?: F[K] extends Field<infer T> ? T : never };

/** A map that has been read key by key. */
export interface RecordRead<F extends Fields> {
  readonly values: Values<F>;
  /** The known entries, in the order of the file. */
  readonly entries: readonly YamlEntry[];
  readonly node: YamlMap;
  readonly reader: FormReader;
  /** An entry has been reported and is missing from `values`, or a required key is missing. */
  readonly isBroken: boolean;
  /** The reported entries, including unknown keys. */
  readonly brokenEntries: readonly YamlEntry[];
}

/**
 * A map with known keys. `what` completes "… has no key": "a node". `build` creates the value. It is called even if an
 * entry is broken, and returns `undefined` if it needs that entry.
 */
export function recordForm<F extends Fields, T>(
  what: string,
  fields: F,
  build: (read: RecordRead<F>) => T | undefined,
  /** The help for unknown keys that resemble no known key. */
  help?: string,
): Form<T> {
  const known = new Map(Object.entries(fields));
  return {
    expected: `a map with the keys of ${what}`,
    schema(definitions) {
      const properties = Object.fromEntries(
        [...known].map(([key, { form, description }]) => [key, described(form.schema(definitions), description)]),
      );
      const requiredKeys = [...known].filter(([, { isRequired }]) => isRequired).map(([key]) => key);
      return {
        type: "object",
        properties,
        ...(requiredKeys.length === 0 ? {} : { required: requiredKeys }),
        additionalProperties: false,
      };
    },
    read(node, reader) {
      if (node.kind !== "map") return wrongKind(node, reader, `a map with the keys of ${what}`);
      let isBroken = false;
      const values: Values<F> = Object.create(null) as Values<F>;
      const entries: YamlEntry[] = [];
      const brokenEntries: YamlEntry[] = [];
      for (const entry of node.entries) {
        const field = known.get(entry.key);
        if (field === undefined) {
          isBroken = true;
          brokenEntries.push(entry);
          reportUnknownKey(entry.keyNode, entry.key, what, [...known.keys()], reader, help);
          continue;
        }
        const value = field.form.read(entry.value, { ...reader, key: entry.key });
        if (value === undefined) {
          isBroken = true;
          brokenEntries.push(entry);
          continue;
        }
        (values as Record<string, unknown>)[entry.key] = value;
        entries.push(entry);
      }
      for (const [key, { isRequired, form }] of known) {
        if (!isRequired || node.entries.some((entry) => entry.key === key)) continue;
        isBroken = true;
        missingKey(node, reader, what, key, form.expected);
      }
      return build({ values, entries, node, reader, isBroken, brokenEntries });
    },
  };
}

export function reportUnknownKey(
  keyNode: YamlScalar,
  key: string,
  of: string,
  known: readonly string[],
  reader: FormReader,
  help?: string,
): void {
  const similar = findSimilar(key, known);
  help = foreignKeyHelp(of, key) ?? help;
  complain(reader, unknownKey(placeIn(reader, keyNode.span), { key, of, known, similar, help }));
}

/** NG014: a key is missing. */
export function missingKey(node: YamlMap, reader: FormReader, what: string, key: string, expected: string): undefined {
  const first = node.entries[0]?.keyNode.span;
  const at = first ?? firstLine(node.span, reader);
  const message = `${what} needs the key \`${key}\``;
  return complain(
    reader,
    wrongYamlShape(placeIn(reader, at), { message, label: `\`${key}\` is missing`, help: `it takes ${expected}` }),
  );
}

/** The span of one of a record's entries, from key to value. */
export function spanOfKey<F extends Fields>(read: RecordRead<F>, key: keyof F & string): Span {
  const entry = read.entries.find((each) => each.key === key);
  return entry === undefined ? read.node.span : entrySpan(entry);
}

export function identifierAt(name: string, span: Span): Identifier {
  return { kind: "Identifier", span, name };
}

function described(schema: JsonSchema, description: string): JsonSchema {
  return { description, ...schema };
}
