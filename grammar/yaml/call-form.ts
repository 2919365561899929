/** The call of a node or task: `call` with `args` and `with`, or `expr`. */
import { wrongYamlShape } from "../../diagnostics/catalog/yaml.ts";
import { coverSpans } from "../../diagnostics/source.ts";
import type { Argument, Expr, ForClause, Identifier, Matrix, MatrixAxis, Output, OutputField } from "../ast.ts";
import { dataForm, needsQuotes } from "./data-form.ts";
import { expressionForm, fragmentForm, nameForm, readFragment } from "./fragment-forms.ts";
import {
  byKind,
  complain,
  identifierAt,
  listOf,
  mapForm,
  optional,
  placeIn,
  scalarForm,
  wrongKind,
  type Field,
  type Fields,
  type Form,
  type RecordRead,
} from "./form.ts";
import { entrySpan, type YamlEntry } from "./yaml-tree.ts";

const ARGUMENT_HELP = "arguments are expressions; plain text goes under `with`, or needs its own quotes: '\"text\"'";

/** An argument by position, or a map of arguments by name. */
const listedArguments: Form<Argument[]> = byKind("an expression, or a map of expressions by name", {
  scalar: mapForm(expressionForm(ARGUMENT_HELP), (value): Argument[] => [
    { kind: "Argument", span: value.span, value },
  ]),
  map: namedArguments(expressionForm(ARGUMENT_HELP), "a map of expressions"),
});

/** `[ticket, notes]`, `{ prompt: "`…`" }`, or both: `[question, { details: ticket }]`. */
const argumentsForm: Form<Argument[]> = byKind(
  "a list or a map of expressions",
  {
    list: mapForm(listOf(listedArguments, "a list of expressions"), (values) => values.flat()),
    map: namedArguments(expressionForm(ARGUMENT_HELP), "a map of expressions"),
  },
  "one argument is a list of one: `args: ['\"text\"']`",
);

/** Arguments by name. */
function namedArguments(values: Form<Expr>, expected: string): Form<Argument[]> {
  return {
    expected,
    schema: (definitions) => ({ type: "object", additionalProperties: values.schema(definitions) }),
    read(node, reader) {
      if (node.kind !== "map") {
        return wrongKind(
          node,
          reader,
          expected,
          'an argument has a name: `{ prompt: "text" }`; a list is written under `args`',
        );
      }
      const args: Argument[] = [];
      for (const entry of node.entries) {
        const value = values.read(entry.value, { ...reader, key: entry.key });
        if (needsQuotes(entry.key)) {
          return wrongKind(entry.keyNode, { ...reader, key: undefined }, "the name of an argument");
        }
        if (value === undefined) return undefined;
        args.push({
          kind: "Argument",
          span: entrySpan(entry),
          name: identifierAt(entry.key, entry.keyNode.span),
          value,
        });
      }
      return args;
    },
  };
}

export const CALL_FIELDS = {
  call: optional(
    nameForm("the name of a function, a built-in node or a graph"),
    "The function, built-in node or graph to call.",
  ),
  args: optional(argumentsForm, "Arguments as expressions: a list, a map by name, or a list that ends in such a map."),
  with: optional(namedArguments(dataForm, "a map of values by name"), "Arguments by name as plain data."),
  expr: optional(expressionForm(), "A pure expression, in place of a call."),
} as const satisfies Fields;

/** The call of a node or task that has been read; `undefined` after reporting. */
export function callOf(read: RecordRead<typeof CALL_FIELDS & Fields>, what: string): Expr | undefined {
  const values = read.values as RecordRead<typeof CALL_FIELDS>["values"];
  const { node, reader } = read;
  const has = (key: string) => node.entries.find((entry) => entry.key === key);
  const call = has("call");
  const expr = has("expr");
  const extra = has("args") ?? has("with");
  if (call === undefined && expr === undefined) {
    const at = extra?.keyNode.span ?? node.entries[0]?.keyNode.span ?? node.span;
    return complain(
      reader,
      wrongYamlShape(placeIn(reader, at), {
        message: `${what} needs \`call\` or \`expr\``,
        label: "neither is here",
        help: "`call` names a function, a built-in node or a graph; `expr` is an expression",
      }),
    );
  }
  const rival = expr === undefined ? undefined : (call ?? extra);
  if (expr !== undefined && rival !== undefined) {
    const message = `\`${rival.key}\` and \`expr\` exclude each other`;
    return complain(
      reader,
      wrongYamlShape(placeIn(reader, expr.keyNode.span), { message, label: "one of them is too many" }),
    );
  }
  if (values.expr !== undefined) return values.expr;
  if (values.call === undefined) return undefined;
  return callExpression(values.call, read);
}

