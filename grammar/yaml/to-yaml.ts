import { attachComments } from "../attach-comments.ts";
import type { File, GraphDecl, Item, PlanDecl, TestDecl } from "../ast.ts";
import { sourceView } from "../format/source-view.ts";
import { emitComment, emitDocument, yamlList, yamlMap, type YamlValue } from "./emit-yaml.ts";
import { importNameText, textBehindWord, typeText } from "./expression-text.ts";
import {
  channelValue,
  edgeValue,
  expressionValue,
  nameList,
  nodeValue,
  policiesValue,
  taskValue,
} from "./write-declarations.ts";
import { dataValue } from "./write-data.ts";
import { writeTest } from "./write-test.ts";
import { docEntry, headEntry, loseBroken, withComments, type Entry, type Writing } from "./writing.ts";

/** The path of the schema in an installed package, relative to the root of a project. */
const SCHEMA = "./node_modules/ngraph/grammar/ngraph.schema.json";

export interface ToYamlOptions {
  /** Path or address of the JSON Schema that the first line names for editors. */
  readonly schema?: string;
}

/**
 * The YAML spelling of a tree: one document for each graph, plan and test, and documents of declarations between them.
 * `lost` lists the parts that YAML cannot represent (repeated clauses and names), a sentence each. Comments move with
 * their statement.
 *
 * @example
 * const { text, lost } = toYaml(parse(source).file);
 */
export function toYaml(file: File, options: ToYamlOptions = {}): { text: string; lost: string[] } {
  const lost: { readonly start: number; readonly message: string }[] = [];
  const commentsOf = attachComments(file);
  const writing: Writing = {
    source: sourceView(file),
    commentsOf,
    lose: (what, { start }) => lost.push({ start, message: `line ${file.source.position(start).line}: ${what}` }),
  };
  const documents = documentsOf(file.items, writing).map(({ entries, after }) =>
    emitDocument(yamlMap(entries, true), after),
  );
  const end = (commentsOf(file)?.after ?? []).map((line) => `${emitComment(line)}\n`).join("");
  const modeline = `# yaml-language-server: $schema=${options.schema ?? SCHEMA}\n`;
  return {
    text: modeline + documents.join("---\n") + end,
    lost: lost.toSorted((a, b) => a.start - b.start).map(({ message }) => message),
  };
}

/** The entries of one document, and the comments below them. */
interface WrittenDocument {
  readonly entries: readonly Entry[];
  readonly after: readonly string[];
}

/** Collects adjacent declarations into one document if the document preserves their order (see `fits`). */
function documentsOf(items: readonly Item[], writing: Writing): WrittenDocument[] {
  const documents: WrittenDocument[] = [];
  let header: Header | undefined;
  const closeHeader = () => {
    if (header !== undefined) {
      documents.push({ entries: [...header].map(([key, entries]) => headerEntry(key, entries)), after: [] });
    }
    header = undefined;
  };
  for (const item of items) {
    const own = documentOf(item, writing);
    if (own !== undefined) {
      closeHeader();
      documents.push({ entries: own, after: writing.commentsOf(item)?.after ?? [] });
      continue;
    }
    const declared = declarationOf(item, writing);
    if (declared === undefined) continue;
    const [key, value] = declared;
    if (header !== undefined && !fits(header, key, value)) closeHeader();
    header ??= new Map();
    const entries = header.get(key);
    if (entries === undefined) header.set(key, [value]);
    else entries.push(value);
  }
  closeHeader();
  return documents;
}

type HeaderKey = "imports" | "types" | "secrets" | "constants";
type Header = Map<HeaderKey, (Entry | YamlValue)[]>;

/** Whether a document can take one more declaration: keys and names occur once, and the file's order is preserved. */
function fits(header: Header, key: HeaderKey, value: Entry | YamlValue): boolean {
  const before = header.get(key);
  if (before === undefined) return true;
  if ([...header.keys()].at(-1) !== key) return false;
  if (key === "secrets") return true;
  return !before.some((entry) => (entry as Entry)[0] === (value as Entry)[0]);
}

function headerEntry(key: HeaderKey, entries: readonly (Entry | YamlValue)[]): Entry {
  if (key === "secrets") return [key, yamlList(entries as readonly YamlValue[])];
  return [key, yamlMap(entries as readonly Entry[], key === "types" || key === "constants" || entries.length > 1)];
}

function declarationOf(item: Item, writing: Writing): readonly [HeaderKey, Entry | YamlValue] | undefined {
  switch (item.kind) {
    case "Import":
      return ["imports", [item.from.value, withComments(yamlList(item.names.map(importNameText)), item, writing)]];
    case "Type": {
      const type = typeText(item.type, writing.source);
      const value = item.doc === undefined ? type : yamlMap([["type", type], ...docEntry(item.doc)]);
      return ["types", [item.name.name, withComments(value, item, writing)]];
    }
    case "Secret": {
      const { name } = item.name;
      const value = item.doc === undefined ? name : yamlMap([["name", name], ...docEntry(item.doc)]);
      return ["secrets", withComments(value, item, writing)];
    }
    case "Const": {
      const data = dataValue(item.value);
      const isPlain =
        data !== undefined &&
        (typeof data === "string" || (typeof data === "object" && data !== null && data.kind !== "raw"));
      const value = isPlain ? data : expressionValue(item.value, writing.source);
      const isMap = isPlain || item.doc !== undefined;
      const whole = isMap ? yamlMap([[isPlain ? "value" : "expr", value], ...docEntry(item.doc)]) : value;
      return ["constants", [item.name.name, withComments(whole, item, writing)]];
    }
    default:
      return undefined;
  }
}

