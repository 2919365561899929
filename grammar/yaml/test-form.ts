/** The lines of a test: data by name, strings in the language, or maps. */
import type { Expr, Identifier, StringLiteral, TestItem } from "../ast.ts";
import { wrongYamlShape } from "../../diagnostics/catalog/yaml.ts";
import { dataForm } from "./data-form.ts";
import { expressionForm, nameForm, readFragment, textForm } from "./fragment-forms.ts";
import {
  byKind,
  complain,
  listOf,
  mapForm,
  mapOf,
  optional,
  placeIn,
  recordForm,
  required,
  scalarForm,
  wrongKind,
  type Fields,
  type Form,
} from "./form.ts";
import { brokenAt } from "./graph-forms.ts";
import { durationForm } from "./small-forms.ts";
import { entrySpan } from "./yaml-tree.ts";

/** `draft = "a" then "b"`: a line of a test without its first word. The YAML key replaces that word. */
function lineForm(word: "given" | "mock" | "answer" | "signal", example: string): Form<TestItem> {
  return scalarForm(`a line such as \`${example}\``, { type: "string" }, (node, reader) =>
    typeof node.value === "string"
      ? readFragment("testItem", node, reader, { prefix: `${word} ` })
      : wrongKind(node, reader, `a line such as \`${example}\``),
  );
}

/** A map from names to values, or a list of lines and maps. */
function itemsForm(
  names: string,
  line: Form<TestItem>,
  map: Form<TestItem>,
  make: (name: Identifier, value: Expr, span: TestItem["span"]) => TestItem,
): Form<TestItem[]> {
  return byKind("a map from names to values, or a list of lines", {
    map: mapOf<Identifier, Expr, TestItem>(
      nameForm(names),
      dataForm,
      "a map from names to values",
      (name, value, entry) => make(name, value, entrySpan(entry)),
      (entry, reader) => brokenAt("other", entry, reader),
    ),
    list: listOf(byKind("a line or a map", { scalar: line, map }), "a list of lines"),
  });
}

const givenForm = itemsForm(
  "the name of an input",
  lineForm("given", "ticket = 1"),
  recordForm(
    "an input of a test",
    { channel: required(nameForm("the name of an input"), "The input."), value: required(dataForm, "Its value.") },
    ({ values: { channel, value }, node, isBroken }): TestItem | undefined =>
      channel === undefined || value === undefined || isBroken
        ? undefined
        : { kind: "Given", span: node.span, channel, value },
  ),
  (channel, value, span) => ({ kind: "Given", span, channel, value }),
);

const MOCK_FIELDS = {
  node: required(nameForm("the name of a node"), "The node that does not run."),
  returns: optional(dataForm, "Its result."),
  then: optional(listOf(dataForm, "a list of values"), "Its results when it runs again, in order."),
  fails: optional(textForm("a message"), "It fails with this message instead."),
  after: optional(durationForm, "How long each call takes, on the clock of the test."),
} as const satisfies Fields;

const mockForm = itemsForm(
  "the name of a node",
  lineForm("mock", "draft = 1 then 2"),
  recordForm("a mock", MOCK_FIELDS, ({ values, node: at, reader, isBroken }): TestItem | undefined => {
    const { node, returns, then, fails, after } = values;
    if (isBroken || node === undefined) return undefined;
    if ((returns === undefined) === (fails === undefined) || (fails !== undefined && then !== undefined)) {
      return complain(
        reader,
        wrongYamlShape(placeIn(reader, node.span), { message: "a mock has either `returns` (and `then`) or `fails`" }),
      );
    }
    const delay = after === undefined ? {} : { delay: after };
    if (fails !== undefined) return { kind: "MockFails", span: at.span, node, message: fails, ...delay };
    return returns === undefined
      ? undefined
      : { kind: "Mock", span: at.span, node, results: [returns, ...(then ?? [])], ...delay };
  }),
  (node, value, span) => ({ kind: "Mock", span, node, results: [value] }),
);

