/** Completion: the words that the grammar allows at a place, and the names that can stand there. */
import type { CompletionItem } from "vscode-languageserver-protocol";
import type { BoundChannel } from "../compiler/bind/bound-graph.ts";
import { alternatives } from "../compiler/types/type-table.ts";
import { librarySignatures } from "../compiler/expressions/library-signatures.ts";
import type { CompilerHost } from "../compiler/load/host.ts";
import { directoryOf, joinPath } from "../compiler/load/paths.ts";
import { typeToText } from "../compiler/types/type-text.ts";
import { DIAGNOSTIC_CODES } from "../diagnostics/codes.ts";
import type * as Ast from "../grammar/ast.ts";
import { completionsAt } from "../grammar/completions.ts";
import { libraryFiles } from "../stdlib/graphs/library-files.ts";
import type { FieldType, ValueType } from "../runtime/table/value-type.ts";
import { nodeSignatures } from "../stdlib/signatures.ts";
import { callItems, parameterItems, serversOf } from "./complete-call.ts";
import type { CheckedDocument } from "./document.ts";
import { signatureText } from "./hover.ts";
import type { FileNames, NameIndex } from "./name-index.ts";
import { placeAt, type Place } from "./text-place.ts";
import { yamlKeysAt, yamlPlaceAt } from "./yaml-place.ts";

/** `CompletionItemKind` of the protocol. */
const KIND = {
  method: 2,
  function: 3,
  field: 5,
  variable: 6,
  class: 7,
  value: 12,
  keyword: 14,
  file: 17,
  constant: 21,
  type: 25,
} as const;

/** The completions at an offset. The name that is being typed is no part of the place: the editor filters by it. */
export function findCompletions(
  checked: CheckedDocument,
  file: FileNames,
  offset: number,
  context: { readonly index: NameIndex; readonly host: CompilerHost },
): CompletionItem[] {
  const { document } = checked;
  const isYaml = document.spelling === "yaml";
  const unit = unitAt(file.file, offset) ?? (isYaml ? lastUnitAt(checked, offset) : undefined);
  const place = isYaml ? yamlPlaceAt(document.text, offset) : placeAt(document.text, offset);
  const isOpen = !CLOSED.has(place.kind) && !("isQuoted" in place && place.isQuoted);
  const allowed = isYaml || !isOpen ? [] : completionsAt(document.text, offset);
  // Outside of graphs a line begins with a word; where the grammar knows nothing, any name may stand.
  const isWord = place.kind === "nodes" && allowed.length > 0 && !allowed.some(({ kind }) => kind === "name");
  const items = isWord ? [] : itemsOf(place, { checked, file, unit, offset, ...context });
  if (isYaml) {
    for (const { key, about } of yamlKeysAt(document.text, offset)) {
      items.push({
        label: key,
        kind: KIND.keyword,
        insertText: `${key}: `,
        ...(about === "" ? {} : { detail: about }),
      });
    }
  }
  for (const { kind, text } of allowed) {
    if (kind === "word") items.push({ label: text, kind: KIND.keyword, sortText: `2${text}` });
  }
  const seen = new Set<string>();
  return items.filter(({ label }) => !seen.has(label) && seen.add(label));
}

/** Places where only names of one sort can stand. */
const CLOSED: ReadonlySet<Place["kind"]> = new Set(["codes", "exports", "paths", "patterns", "members", "none"]);

/** The graph or plan around an offset, or the one that the test around it is for. A statement that is not finished may end them early. */
function unitAt(file: Ast.File, offset: number): Unit | undefined {
  const isUnit = (item: Ast.Item): item is Unit => item.kind === "Graph" || item.kind === "Plan";
  let found: Unit | Ast.TestDecl | undefined;
  for (const item of file.items) {
    if (item.span.start > offset) break;
    if (isUnit(item) || item.kind === "Test") found = item;
    else if (item.span.end >= offset) found = undefined;
  }
  if (found?.kind !== "Test") return found;
  const { name } = found.subject;
  return file.items.filter(isUnit).find((item) => item.name.name === name);
}

