/** Whole documents: a graph, a plan, a test, or imports, types and secrets alone. */
import type {
  Broken,
  Count,
  GraphDecl,
  Identifier,
  Item,
  PlanDecl,
  PlanSetting,
  PlanStatement,
  Statement,
  TestDecl,
  TestItem,
} from "../ast.ts";
import { docForm } from "./doc-form.ts";
import { nameForm, namesForm } from "./fragment-forms.ts";
import {
  mapOf,
  named,
  optional,
  recordForm,
  required,
  type Fields,
  type Form,
  type FormReader,
  type RecordRead,
} from "./form.ts";
import { edgesForm } from "./edge-form.ts";
import {
  assertsForm,
  brokenAt,
  CHANNEL_FIELDS,
  defaultsForm,
  deriveForm,
  limitsForm,
  nodesForm,
  tasksForm,
  wordsIn,
} from "./graph-forms.ts";
import { HEADER_FIELDS } from "./header-forms.ts";
import { choiceForm, countForm } from "./small-forms.ts";
import { TEST_FIELDS, TEST_LINES } from "./test-form.ts";
import { entrySpan, type YamlEntry, type YamlMap } from "./yaml-tree.ts";

export const GRAPH_FIELDS = {
  graph: required(nameForm("a name for the graph"), "The name of the graph."),
  was: optional(namesForm(), "Earlier names of the graph."),
  doc: optional(docForm, "What the graph does."),
  ...HEADER_FIELDS,
  ...CHANNEL_FIELDS,
  derive: optional(deriveForm, "Names for expressions, which are evaluated where they are read."),
  limits: optional(limitsForm, "Bounds of a run."),
  "max parallel": optional(countForm("a number of tasks"), "The most tasks at the same time."),
  defaults: optional(defaultsForm, "Policies of all nodes that do not state their own."),
  nodes: optional(nodesForm, "The nodes, by name."),
  asserts: optional(assertsForm, "What must hold in every run: `approve before end`, `once charge`, …"),
  drop: optional(namesForm(), "Channels of earlier versions, whose values a thread loses."),
  edges: optional(edgesForm, "What runs after what."),
} as const satisfies Fields;

const poolsForm: Form<(PlanSetting | Broken)[]> = mapOf<Identifier, Count, PlanSetting | Broken>(
  nameForm("a name for the pool"),
  countForm("a number of places"),
  "a map from names to numbers of places",
  (name, count, entry) => ({ kind: "PlanPool", span: entrySpan(entry), name, count }),
  (entry, reader) => brokenAt("other", entry, reader),
);

export const PLAN_FIELDS = {
  plan: required(nameForm("a name for the plan"), "The name of the plan."),
  doc: optional(docForm, "What the plan does."),
  ...HEADER_FIELDS,
  ...CHANNEL_FIELDS,
  "max parallel": optional(countForm("a number of tasks"), "The most tasks at the same time."),
  order: optional(choiceForm(["file"]), "`file`: ready tasks start in the order of the file."),
  pools: optional(poolsForm, "Pools that tasks take places of, by name."),
  "on failure": optional(choiceForm(["continue", "no-new", "kill"]), "What happens to the others when a task fails."),
  tasks: optional(tasksForm, "The tasks, by name."),
} as const satisfies Fields;

/** The imports, types and secrets of a document, in the order of their keys. */
function headerItems({ values, entries, brokenEntries, reader }: RecordRead<typeof HEADER_FIELDS>): Item[] {
  const broken = brokenEntries.flatMap((entry): Item[] => {
    const of = HEADERS[entry.key];
    return of === undefined ? [] : [brokenAt(of, entry, reader)];
  });
  const items = entries.flatMap(({ key }): readonly Item[] => {
    switch (key) {
      case "imports":
        return values.imports ?? [];
      case "types":
        return values.types ?? [];
      case "secrets":
        return values.secrets ?? [];
      case "constants":
        return values.constants ?? [];
      default:
        return [];
    }
  });
  return [...broken, ...items];
}

const HEADERS: Readonly<Record<string, Broken["of"] | undefined>> = Object.assign(Object.create(null), {
  imports: "import",
  types: "type",
  secrets: "secret",
  constants: "const",
});

export const headerForm: Form<Item[]> = named(
  "header",
  recordForm("a document of declarations", HEADER_FIELDS, headerItems),
);

