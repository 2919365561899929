/** Channels, nodes, tasks, limits and assertions. */
import type {
  AssertDecl,
  Broken,
  ChannelDecl,
  Count,
  DefaultsDecl,
  DeriveDecl,
  DocComment,
  Expr,
  Identifier,
  LimitDecl,
  NodeDecl,
  TaskDecl,
  TypeExpr,
} from "../ast.ts";
import { wrongYamlShape } from "../../diagnostics/catalog/yaml.ts";
import { CALL_FIELDS, callOf, eachField, forField, intoField } from "./call-form.ts";
import { dataForm } from "./data-form.ts";
import { docForm } from "./doc-form.ts";
import { expressionForm, fragmentForm, nameForm, namesForm } from "./fragment-forms.ts";
import {
  byKind,
  complain,
  mapForm,
  mapOf,
  named,
  oneOrMore,
  optional,
  placeIn,
  recordForm,
  required,
  spanOfKey,
  type Form,
  type FormReader,
  type RecordRead,
  type Fields,
} from "./form.ts";
import { POLICY_FIELDS, policiesOf } from "./policy-forms.ts";
import { amountForm, countForm, flagForm } from "./small-forms.ts";
import { entrySpan, type YamlEntry } from "./yaml-tree.ts";

export const typeForm = named(
  "type",
  fragmentForm("type", "a type, such as `string[]`", {
    help: 'types are written as in the text: `"a" | "b"`, `{ a: int }`',
  }),
);

/** The broken node for an unreadable declaration. Names in it are not reported. */
export function brokenAt(of: Broken["of"], entry: YamlEntry, reader: FormReader): Broken {
  const span = entrySpan(entry);
  return { kind: "Broken", span, of, names: wordsIn(reader.reading.text.slice(span.start, span.end)) };
}

const MOST_WORDS = 1000;

export function wordsIn(text: string): string[] {
  const words = new Set<string>();
  for (const [word] of text.matchAll(/[A-Za-z_]\w*/g)) {
    words.add(word);
    if (words.size >= MOST_WORDS) break;
  }
  return [...words];
}

// Channels --------------------------------------------------------------------------------------------

interface ChannelValue {
  readonly type: TypeExpr;
  readonly initial?: Expr;
  readonly reducer?: Identifier;
  readonly was?: readonly Identifier[];
  readonly doc?: DocComment;
}

const channelForm: Form<ChannelValue> = named(
  "channel",
  byKind("a type, or a map with `type`, `default`, `reduce`, `was` and `doc`", {
    scalar: mapForm(typeForm, (type): ChannelValue => ({ type })),
    map: recordForm(
      "a channel",
      {
        type: required(typeForm, "The type of the channel's value."),
        default: optional(dataForm, "The start value as plain data."),
        expr: optional(expressionForm(), "The start value as an expression, in place of `default`."),
        reduce: optional(
          nameForm("the name of a reducer"),
          "How a new value combines with the current one: `append`, `sum`, …",
        ),
        was: optional(namesForm(), "Earlier names of the channel."),
        doc: optional(docForm, "What the channel holds."),
      },
      (read): ChannelValue | undefined => {
        const { type, default: data, expr, reduce, was, doc } = read.values;
        if (type === undefined || read.isBroken) return undefined;
        if (data !== undefined && expr !== undefined) {
          return complain(
            read.reader,
            wrongYamlShape(placeIn(read.reader, spanOfKey(read, "expr")), {
              message: "`default` and `expr` exclude each other",
              label: "one of them is too many",
            }),
          );
        }
        const initial = data ?? expr;
        return {
          type,
          ...(initial === undefined ? {} : { initial }),
          ...(reduce === undefined ? {} : { reducer: reduce }),
          ...(was === undefined ? {} : { was }),
          ...(doc === undefined ? {} : { doc }),
        };
      },
    ),
  }),
);

/** The channels of one role, by name. */
export function channelsForm(role: ChannelDecl["role"]): Form<(ChannelDecl | Broken)[]> {
  return mapOf<Identifier, ChannelValue, ChannelDecl | Broken>(
    nameForm("a name for the channel"),
    channelForm,
    "a map from names to types",
    (name, value, entry) => ({ kind: "Channel", span: entrySpan(entry), role, name, ...value }),
    (entry, reader) => brokenAt("channel", entry, reader),
  );
}