/** The graph or plan of a YAML text that cannot be read at the moment, as of the part that can, or of the last text that could. */
function lastUnitAt({ document, result }: CheckedDocument, offset: number): Unit | undefined {
  const names = [...document.text.slice(0, offset).matchAll(/^(?:graph|plan|for):[ \t]*(\w+)/gm)];
  const name = names.at(-1)?.[1];
  return [...result.graphs, ...result.plans].find((each) => each.name === name)?.bound.declaration;
}

type Unit = Ast.GraphDecl | Ast.PlanDecl;

interface Sources {
  readonly checked: CheckedDocument;
  readonly file: FileNames;
  readonly unit: Unit | undefined;
  readonly offset: number;
  readonly index: NameIndex;
  readonly host: CompilerHost;
}

function itemsOf(place: Place, sources: Sources): CompletionItem[] {
  const { file, unit, index, host, checked } = sources;
  const { path } = checked.document;
  switch (place.kind) {
    case "nodes":
      return [...stepItems(sources), ...(place.withBoundaries === true ? BOUNDARY_ITEMS : [])];
    case "tasks":
      return stepItems(sources);
    case "channels":
      return channelItems(sources, ({ role }) => role === "output" || role === "state" || role === "memory");
    case "inputs":
      return channelItems(sources, ({ role }) => role === "input" || role === "config" || role === "memory");
    case "types":
      return [...BASIC_TYPES.map((label) => ({ label, kind: KIND.type })), ...declared(file.file, ["Type"])];
    case "reducers":
      return [...REDUCERS.map((label) => ({ label, kind: KIND.keyword })), ...importedNames(file.file)];
    case "graphs":
      return declared(file.file, ["Graph", "Plan"]);
    case "callees":
      return [
        ...calleeItems(),
        ...importedNames(file.file),
        ...declared(file.file, ["Graph", "Plan"], unit),
        ...expressionItems(sources),
      ];
    case "expression":
      return [...expressionItems(sources), ...importedNames(file.file)];
    case "patterns":
      return patternItems(place, sources);
    case "values": {
      const values = valuesOf(place.subject, sources).map((text) => (place.isQuoted ? unquoted(text) : text));
      const items = values.map((label) => ({ label, kind: KIND.value, sortText: `00${label}` }));
      return place.isQuoted ? items : [...items, ...itemsOf({ kind: "expression" }, sources)];
    }
    case "members":
      return fieldsOf(place.subject, sources).map(({ name, type }) => ({
        label: name,
        kind: KIND.field,
        detail: typeToText(type),
      }));
    case "call": {
      const items = callItems(place.before, sources);
      return place.isQuoted ? items : [...items, ...itemsOf({ kind: "expression" }, sources)];
    }
    case "parameters":
      return parameterItems(place.callee, place.written, 0, sources);
    case "servers":
      return [...serversOf(sources).keys()].map((label) => ({ label, kind: KIND.value }));
    case "codes":
      return Object.entries(DIAGNOSTIC_CODES).map(([label, { title }]) => ({ label, kind: KIND.value, detail: title }));
    case "exports": {
      const found = index.resolve(path, place.specifier);
      if (found === undefined) return [];
      const names = found.isGraph
        ? (index.of(found.path)?.file.items ?? []).flatMap((item) =>
            item.kind === "Graph" || item.kind === "Plan" || item.kind === "Type" ? [item.name.name] : [],
          )
        : index.exportsOf(found.path);
      return names.map((label) => ({ label, kind: KIND.function }));
    }
    case "paths":
      return pathItems(place.typed, path, host);
    case "words":
    case "none":
      return [];
  }
}