export const graphForm: Form<Item[]> = named(
  "graph",
  recordForm("a graph", GRAPH_FIELDS, (read): Item[] => {
    const { graph: name, was, doc } = read.values;
    const header = headerItems(read as unknown as RecordRead<typeof HEADER_FIELDS>);
    if (name === undefined) return [...header, brokenDocument("graph", read.node, read.reader)];
    const statements = [
      ...read.entries.flatMap((entry) => graphStatements(entry, read.values)),
      ...brokenSections(read.brokenEntries, read.reader),
    ];
    const graph: GraphDecl = {
      kind: "Graph",
      span: read.node.span,
      ...(doc === undefined ? {} : { doc }),
      name,
      ...(was === undefined ? {} : { was }),
      statements,
    };
    return [...header, graph];
  }),
);

function graphStatements(entry: YamlEntry, values: RecordRead<typeof GRAPH_FIELDS>["values"]): readonly Statement[] {
  switch (entry.key) {
    case "input":
    case "output":
    case "state":
    case "memory":
    case "config":
    case "derive":
    case "nodes":
    case "limits":
    case "asserts":
    case "edges":
      return values[entry.key] ?? [];
    case "defaults":
      return values.defaults === undefined ? [] : [{ ...values.defaults, span: entrySpan(entry) }];
    case "drop":
      return values.drop === undefined ? [] : [{ kind: "Drop", span: entrySpan(entry), channels: values.drop }];
    case "max parallel": {
      const value = values["max parallel"];
      return value === undefined ? [] : [{ kind: "Limit", span: entrySpan(entry), of: "parallel", value }];
    }
    default:
      return [];
  }
}

export const planForm: Form<Item[]> = named(
  "plan",
  recordForm("a plan", PLAN_FIELDS, (read): Item[] => {
    const { plan: name, doc } = read.values;
    const header = headerItems(read as unknown as RecordRead<typeof HEADER_FIELDS>);
    if (name === undefined) return [...header, brokenDocument("plan", read.node, read.reader)];
    const statements = [
      ...read.entries.flatMap((entry) => planStatements(entry, read.values)),
      ...brokenSections(read.brokenEntries, read.reader),
    ];
    const plan: PlanDecl = {
      kind: "Plan",
      span: read.node.span,
      ...(doc === undefined ? {} : { doc }),
      name,
      statements,
    };
    return [...header, plan];
  }),
);

function planStatements(entry: YamlEntry, values: RecordRead<typeof PLAN_FIELDS>["values"]): readonly PlanStatement[] {
  const span = entrySpan(entry);
  switch (entry.key) {
    case "input":
    case "output":
    case "state":
    case "memory":
    case "config":
    case "pools":
    case "tasks":
      return values[entry.key] ?? [];
    case "max parallel": {
      const count = values["max parallel"];
      return count === undefined ? [] : [{ kind: "PlanMaxParallel", span, count }];
    }
    case "order":
      return values.order === undefined ? [] : [{ kind: "PlanOrder", span, order: values.order }];
    case "on failure": {
      const mode = values["on failure"];
      return mode === undefined ? [] : [{ kind: "PlanOnFailure", span, mode }];
    }
    default:
      return [];
  }
}

export const testForm: Form<Item[]> = named(
  "test",
  recordForm("a test", TEST_FIELDS, ({ values, entries, node, reader, brokenEntries }): Item[] => {
    const { test: title, for: subject } = values;
    if (title === undefined || subject === undefined) return [brokenDocument("test", node, reader)];
    const items = entries.flatMap(({ key }): readonly TestItem[] => {
      const line = TEST_LINES.find((word) => word === key);
      return line === undefined ? [] : (values[line] ?? []);
    });
    for (const each of brokenSections(brokenEntries, reader)) items.push(each);
    const cases = values.with === undefined ? {} : { cases: values.with };
    const test: TestDecl = { kind: "Test", span: node.span, title, subject, ...cases, items };
    return [test];
  }),
);

const SECTIONS: Readonly<Record<string, Broken["of"] | undefined>> = Object.assign(Object.create(null), {
  input: "channel",
  output: "channel",
  state: "channel",
  memory: "channel",
  config: "channel",
  derive: "derive",
  nodes: "node",
  tasks: "task",
  edges: "edge",
});

/** The broken nodes for unreadable sections and for unknown keys, which may be misspelled sections. */
function brokenSections(entries: readonly YamlEntry[], reader: FormReader): Broken[] {
  return entries
    .filter(({ key }) => HEADERS[key] === undefined)
    .map((entry) => brokenAt(SECTIONS[entry.key] ?? "other", entry, reader));
}

/** The broken node for a document without a name. */
export function brokenDocument(of: Broken["of"], node: YamlMap, reader: FormReader): Broken {
  const { start, end } = node.span;
  return { kind: "Broken", span: node.span, of, names: wordsIn(reader.reading.text.slice(start, end)) };
}