const answerForm = itemsForm(
  "the name of a node",
  lineForm("answer", 'approve = "send"'),
  recordForm(
    "an answer",
    {
      node: required(nameForm("the name of a node"), "The node that waits for an answer."),
      value: required(dataForm, "The answer."),
      then: optional(listOf(dataForm, "a list of values"), "The answers of later runs, in order."),
    },
    ({ values: { node, value, then }, node: at, isBroken }): TestItem | undefined =>
      node === undefined || value === undefined || isBroken
        ? undefined
        : { kind: "Answer", span: at.span, node, values: [value, ...(then ?? [])] },
  ),
  (node, value, span) => ({ kind: "Answer", span, node, values: [value] }),
);

const signalForm = itemsForm(
  "the name of a signal",
  lineForm("signal", "picked_up = true"),
  recordForm(
    "a signal",
    {
      name: required(nameForm("the name of a signal"), "The name that a node waits for."),
      value: required(dataForm, "Its value."),
      then: optional(listOf(dataForm, "a list of values"), "The values of later signals with the name, in order."),
    },
    ({ values: { name, value, then }, node: at, isBroken }): TestItem | undefined =>
      name === undefined || value === undefined || isBroken
        ? undefined
        : { kind: "Signal", span: at.span, name, values: [value, ...(then ?? [])] },
  ),
  (name, value, span) => ({ kind: "Signal", span, name, values: [value] }),
);

const stepForm: Form<Identifier[]> = byKind("the name of a node, or a list of names for one step", {
  scalar: mapForm(nameForm("the name of a node"), (name) => [name]),
  list: listOf(nameForm("the name of a node"), "a list of names for one step"),
});

const expectMapForm: Form<TestItem> = recordForm(
  "an expectation",
  {
    ran: optional(listOf(stepForm, "a list of steps"), "The nodes that ran, a step each."),
    status: optional(nameForm("a status"), "How the run ended."),
  },
  ({ values: { ran, status }, node, reader, isBroken }): TestItem | undefined => {
    if (isBroken) return undefined;
    if (ran !== undefined && ran.length > 0 && status === undefined)
      return { kind: "ExpectRan", span: node.span, steps: ran };
    if (status !== undefined && ran === undefined) return { kind: "ExpectStatus", span: node.span, status };
    return complain(
      reader,
      wrongYamlShape(placeIn(reader, node.span), {
        message: "an expectation has either `ran` with its steps or `status`",
      }),
    );
  },
);

const expectForm: Form<TestItem> = byKind('an expectation, such as `reply == "x"`', {
  scalar: mapForm(
    scalarForm('an expectation, such as `reply == "x"`', { type: ["string", "boolean"] }, (node, reader) =>
      typeof node.value === "string" || typeof node.value === "boolean"
        ? readFragment("expect", node, reader)
        : wrongKind(node, reader, 'an expectation, such as `reply == "x"`'),
    ),
    (item) => item,
  ),
  map: expectMapForm,
});

const expectsForm: Form<TestItem[]> = byKind("an expectation or a list of them", {
  scalar: mapForm(expectForm, (item) => [item]),
  map: mapForm(expectForm, (item) => [item]),
  list: listOf(expectForm, "a list of expectations"),
});

const casesForm: Form<Expr> = byKind("a list of cases, or an expression", { scalar: expressionForm(), list: dataForm });

export const TEST_FIELDS = {
  test: required<StringLiteral>(textForm("a title"), "The title of the test."),
  for: required(nameForm("the name of a graph or plan"), "The graph or plan under test."),
  with: optional(casesForm, "The cases of the test, a record each: it runs once for each case."),
  given: optional(givenForm, "The inputs, by name."),
  mock: optional(mockForm, "Results of nodes that do not run, by name."),
  answer: optional(answerForm, "Answers to nodes that ask, by name."),
  signal: optional(signalForm, "Values of signals that nodes wait for, by name."),
  expect: optional(expectsForm, "What must hold after the run."),
} as const satisfies Fields;

/** The keys of a test that hold lines. */
export const TEST_LINES = ["given", "mock", "answer", "signal", "expect"] as const;