function documentOf(item: Item, writing: Writing): Entry[] | undefined {
  switch (item.kind) {
    case "Graph":
      return writeGraph(item, writing);
    case "Plan":
      return writePlan(item, writing);
    case "Test":
      return writeTest(item satisfies TestDecl, writing);
    case "Broken":
      loseBroken(item, writing);
      return undefined;
    default:
      return undefined;
  }
}

interface Placed {
  readonly span: { readonly start: number };
}

/** Collects statements under the key of their kind, in the order in which kinds are usually written. */
class Sections {
  readonly #keys: readonly string[];
  readonly #maps = new Map<string, Map<string, YamlValue>>();
  readonly #lists = new Map<string, YamlValue[]>();
  readonly #values = new Map<string, YamlValue>();
  readonly #writing: Writing;

  constructor(keys: readonly string[], writing: Writing) {
    this.#keys = keys;
    this.#writing = writing;
  }

  /** Adds an entry to the map `key`. Reports a repeated name as lost, because a YAML map cannot repeat a key. */
  declare(key: string, name: string, value: YamlValue, statement: Placed): void {
    const map = this.#maps.get(key) ?? new Map<string, YamlValue>();
    this.#maps.set(key, map);
    if (map.has(name)) this.#writing.lose(`\`${name}\` is declared again`, statement.span);
    else map.set(name, withComments(value, statement, this.#writing));
  }

  append(key: string, value: YamlValue, statement: Placed): void {
    const list = this.#lists.get(key);
    const commented = withComments(value, statement, this.#writing);
    if (list === undefined) this.#lists.set(key, [commented]);
    else list.push(commented);
  }

  set(key: string, value: YamlValue, statement: Placed): void {
    if (this.#values.has(key)) this.#writing.lose(`\`${key}\` is given twice`, statement.span);
    else this.#values.set(key, withComments(value, statement, this.#writing));
  }

  entries(): Entry[] {
    return this.#keys.flatMap((key): Entry[] => {
      const map = this.#maps.get(key);
      const list = this.#lists.get(key);
      const value =
        map !== undefined
          ? yamlMap([...map], isSection(key))
          : list !== undefined
            ? yamlList(list, key === "edges")
            : this.#values.get(key);
      return value === undefined ? [] : [[key, value]];
    });
  }
}

/** Whether a map always has one entry per line. */
function isSection(key: string): boolean {
  return (
    key === "state" || key === "memory" || key === "config" || key === "derive" || key === "nodes" || key === "tasks"
  );
}

function writeGraph(graph: GraphDecl, writing: Writing): Entry[] {
  const keys = [
    "input",
    "output",
    "state",
    "memory",
    "config",
    "derive",
    "limits",
    "max parallel",
    "defaults",
    "nodes",
    "asserts",
    "drop",
    "edges",
  ];
  const sections = new Sections(keys, writing);
  for (const statement of graph.statements) {
    switch (statement.kind) {
      case "Channel":
        sections.declare(statement.role, statement.name.name, channelValue(statement, writing), statement);
        break;
      case "Derive": {
        const text = expressionValue(statement.value, writing.source);
        const value = statement.doc === undefined ? text : yamlMap([["expr", text], ...docEntry(statement.doc)]);
        sections.declare("derive", statement.name.name, value, statement);
        break;
      }
      case "Node":
        sections.declare("nodes", statement.name.name, nodeValue(statement, writing), statement);
        break;
      case "Limit": {
        const value = statement.value === "none" ? "none" : statement.value.value;
        if (statement.of === "parallel") sections.set("max parallel", value, statement);
        else sections.declare("limits", statement.of, value, statement);
        break;
      }
      case "Defaults":
        sections.set("defaults", policiesValue(statement.policies, writing), statement);
        break;
      case "Assert":
        sections.append("asserts", textBehindWord(statement, writing.source), statement);
        break;
      case "Drop":
        // The comments of the statement go with its first name.
        for (const [at, { name, span }] of statement.channels.entries()) {
          sections.append("drop", name, at === 0 ? statement : { span });
        }
        break;
      case "Edge":
        sections.append("edges", edgeValue(statement, writing), statement);
        break;
      case "Broken":
        loseBroken(statement, writing);
        break;
    }
  }
  return [
    headEntry("graph", graph.name.name, graph, writing),
    ...(graph.was === undefined ? [] : [["was", nameList(graph.was)] as const]),
    ...docEntry(graph.doc),
    ...sections.entries(),
  ];
}

function writePlan(plan: PlanDecl, writing: Writing): Entry[] {
  const keys = [
    "input",
    "output",
    "state",
    "memory",
    "config",
    "max parallel",
    "order",
    "pools",
    "on failure",
    "tasks",
  ];
  const sections = new Sections(keys, writing);
  for (const statement of plan.statements) {
    switch (statement.kind) {
      case "Channel":
        sections.declare(statement.role, statement.name.name, channelValue(statement, writing), statement);
        break;
      case "Task":
        sections.declare("tasks", statement.name.name, taskValue(statement, writing), statement);
        break;
      case "PlanMaxParallel":
        sections.set("max parallel", statement.count.value, statement);
        break;
      case "PlanOrder":
        sections.set("order", statement.order, statement);
        break;
      case "PlanPool":
        sections.declare("pools", statement.name.name, statement.count.value, statement);
        break;
      case "PlanOnFailure":
        sections.set("on failure", statement.mode, statement);
        break;
      case "Broken":
        loseBroken(statement, writing);
        break;
    }
  }
  return [headEntry("plan", plan.name.name, plan, writing), ...docEntry(plan.doc), ...sections.entries()];
}
