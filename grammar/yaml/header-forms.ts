/** Declarations of a document besides its graph, plan or test: imports, types, secrets. */
import { wrongYamlShape } from "../../diagnostics/catalog/yaml.ts";
import type {
  Broken,
  ConstDecl,
  DocComment,
  Identifier,
  ImportDecl,
  ImportName,
  SecretDecl,
  TypeDecl,
  TypeExpr,
} from "../ast.ts";
import { docForm } from "./doc-form.ts";
import { dataForm } from "./data-form.ts";
import { expressionForm, fragmentForm, nameForm, textForm } from "./fragment-forms.ts";
import {
  byKind,
  complain,
  listOf,
  mapForm,
  mapOf,
  named,
  oneOrMore,
  optional,
  placeIn,
  recordForm,
  required,
  type Fields,
  type Form,
} from "./form.ts";
import { brokenAt, typeForm } from "./graph-forms.ts";
import { entrySpan } from "./yaml-tree.ts";

const importNameForm: Form<ImportName> = fragmentForm("importName", "a name to import", {
  help: "names are imported as `draft`, `type Ticket` or `rank as rankDocs`",
});

const importNamesForm: Form<ImportName[]> = byKind("a name or a list of names to import", {
  scalar: mapForm(importNameForm, (name) => [name]),
  list: listOf(importNameForm, "a list of names to import"),
});

const importsForm: Form<(ImportDecl | Broken)[]> = mapOf<ImportDecl["from"], ImportName[], ImportDecl | Broken>(
  textForm("the path of a module"),
  importNamesForm,
  "a map from modules to lists of names",
  (from, names, entry) => ({ kind: "Import", span: entrySpan(entry), names, from }),
  (entry, reader) => brokenAt("import", entry, reader),
);

interface TypeValue {
  readonly type: TypeExpr;
  readonly doc?: DocComment;
}

const typeValueForm: Form<TypeValue> = byKind("a type, or a map with `type` and `doc`", {
  scalar: mapForm(typeForm, (type): TypeValue => ({ type })),
  map: recordForm(
    "a type's map",
    { type: required(typeForm, "The type."), doc: optional(docForm, "What the type is.") },
    ({ values: { type, doc }, isBroken }): TypeValue | undefined =>
      type === undefined || isBroken ? undefined : { type, ...(doc === undefined ? {} : { doc }) },
    'a record type is written as in the text, in quotes: `"{ role: string }"`',
  ),
});

const typesForm: Form<(TypeDecl | Broken)[]> = mapOf<Identifier, TypeValue, TypeDecl | Broken>(
  nameForm("a name for the type"),
  typeValueForm,
  "a map from names to types",
  (name, value, entry) => ({ kind: "Type", span: entrySpan(entry), name, ...value }),
  (entry, reader) => brokenAt("type", entry, reader),
);

const secretName = nameForm("the name of an environment variable");

const secretForm: Form<SecretDecl> = byKind("the name of an environment variable", {
  scalar: mapForm(secretName, (name): SecretDecl => ({ kind: "Secret", span: name.span, name })),
  map: recordForm(
    "a secret",
    { name: required(secretName, "The environment variable."), doc: optional(docForm, "What the secret is for.") },
    ({ values: { name, doc }, node, isBroken }): SecretDecl | undefined =>
      name === undefined || isBroken
        ? undefined
        : { kind: "Secret", span: node.span, name, ...(doc === undefined ? {} : { doc }) },
  ),
});

type ConstValue = Pick<ConstDecl, "value" | "doc">;

const constValueForm: Form<ConstValue> = byKind("an expression, or a map with `value` or `expr`, and `doc`", {
  scalar: mapForm(expressionForm(), (value): ConstValue => ({ value })),
  map: recordForm(
    "a constant",
    {
      value: optional(dataForm, "The value as plain data."),
      expr: optional(expressionForm(), "The value as an expression, in place of `value`."),
      doc: optional(docForm, "What the constant means."),
    },
    (read): ConstValue | undefined => {
      const { value: data, expr, doc } = read.values;
      if (read.isBroken) return undefined;
      const value = data ?? expr;
      if (value === undefined || (data !== undefined && expr !== undefined)) {
        return complain(
          read.reader,
          wrongYamlShape(placeIn(read.reader, read.node.span), {
            message: "a constant has either `value` or `expr`",
            label: value === undefined ? "both are missing" : "one of them is too many",
          }),
        );
      }
      return { value, ...(doc === undefined ? {} : { doc }) };
    },
  ),
});

const constantsForm: Form<(ConstDecl | Broken)[]> = mapOf<Identifier, ConstValue, ConstDecl | Broken>(
  nameForm("a name for the constant"),
  constValueForm,
  "a map from names to values",
  (name, value, entry) => ({ kind: "Const", span: entrySpan(entry), name, ...value }),
  (entry, reader) => brokenAt("const", entry, reader),
);

export const HEADER_FIELDS = {
  imports: optional(named("imports", importsForm), "Modules and graph files, and what to import from them."),
  types: optional(named("types", typesForm), "Types by name."),
  secrets: optional(
    named("secrets", oneOrMore(secretForm, "the name of an environment variable, or a list of them")),
    "Environment variables that hold secrets.",
  ),
  constants: optional(named("constants", constantsForm), "Constants by name."),
} as const satisfies Fields;
