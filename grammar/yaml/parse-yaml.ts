import { foreignYaml } from "../../diagnostics/catalog/yaml.ts";
import { sortDiagnostics, type Diagnostic } from "../../diagnostics/diagnostic.ts";
import { SourceFile } from "../../diagnostics/source.ts";
import type { File, Item } from "../ast.ts";
import { newReading, type Reading } from "../reading.ts";
import { brokenDocument, graphForm, headerForm, planForm, testForm } from "./document-forms.ts";
import { GRAPH_FIELDS, PLAN_FIELDS } from "./document-forms.ts";
import type { EntryMemory } from "./entry-memory.ts";
import { complain, placeIn, reportUnknownKey, wrongKind, type Form, type FormReader } from "./form.ts";
import { HEADER_FIELDS } from "./header-forms.ts";
import { readDocuments, type YamlDocument } from "./read-documents.ts";
import { TEST_FIELDS } from "./test-form.ts";
import { wordsIn } from "./graph-forms.ts";
import type { YamlMap, YamlScalar } from "./yaml-tree.ts";

/**
 * Reads the YAML spelling into the tree that `parse` creates from text; spans are offsets of the YAML text. Never
 * throws: errors are in `diagnostics`, and unreadable parts are `Broken` nodes in the tree.
 *
 * @example
 * const { file, diagnostics } = parseYaml("graph: hello\nnodes: { greet: { call: print, args: ['\"hi\"'] } }\nedges: [start -> greet]");
 */
export function parseYaml(
  text: string,
  options: { readonly path?: string } = {},
): { file: File; diagnostics: Diagnostic[] } {
  return readYaml(text, options.path ?? "input.yaml");
}

/**
 * As `parseYaml`.
 *
 * @param memory of an earlier text of the file: what has not changed is not read again
 */
export function readYaml(text: string, path: string, memory?: EntryMemory): { file: File; diagnostics: Diagnostic[] } {
  const source = new SourceFile(path, text);
  const reading = newReading(source, text);
  const items = readDocuments(reading, memory).flatMap((document) => readItems(document, reading));
  const span = { start: 0, end: text.length };
  return {
    file: { kind: "File", span, source, spelling: "yaml", items, comments: [] },
    diagnostics: sortDiagnostics(reading.diagnostics),
  };
}

/** The keys that decide the kind of a document. */
const DOCUMENTS: readonly (readonly [
  keys: readonly string[],
  form: Form<Item[]>,
  of: "graph" | "plan" | "test" | "other",
])[] = [
  [["graph"], graphForm, "graph"],
  [["plan"], planForm, "plan"],
  [["test"], testForm, "test"],
  [Object.keys(HEADER_FIELDS), headerForm, "other"],
];

function readItems({ root, isBroken, span }: YamlDocument, reading: Reading): Item[] {
  if (root === undefined) return [];
  const reader: FormReader = { reading, key: undefined };
  if (root.kind !== "map") {
    if (!isBroken)
      wrongKind(root, reader, "a map with the key `graph`, `plan`, `test`, `imports`, `types` or `secrets`");
    return [{ kind: "Broken", span, of: "other", names: wordsIn(reading.text.slice(span.start, span.end)) }];
  }
  const document = DOCUMENTS.find(([keys]) => root.entries.some(({ key }) => keys.includes(key)));
  const foreign = document === undefined && !isBroken ? foreignDocument(root) : undefined;
  if (foreign !== undefined) {
    complain(reader, foreignYaml(placeIn(reader, foreign.keyNode.span), foreign));
    return [brokenDocument("other", root, reader)];
  }
  // After a syntax error the content is unreliable, so nothing more is reported.
  if (isBroken) return [brokenDocument(document?.[2] ?? "other", root, reader)];
  if (document !== undefined) return document[1].read(root, reader) ?? [];
  reportNoDocument(root, reader);
  return [brokenDocument("other", root, reader)];
}

/** What a document of another system is, with the key that shows it. */
function foreignDocument({ entries }: YamlMap): { readonly what: string; readonly keyNode: YamlScalar } | undefined {
  const find = (key: string): YamlMap["entries"][number] | undefined => entries.find((each) => each.key === key);
  const [startAt, states, nodes, edges] = [find("StartAt"), find("States"), find("nodes"), find("edges")];
  if (startAt !== undefined && states !== undefined)
    return { what: "a state machine of Amazon States Language", keyNode: startAt.keyNode };
  const isList = nodes?.value.kind === "list" && edges?.value.kind === "list";
  // A list of nodes without names is a graph whose author does not know yet that nodes are a map.
  const [first] = nodes?.value.kind === "list" ? nodes.value.items : [];
  const isNamed = first?.kind === "map" && first.entries.some(({ key }) => key === "name");
  return isList && isNamed ? { what: "a specification of langgraph-gen", keyNode: nodes.keyNode } : undefined;
}

/** Reports a document without a key that decides its kind; such a key may be misspelled. */
function reportNoDocument(root: YamlMap, reader: FormReader): void {
  const [first] = root.entries;
  if (first === undefined) {
    wrongKind(root, reader, "a map with the key `graph`, `plan`, `test`, `imports`, `types` or `secrets`");
    return;
  }
  const known = new Set([GRAPH_FIELDS, PLAN_FIELDS, TEST_FIELDS].flatMap((fields) => Object.keys(fields)));
  const leading = ["graph", "plan", "test", ...Object.keys(HEADER_FIELDS)];
  const stranger = root.entries.find(({ key }) => !known.has(key)) ?? first;
  if (known.has(stranger.key)) {
    wrongKind(root, reader, "the key `graph`, `plan` or `test` with the name of what this document describes");
  } else reportUnknownKey(stranger.keyNode, stranger.key, "a document", leading, reader);
}