function stepItems({ unit }: Sources): CompletionItem[] {
  const statements: readonly (Ast.Statement | Ast.PlanStatement)[] = unit?.statements ?? [];
  return statements.flatMap((each) =>
    each.kind === "Node" || each.kind === "Task"
      ? [
          {
            label: each.name.name,
            kind: KIND.method,
            detail: each.kind.toLowerCase(),
            sortText: `0${each.name.name}`,
            ...docs(each.doc),
          },
        ]
      : [],
  );
}

function channelItems({ unit, checked }: Sources, wants: (channel: Ast.ChannelDecl) => boolean): CompletionItem[] {
  const statements: readonly (Ast.Statement | Ast.PlanStatement)[] = unit?.statements ?? [];
  const types = new Map((boundChannels(checked, unit) ?? []).map((each) => [each.name, typeToText(each.type)]));
  return statements.flatMap((each) => {
    if (each.kind !== "Channel" || !wants(each)) return [];
    const { name } = each.name;
    const type = types.get(name);
    const detail = type === undefined ? each.role : `${each.role} ${type}`;
    return [{ label: name, kind: KIND.variable, detail, sortText: `0${name}`, ...docs(each.doc) }];
  });
}

function boundChannels({ result }: CheckedDocument, unit: Sources["unit"]): readonly BoundChannel[] | undefined {
  const name = unit?.name.name;
  return [...result.graphs, ...result.plans].find((each) => each.name === name)?.bound.channels;
}

function expressionItems(sources: Sources): CompletionItem[] {
  const { unit, file } = sources;
  const statements: readonly (Ast.Statement | Ast.PlanStatement)[] = unit?.statements ?? [];
  const derived = statements.flatMap((each) =>
    each.kind === "Derive"
      ? [{ label: each.name.name, kind: KIND.variable, detail: "derived", sortText: `0${each.name.name}` }]
      : [],
  );
  const library = [...librarySignatures].map(([label, { usage }]) => ({
    label,
    kind: KIND.function,
    detail: usage,
    sortText: `3${label}`,
  }));
  return [...channelItems(sources, () => true), ...derived, ...declared(file.file, ["Const", "Secret"]), ...library];
}

function calleeItems(): CompletionItem[] {
  return [...nodeSignatures.values()].map((signature) => ({
    label: signature.name,
    kind: KIND.function,
    detail: signatureText(signature),
    documentation: signature.summary,
    sortText: `1${signature.name}`,
  }));
}

function importedNames(file: Ast.File): CompletionItem[] {
  return file.items.flatMap((item) =>
    item.kind === "Import"
      ? item.names.flatMap(({ local, isType }) =>
          isType
            ? []
            : [{ label: local.name, kind: KIND.function, detail: item.from.value, sortText: `0${local.name}` }],
        )
      : [],
  );
}

const DECLARED_KINDS = {
  Type: KIND.type,
  Const: KIND.constant,
  Secret: KIND.constant,
  Graph: KIND.class,
  Plan: KIND.class,
} as const;

function declared(
  file: Ast.File,
  kinds: readonly (keyof typeof DECLARED_KINDS)[],
  without?: Sources["unit"],
): CompletionItem[] {
  return file.items.flatMap((item): CompletionItem[] => {
    if (item.kind === "Import" && kinds.includes("Type")) {
      return item.names.flatMap(({ local, isType }) => (isType ? [{ label: local.name, kind: KIND.type }] : []));
    }
    const known = kinds.find((kind) => kind === item.kind);
    if (known === undefined || !("name" in item) || item === without) return [];
    return [{ label: item.name.name, kind: DECLARED_KINDS[known], detail: known.toLowerCase(), ...docs(item.doc) }];
  });
}

/** The arms of a `match` that are missing. */
function patternItems({ subject, used }: Extract<Place, { kind: "patterns" }>, sources: Sources): CompletionItem[] {
  return [...valuesOf(subject, sources), "else"]
    .filter((text) => !new RegExp(`(?:^|[\\n|,])\\s*${escaped(text)}\\s*(?:$|[|:,]|->)`).test(used))
    .map((label, at) => ({ label, kind: KIND.value, sortText: String(at).padStart(3, "0") }));
}