export const CHANNEL_FIELDS = {
  input: optional(channelsForm("input"), "What a run is given, by name."),
  output: optional(channelsForm("output"), "The result of a run, by name."),
  state: optional(channelsForm("state"), "Values in between, by name."),
  memory: optional(channelsForm("memory"), "Values that are kept from one run of a thread to the next, by name."),
  config: optional(channelsForm("config"), "Values that a run supplies to all graphs it calls, by name."),
} as const satisfies Fields;

// Derived names ---------------------------------------------------------------------------------------

type DeriveValue = Pick<DeriveDecl, "value" | "doc">;

const deriveValueForm: Form<DeriveValue> = byKind("an expression, or a map with `expr` and `doc`", {
  scalar: mapForm(expressionForm(), (value): DeriveValue => ({ value })),
  map: recordForm(
    "a derived name",
    { expr: required(expressionForm(), "The expression."), doc: optional(docForm, "What the name means.") },
    ({ values: { expr, doc }, isBroken }): DeriveValue | undefined =>
      expr === undefined || isBroken ? undefined : { value: expr, ...(doc === undefined ? {} : { doc }) },
  ),
});

export const deriveForm: Form<(DeriveDecl | Broken)[]> = mapOf<Identifier, DeriveValue, DeriveDecl | Broken>(
  nameForm("a name for the expression"),
  deriveValueForm,
  "a map from names to expressions",
  (name, value, entry) => ({ kind: "Derive", span: entrySpan(entry), name, ...value }),
  (entry, reader) => brokenAt("derive", entry, reader),
);

// Nodes and tasks -------------------------------------------------------------------------------------

type NodeValue = Omit<NodeDecl, "kind" | "span" | "name">;

const nodeValueForm: Form<NodeValue> = named(
  "node",
  byKind("an expression, or a map with the keys of a node", {
    scalar: mapForm(expressionForm(), (call): NodeValue => ({ call, policies: [] })),
    map: recordForm(
      "a node",
      {
        doc: optional(docForm, "What the node does."),
        ...CALL_FIELDS,
        for: forField,
        into: intoField,
        ...POLICY_FIELDS,
      },
      (read): NodeValue | undefined => {
        const call = callOf(read, "a node");
        const policies = policiesOf(read);
        if (call === undefined || read.isBroken) return undefined;
        const { doc, for: each, into: output } = read.values;
        return {
          ...(doc === undefined ? {} : { doc }),
          call,
          ...(each === undefined ? {} : { each }),
          ...(output === undefined ? {} : { output }),
          policies,
        };
      },
    ),
  }),
);

export const nodesForm: Form<(NodeDecl | Broken)[]> = mapOf<Identifier, NodeValue, NodeDecl | Broken>(
  nameForm("a name for the node"),
  nodeValueForm,
  "a map from names to nodes",
  (name, value, entry) => ({ kind: "Node", span: entrySpan(entry), name, ...value }),
  (entry, reader) => brokenAt("node", entry, reader),
);

type TaskValue = Omit<TaskDecl, "kind" | "span" | "name">;

const TASK_FIELDS = {
  doc: optional(docForm, "What the task does."),
  ...CALL_FIELDS,
  for: eachField,
  after: optional(namesForm(), "Tasks that must all be done before."),
  "after any": optional(namesForm(), "Tasks of which one must be done before."),
  "after done": optional(namesForm(), "Tasks that must all have ended before, however they ended."),
  "after failed": optional(namesForm(), "Tasks that must all have ended before, one of them as failed."),
  finally: optional(flagForm, "The task runs when all other tasks have ended, however they ended."),
  when: optional(expressionForm(), "The task is skipped where this does not hold."),
  into: intoField,
  ...POLICY_FIELDS,
} as const satisfies Fields;

const taskValueForm: Form<TaskValue> = named(
  "task",
  byKind("an expression, or a map with the keys of a task", {
    scalar: mapForm(expressionForm(), (call): TaskValue => ({ call, after: [], trigger: "all", policies: [] })),
    map: recordForm("a task", TASK_FIELDS, (read): TaskValue | undefined => {
      const call = callOf(read, "a task");
      const policies = policiesOf(read);
      const dependencies = dependenciesOf(read);
      if (call === undefined || dependencies === undefined || read.isBroken) return undefined;
      const { doc, for: each, when: condition, into: output, finally: isFinal } = read.values;
      return {
        ...(doc === undefined ? {} : { doc }),
        call,
        ...(each === undefined ? {} : { each }),
        ...dependencies,
        ...(isFinal === true ? { isFinal } : {}),
        ...(condition === undefined ? {} : { condition }),
        ...(output === undefined ? {} : { output }),
        policies,
      };
    }),
  }),
);

