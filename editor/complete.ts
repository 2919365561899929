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
import { nodeSignatures } from "../stdlib/signatures.ts";
import type { CheckedDocument } from "./document.ts";
import { signatureText } from "./hover.ts";
import type { FileNames, NameIndex } from "./name-index.ts";
import { yamlKeysAt, yamlPlaceAt } from "./yaml-place.ts";

/** `CompletionItemKind` of the protocol. */
const KIND = {
  method: 2,
  function: 3,
  variable: 6,
  class: 7,
  value: 12,
  keyword: 14,
  file: 17,
  constant: 21,
  type: 25,
} as const;

/** What may stand at a place. */
export type Place =
  | { readonly kind: "nodes"; readonly withBoundaries?: true }
  | {
      readonly kind:
        "tasks" | "types" | "reducers" | "graphs" | "inputs" | "callees" | "expression" | "words" | "codes" | "none";
    }
  | { readonly kind: "channels" }
  | { readonly kind: "patterns"; readonly subject: string }
  | { readonly kind: "exports"; readonly specifier: string }
  | { readonly kind: "paths"; readonly typed: string };

/** The completions at an offset. The name that is being typed is no part of the place: the editor filters by it. */
export function findCompletions(
  checked: CheckedDocument,
  file: FileNames,
  offset: number,
  context: { readonly index: NameIndex; readonly host: CompilerHost },
): CompletionItem[] {
  const { document } = checked;
  const unit = unitAt(file.file, offset);
  const isYaml = document.spelling === "yaml";
  const place = isYaml ? yamlPlaceAt(document.text, offset) : placeAt(document.text, offset);
  const items = itemsOf(place, { checked, file, unit, ...context });
  if (isYaml) {
    for (const { key, about } of yamlKeysAt(document.text, offset)) {
      items.push({
        label: key,
        kind: KIND.keyword,
        insertText: `${key}: `,
        ...(about === "" ? {} : { detail: about }),
      });
    }
  } else if (!CLOSED.has(place.kind)) {
    for (const { kind, text } of completionsAt(document.text, offset)) {
      if (kind === "word") items.push({ label: text, kind: KIND.keyword, sortText: `2${text}` });
    }
  }
  const seen = new Set<string>();
  return items.filter(({ label }) => !seen.has(label) && seen.add(label));
}

/** Places where only names of one sort can stand. */
const CLOSED: ReadonlySet<Place["kind"]> = new Set(["codes", "exports", "paths", "patterns", "none"]);

/** The graph or plan around an offset. A statement that is not finished may end it early. */
function unitAt(file: Ast.File, offset: number): Ast.GraphDecl | Ast.PlanDecl | undefined {
  let found: Ast.GraphDecl | Ast.PlanDecl | undefined;
  for (const item of file.items) {
    if (item.span.start > offset) break;
    if (item.kind === "Graph" || item.kind === "Plan") found = item;
    else if (item.span.end >= offset) found = undefined;
  }
  return found;
}

/** The place at an offset of a text in the `.ngraph` spelling, by the words before it. */
export function placeAt(text: string, offset: number): Place {
  const typed = /[A-Za-z_]\w*$/.exec(text.slice(0, offset))?.[0] ?? "";
  const at = offset - typed.length;
  const before = text.slice(Math.max(0, at - 2000), at);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  if (/(?:\/\/|\/\*).*ngraph-ignore[\sA-Z\d,]*$/.test(`${line}`)) return { kind: "codes" };
  const path = /\bfrom\s*"([^"\n]*)$/.exec(line + typed);
  if (path !== null) return { kind: "paths", typed: path[1] ?? "" };
  const imports = /\bimport\s*\{[^}]*$/.test(before) ? /^[^{}]*\}\s*from\s*"([^"\n]*)"/.exec(text.slice(offset)) : null;
  if (imports !== null) return { kind: "exports", specifier: imports[1] ?? "" };
  if (/^\s*(?:\/\/|\*|\/\*)/.test(line)) return { kind: "none" };
  if (/\breduce\s+$/.test(before)) return { kind: "reducers" };
  if (/\binto\s+(?:set\s+)?$/.test(before) || /\binto\s*\{[^}]*$/.test(before)) return { kind: "channels" };
  if (/\bafter\s+(?:(?:any|done|failed)\s+)?(?:\w+\s*,\s*(?:(?:done|failed)\s+)?)*$/.test(before))
    return { kind: "tasks" };
  if (/\b(?:status|before)\($/.test(before)) return { kind: "nodes" };
  if (/^\s*test\b.*\bfor\s+$/.test(line)) return { kind: "graphs" };
  if (/\bgiven\s+$/.test(before)) return { kind: "inputs" };
  if (
    /\b(?:mock|answer|ran|undone|at|once|eventually|never|with|before(?:\s+each)?|waits|goes)\s+(?:\w+\s*,\s*)*$/.test(
      before,
    )
  )
    return { kind: "nodes" };
  if (/^\s*assert\s+$/.test(line)) return { kind: "nodes" };
  const arm = /\bmatch\s+([\w.?]+)[^{}]*\{((?:[^{}]|\{[^{}]*\})*)$/.exec(before);
  if (arm !== null && /(?:^|[\n|]|\s)\s*$/.test(before) && !/->\s*(?:\w+\s*,\s*)*$/.test(before)) {
    return { kind: "patterns", subject: (arm[1] ?? "").replaceAll("?", "") };
  }
  if (/->\s*(?:\w+\s*,\s*)*$/.test(before)) return { kind: "nodes", withBoundaries: true };
  if (/\b(?:any|all|settled)\([^()]*$/.test(before)) return { kind: "nodes" };
  if (/^\s*(?:input|output|state|memory|config)\s+\w+\s*:[^=]*$/.test(line) || /^\s*type\s+\w+\s*=[^=]*$/.test(line))
    return { kind: "types" };
  if (/^\s*(?:node|task|finally\s+task)\s+\w+\s*=\s*$/.test(line)) return { kind: "callees" };
  if (/^\s*$/.test(line)) return { kind: "nodes", withBoundaries: true };
  // Braces after a call hold policies, which are words.
  if (/[=(,[?:]\s*\{\s*$/.test(before)) return { kind: "expression" };
  if (/\{\s*$/.test(before) && !/\$\{\s*$/.test(before)) return { kind: "words" };
  if (/[=(,[?:+\-*/%<>!&|]\s*$|\b(?:when|in|if|match|then|expect)\s+$|\$\{\s*$/.test(before))
    return { kind: "expression" };
  return { kind: "words" };
}

interface Sources {
  readonly checked: CheckedDocument;
  readonly file: FileNames;
  readonly unit: Ast.GraphDecl | Ast.PlanDecl | undefined;
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
      return patternItems(place.subject, sources);
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

/** The values of an enumeration that a `match` decides about. */
function patternItems(subject: string, sources: Sources): CompletionItem[] {
  const [name = "", ...path] = subject.split(".");
  const { result } = sources.checked;
  const types = result.namedTypes;
  let type = boundChannels(sources.checked, sources.unit)?.find((each) => each.name === name)?.type;
  for (const part of path) {
    const fields =
      type === undefined
        ? []
        : alternatives(type, types).flatMap((each) => (each.kind === "record" ? each.fields : []));
    type = fields.find((field) => field.name === part)?.type;
  }
  const values = type === undefined ? [] : alternatives(type, types).flatMap(literalsOf);
  return [...values, "else"].map((label, at) => ({ label, kind: KIND.value, sortText: String(at).padStart(3, "0") }));
}

function literalsOf(type: BoundChannel["type"]): readonly string[] {
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