/** The values of an enumeration that a channel, an item or one of their fields has. */
function valuesOf(subject: string, sources: Sources): readonly string[] {
  return typesOf(subject, sources).flatMap(literalsOf);
}

function fieldsOf(subject: string, sources: Sources): readonly FieldType[] {
  return typesOf(subject, sources).flatMap((each) => (each.kind === "record" ? each.fields : []));
}

/** The alternatives of the type of `order.to.name`. */
function typesOf(subject: string, sources: Sources, depth = 0): readonly ValueType[] {
  const { checked, unit } = sources;
  const [name = "", ...path] = subject.replaceAll("?", "").split(".");
  const types = checked.result.namedTypes;
  const channel = boundChannels(checked, unit)?.find((each) => each.name === name)?.type;
  let type = channel ?? itemType(name, sources, depth);
  for (const part of path) {
    const fields =
      type === undefined
        ? []
        : alternatives(type, types).flatMap((each) => (each.kind === "record" ? each.fields : []));
    type = fields.find((field) => field.name === part)?.type;
  }
  return type === undefined ? [] : alternatives(type, types);
}

/** The type of an item: of the list that the nearest `for` with its name goes through. */
function itemType(name: string, sources: Sources, depth: number): ValueType | undefined {
  const { text } = sources.checked.document;
  const { offset } = sources;
  const loop = new RegExp(`\\bfor:?\\s+["']?${name}\\s+in\\s+([A-Za-z_][\\w.]*)`, "g");
  const behind = [...text.slice(offset, offset + NEAR).matchAll(loop)][0];
  const list = (behind ?? [...text.slice(Math.max(0, offset - NEAR), offset).matchAll(loop)].at(-1))?.[1];
  // A list may be an item of another `for`, and a text that is being written may have a cycle of them.
  if (list === undefined || depth === 4) return undefined;
  const lists = typesOf(list, sources, depth + 1).flatMap((each) => (each.kind === "list" ? [each.item] : []));
  return lists[0];
}

/** The longest distance between a name and its `for`, in characters. */
const NEAR = 400;

function escaped(text: string): string {
  return text.replaceAll(/[^\w\s]/g, "\\$&");
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1) : text;
}

function literalsOf(type: ValueType): readonly string[] {
  if (type.kind === "literal") return [JSON.stringify(type.value)];
  if (type.kind === "null") return ["null"];
  return type.kind === "bool" ? ["true", "false"] : [];
}

function pathItems(typed: string, from: string, host: CompilerHost): CompletionItem[] {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1) || "./";
  const listed = host.listDirectory?.(joinPath(directoryOf(from), folder)) ?? [];
  const own = from.slice(from.lastIndexOf("/") + 1);
  const library = typed.includes("/") ? [] : [...libraryFiles.keys()];
  const libraryItems = library.map((label) => ({ label, kind: KIND.file, insertText: label }));
  const files = listed
    .filter((name) => name !== own && /\.(?:ngraph|[cm]?[jt]s|ya?ml)$|^[^.]+$/.test(name) && name !== "node_modules")
    .map((name) => ({ label: name, kind: KIND.file, insertText: typed === "" ? `./${name}` : name }));
  return [...files, ...libraryItems];
}

function docs(doc: Ast.DocComment | undefined): { documentation?: string } {
  return doc === undefined ? {} : { documentation: doc.text };
}

const BASIC_TYPES = ["string", "int", "float", "bool", "json", "map"];
const REDUCERS = ["append", "union", "merge", "sum", "min", "max", "last"];
const BOUNDARY_ITEMS: readonly CompletionItem[] = ["start", "end", "rollback", "finally"].map((label) => ({
  label,
  kind: KIND.keyword,
  sortText: `1${label}`,
}));