function dependenciesOf({
  values,
  entries,
  reader,
}: RecordRead<typeof TASK_FIELDS>): Pick<TaskDecl, "after" | "trigger" | "needs"> | undefined {
  const keys = entries.filter(({ key }) => key.startsWith("after"));
  const [first, second] = keys;
  if (first !== undefined && second !== undefined && keys.some(({ key }) => key === "after any")) {
    return complain(
      reader,
      wrongYamlShape(placeIn(reader, second.keyNode.span), {
        message: `\`${first.key}\` and \`${second.key}\` exclude each other`,
        label: "one of them is too many",
        help: "add a task in between that waits for the others",
      }),
    );
  }
  if (values["after any"] !== undefined) return { after: values["after any"], trigger: "any" };
  // In the order of the file. The other spelling has no word for `after` alone, so these names come first.
  const present = keys.map(({ key }) => NEEDS[key as keyof typeof NEEDS]);
  const groups = [...present.filter((need) => need === "all"), ...present.filter((need) => need !== "all")].map(
    (need) => [need, values[KEYS[need]] ?? []] as const,
  );
  const after = groups.flatMap(([, names]) => names);
  if (groups.length < 2) return { after, trigger: groups[0]?.[0] ?? "all" };
  return { after, trigger: "mixed", needs: groups.flatMap(([need, names]) => names.map(() => need)) };
}

const NEEDS = { after: "all", "after done": "done", "after failed": "failed" } as const;
const KEYS = { all: "after", done: "after done", failed: "after failed" } as const;

export const tasksForm: Form<(TaskDecl | Broken)[]> = mapOf<Identifier, TaskValue, TaskDecl | Broken>(
  nameForm("a name for the task"),
  taskValueForm,
  "a map from names to tasks",
  (name, value, entry) => ({ kind: "Task", span: entrySpan(entry), name, ...value }),
  (entry, reader) => brokenAt("task", entry, reader),
);

// Limits and assertions -------------------------------------------------------------------------------

function limitForm(what: string, form: Form<Count>): Form<Count | "none"> {
  return {
    expected: `${what}, or \`none\``,
    schema: (definitions) => ({ anyOf: [form.schema(definitions), { const: "none" }] }),
    read: (node, reader) => (node.kind === "scalar" && node.value === "none" ? "none" : form.read(node, reader)),
  };
}

const LIMIT_FIELDS = {
  steps: optional(
    limitForm("a number of steps", countForm("a number of steps, or `none`")),
    "The most steps of one run, or `none`.",
  ),
  tokens: optional(
    limitForm("a number of tokens", countForm("a number of tokens, or `none`")),
    "The most tokens that one run may use, or `none`.",
  ),
  cost: optional(limitForm("a cost", amountForm("a cost, or `none`")), "The highest cost of one run, or `none`."),
  "max parallel": optional(countForm("a number of tasks"), "The most tasks at the same time."),
} as const satisfies Fields;

export const limitsForm: Form<LimitDecl[]> = recordForm("`limits`", LIMIT_FIELDS, ({ values, entries }): LimitDecl[] =>
  entries.flatMap((entry): LimitDecl[] => {
    const key = entry.key as keyof typeof LIMIT_FIELDS;
    const value = values[key];
    if (value === undefined) return [];
    return [{ kind: "Limit", span: entrySpan(entry), of: key === "max parallel" ? "parallel" : key, value }];
  }),
);

export const defaultsForm: Form<Omit<DefaultsDecl, "span">> = recordForm(
  "`defaults`",
  POLICY_FIELDS,
  (read): Omit<DefaultsDecl, "span"> => ({ kind: "Defaults", policies: policiesOf(read) }),
);

export const assertsForm: Form<AssertDecl[]> = oneOrMore(
  fragmentForm("assert", "an assertion, such as `approve before end`", {
    help: "the assertions are `a before b`, `a before each b`, `once a`, `eventually a`, `never a with b` and `x > 3 at a`",
  }),
  "a list of assertions",
);