/** Positional and named arguments in the order of their keys. */
function callExpression(callee: Identifier, read: RecordRead<typeof CALL_FIELDS & Fields>): Expr {
  const values = read.values as RecordRead<typeof CALL_FIELDS>["values"];
  const args: Argument[] = [];
  let { span } = callee;
  for (const entry of read.entries) {
    if (entry.key !== "args" && entry.key !== "with") continue;
    for (const each of values[entry.key] ?? []) args.push(each);
    span = coverSpans(span, entrySpan(entry));
  }
  return { kind: "Call", span, callee, args };
}

// The clauses around a call ---------------------------------------------------------------------------

const ITEM_IN = /^\s*([A-Za-z_]\w*)\s+in(?!\w)/;

/** `doc, index in documents if doc.isOpen` */
const forForm: Form<ForClause> = scalarForm(
  "`ITEM in LIST`",
  { type: "string", pattern: "^\\s*[A-Za-z_][A-Za-z0-9_]*\\s*(,\\s*[A-Za-z_][A-Za-z0-9_]*\\s+|\\s)in\\s" },
  (node, reader) => {
    if (typeof node.value !== "string" || !/^\s*[A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)?\s+in(?!\w)/.test(node.value)) {
      return wrongKind(node, reader, "`ITEM in LIST`", "for example `for: doc in documents`");
    }
    const clause = readFragment("forClause", node, reader, { prefix: "for " });
    return clause === undefined ? undefined : { ...clause, span: node.span };
  },
);

/** `version in ["20", "22"]` */
const axisForm: Form<MatrixAxis> = scalarForm(
  "`ITEM in LIST`",
  { type: "string", pattern: "^\\s*[A-Za-z_][A-Za-z0-9_]*\\s+in\\s" },
  (node, reader) => {
    const head = typeof node.value === "string" ? ITEM_IN.exec(node.value) : null;
    if (head === null) return wrongKind(node, reader, "`ITEM in LIST`", "for example `for: doc in documents`");
    const item = head[1] ?? "";
    const start = head[0].indexOf(item);
    const name = readFragment("name", node, reader, { from: start, to: start + item.length });
    const list = readFragment("expression", node, reader, { from: head[0].length });
    return name === undefined || list === undefined ? undefined : { item: name, list };
  },
);

/** `version in ["20", "22"]`, or a list of such texts. */
const eachForm: Form<Matrix> = byKind("`ITEM in LIST`", {
  scalar: axisForm,
  list: mapForm(listOf(axisForm, "a list of `ITEM in LIST`"), ([first, ...others]): Matrix | undefined =>
    first === undefined ? undefined : others.length === 0 ? first : { ...first, others },
  ),
});

function outputField(entry: YamlEntry, channel: Identifier): OutputField {
  const field = { kind: "Key", span: entry.keyNode.span, name: entry.key, quoted: needsQuotes(entry.key) } as const;
  return { kind: "OutputField", span: entrySpan(entry), field, channel };
}

const fieldsByName: Form<Output> = {
  expected: "a map from fields to channels",
  schema: (definitions) => ({ type: "object", additionalProperties: nameForm().schema(definitions) }),
  read(node, reader) {
    if (node.kind !== "map") return wrongKind(node, reader, "a map from fields to channels");
    const fields: OutputField[] = [];
    for (const entry of node.entries) {
      const channel = nameForm("the name of a channel").read(entry.value, { ...reader, key: entry.key });
      if (channel === undefined) return undefined;
      fields.push(outputField(entry, channel));
    }
    return { kind: "FieldsOutput", span: node.span, fields };
  },
};

const fieldsInList: Form<Output> = mapForm(
  listOf(nameForm("the name of a channel"), "a list of channels"),
  (names, node) => ({
    kind: "FieldsOutput",
    span: node.span,
    fields: names.map(({ name, span }): OutputField => ({
      kind: "OutputField",
      span,
      field: { kind: "Key", span, name, quoted: false },
      channel: identifierAt(name, span),
    })),
  }),
);

/** `notes`, `{ reply: reply, score: points }`, `[reply, score]`, or `"{ reply, score: points }"`. */
const outputForm: Form<Output> = byKind("a channel, or a map from fields to channels", {
  scalar: fragmentForm("output", "a channel, or a map from fields to channels"),
  list: fieldsInList,
  map: fieldsByName,
});

export const forField: Field<ForClause> = optional(
  forForm,
  "Run one task an item: `ITEM in LIST`, `ITEM, INDEX in LIST if CONDITION`.",
);
export const eachField: Field<Matrix> = optional(
  eachForm,
  "Make one task of each value: `ITEM in LIST`, or a list of these for all combinations.",
);
export const intoField: Field<Output> = optional(
  outputForm,
  "The channel, or the fields and channels, that take the result.",
);
