/** The policies of nodes and tasks. Each policy has its own key. */
import { wrongYamlShape } from "../../diagnostics/catalog/yaml.ts";
import { coverSpans, type Span } from "../../diagnostics/source.ts";
import type { Count, Duration, Expr, Identifier, Policy, StringLiteral, UndoPolicy } from "../ast.ts";
import { CALL_FIELDS, callOf } from "./call-form.ts";
import { dataForm } from "./data-form.ts";
import { durationForm, countForm, choiceForm, flagForm } from "./small-forms.ts";
import { expressionForm, fragmentForm, nameForm, namesForm, textForm } from "./fragment-forms.ts";
import {
  byKind,
  complain,
  listOf,
  mapForm,
  mapOf,
  oneOrMore,
  optional,
  placeIn,
  recordForm,
  wrongKind,
  type Fields,
  type Form,
  type RecordRead,
} from "./form.ts";
import { entrySpan } from "./yaml-tree.ts";

interface CacheValue {
  readonly isOn: boolean;
  readonly duration?: Duration;
  readonly inputs?: readonly StringLiteral[];
  readonly variables?: readonly StringLiteral[];
  readonly tools?: readonly StringLiteral[];
}

const pathsForm = oneOrMore(textForm("a path"), "a path or a list of paths");

const variablesForm = oneOrMore(textForm("the name of a variable"), "a variable or a list of variables");
const toolsForm = oneOrMore(textForm("a command"), "a command or a list of commands");

const cacheForm: Form<CacheValue> = byKind("true, a duration, or a map with `for`, `inputs`, `variables` and `tools`", {
  scalar: {
    expected: "true or a duration",
    schema: (definitions) => ({ anyOf: [{ type: "boolean" }, durationForm.schema(definitions)] }),
    read: (node, reader) =>
      node.kind === "scalar" && typeof node.value === "boolean"
        ? { isOn: node.value }
        : mapForm(durationForm, (duration) => ({ isOn: true, duration })).read(node, reader),
  },
  map: recordForm(
    "`cache`",
    {
      for: optional(durationForm, "How long a result is used again."),
      inputs: optional(pathsForm, "Files whose contents a result depends on."),
      variables: optional(variablesForm, "Environment variables that a result depends on."),
      tools: optional(toolsForm, "Commands whose output a result depends on: `node --version`."),
    },
    ({ values }) => ({
      isOn: true,
      ...(values.for === undefined ? {} : { duration: values.for }),
      ...(values.inputs === undefined ? {} : { inputs: values.inputs }),
      ...(values.variables === undefined ? {} : { variables: values.variables }),
      ...(values.tools === undefined ? {} : { tools: values.tools }),
    }),
  ),
});

interface PoolValue {
  readonly name: Identifier;
  readonly count?: Count;
  readonly span: Span;
}

const poolName: Form<PoolValue[]> = mapForm(nameForm("the name of a pool"), (name) => [{ name, span: name.span }]);
const poolPlaces: Form<PoolValue[]> = mapForm(
  mapOf<Identifier, Count, PoolValue | undefined>(
    nameForm("the name of a pool"),
    countForm("a number of places"),
    "a map from pools to places",
    (name, count, entry) => ({ name, count, span: entrySpan(entry) }),
    () => undefined,
  ),
  (pools) => {
    const read = pools.filter((pool) => pool !== undefined);
    return read.length === pools.length ? read : undefined;
  },
);
const onePool: Form<PoolValue[]> = byKind("the name of a pool, or a map from pools to places", {
  scalar: poolName,
  map: poolPlaces,
});
const poolsForm: Form<PoolValue[]> = byKind("the name of a pool, or a map from pools to places", {
  scalar: poolName,
  map: poolPlaces,
  list: mapForm(listOf(onePool, "a list of pools"), (pools) => pools.flat()),
});

const backoffForm = fragmentForm("backoff", "a duration or a range of them, such as `200ms..5s`");

const ATTEMPT_FIELDS = {
  tries: optional(countForm("a number of attempts"), "Attempts in all."),
  backoff: optional(backoffForm, "The wait before another attempt: `200ms`, or `200ms..5s`. Needs `tries`."),
  timeout: optional(durationForm, "The longest that one attempt may take."),
} as const satisfies Fields;

interface UndoValue {
  readonly call: Expr;
  readonly policies: readonly UndoPolicy[];
}

const undoForm: Form<UndoValue> = byKind("a call, or a map with `call`, `args` and policies", {
  scalar: mapForm(expressionForm(), (call): UndoValue => ({ call, policies: [] })),
  map: recordForm("`undo`", { ...CALL_FIELDS, ...ATTEMPT_FIELDS }, (read): UndoValue | undefined => {
    const call = callOf(read, "an `undo`");
    const values = { ...read.values } as unknown as RecordRead<typeof POLICY_FIELDS>["values"];
    const policies = read.entries.flatMap((entry) => readPolicy(entry.key, entrySpan(entry), values, read));
    return call === undefined || read.isBroken ? undefined : { call, policies: policies.filter(isUndoPolicy) };
  }),
});

function isUndoPolicy(policy: Policy): policy is UndoPolicy {
  return policy.kind === "Tries" || policy.kind === "Timeout";
}

const envForm: Form<Expr> = byKind("a map of values, or an expression", { scalar: expressionForm(), map: dataForm });

const FOLDER_HELP = "the folder is an expression; plain text needs its own quotes: '\"packages/web\"'";

/** `packages/web` without its own quotes would be a division. */
const folderExpression = expressionForm(FOLDER_HELP);
const folderForm: Form<Expr> = {
  ...folderExpression,
  read: (node, reader) =>
    node.kind === "scalar" && /^\.{0,2}[\w@-]*(?:\/[\w.@-]+)+\/?$|^\.{1,2}\/?$/.test(String(node.value))
      ? wrongKind(node, reader, "an expression", FOLDER_HELP)
      : folderExpression.read(node, reader),
};

export const POLICY_FIELDS = {
  ...ATTEMPT_FIELDS,
  within: optional(durationForm, "The deadline of `ask` or `receive`, from the start of the wait."),
  cache: optional(cacheForm, "Use an earlier result for the same arguments: true, or for how long."),
  "max parallel": optional(countForm("a number of tasks"), "How many tasks of this node run at the same time."),
  "allow failure": optional(
    flagForm,
    "Of a `for` node: if items fail, the results of the other items are used. Of a task: tasks behind it start even if it fails.",
  ),
  waits: optional(namesForm(), "Nodes that must all have signalled before this one runs."),
  goes: optional(namesForm(), "Where `goto` and `send` may lead."),
  was: optional(namesForm(), "Earlier names of the node."),
  pause: optional(oneOrMore(choiceForm(["before", "after"]), "`before` or `after`"), "Wait for a person."),
  idempotent: optional(flagForm, "Running it twice does no harm."),
  undo: optional(undoForm, "The call that undoes a result of the node when the run rolls back."),
  touches: optional(pathsForm, "Paths that it changes."),
  reads: optional(pathsForm, "Paths that it only reads."),
  alone: optional(flagForm, "Nothing else may run beside it."),
  "done when": optional(
    oneOrMore(expressionForm(), "a check or a list of checks"),
    "Checks that must pass after an attempt.",
  ),
  pool: optional(poolsForm, "Pools that it takes places of."),
  estimate: optional(durationForm, "How long it is expected to take."),
  cwd: optional(folderForm, "The folder of its commands, relative to the root: an expression."),
  env: optional(envForm, "Further environment variables of its commands: a map of plain data, or an expression."),
  worktree: optional(
    flagForm,
    "The task has a git worktree of its own. What it has changed is merged when its checks pass.",
  ),
  outputs: optional(pathsForm, "Files that the cache stores with the result of the task, and restores with it."),
  interactive: optional(flagForm, "The task's command has the terminal: it reads what a person types."),
} as const satisfies Fields;

/** The policies of a node or task that has been read, in the order of their keys. */
export function policiesOf(read: RecordRead<typeof POLICY_FIELDS & Fields>): Policy[] {
  const values = read.values as RecordRead<typeof POLICY_FIELDS>["values"];
  return read.entries.flatMap((entry) => readPolicy(entry.key, entrySpan(entry), values, read));
}

function readPolicy(
  key: string,
  span: Span,
  values: RecordRead<typeof POLICY_FIELDS>["values"],
  read: RecordRead<Fields>,
): Policy[] {
  switch (key) {
    case "tries": {
      if (values.tries === undefined) return [];
      const { backoff } = values;
      if (backoff === undefined) return [{ kind: "Tries", span, attempts: values.tries }];
      const backoffEntry = read.entries.find((entry) => entry.key === "backoff");
      const whole = backoffEntry === undefined ? span : coverSpans(span, entrySpan(backoffEntry));
      return [{ kind: "Tries", span: whole, attempts: values.tries, backoff }];
    }
    case "backoff":
      if (values.tries === undefined && !read.node.entries.some((entry) => entry.key === "tries")) {
        complain(
          read.reader,
          wrongYamlShape(placeIn(read.reader, span), {
            message: "`backoff` needs `tries`",
            label: "nothing is retried",
            help: "add the number of attempts: `tries: 3`",
          }),
        );
      }
      return [];
    case "timeout":
      return values.timeout === undefined ? [] : [{ kind: "Timeout", span, duration: values.timeout }];
    case "within":
      return values.within === undefined ? [] : [{ kind: "Within", span, duration: values.within }];
    case "cache": {
      if (values.cache === undefined || !values.cache.isOn) return [];
      const { duration, inputs, variables, tools } = values.cache;
      return [
        {
          kind: "Cache",
          span,
          ...(duration === undefined ? {} : { duration }),
          ...(inputs === undefined ? {} : { inputs }),
          ...(variables === undefined ? {} : { variables }),
          ...(tools === undefined ? {} : { tools }),
        },
      ];
    }
    case "max parallel": {
      const count = values["max parallel"];
      return count === undefined ? [] : [{ kind: "MaxParallel", span, count }];
    }
    case "allow failure":
      return values["allow failure"] === true ? [{ kind: "AllowFailure", span }] : [];
    case "waits":
      return values.waits === undefined ? [] : [{ kind: "Waits", span, nodes: values.waits }];
    case "goes":
      return values.goes === undefined ? [] : [{ kind: "Goes", span, nodes: values.goes }];
    case "was":
      return values.was === undefined ? [] : [{ kind: "Was", span, names: values.was }];
    case "pause":
      return (values.pause ?? []).map((when) => ({ kind: "Pause", span, when }));
    case "idempotent":
      return values.idempotent === true ? [{ kind: "Idempotent", span }] : [];
    case "undo":
      return values.undo === undefined ? [] : [{ kind: "Undo", span, ...values.undo }];
    case "touches":
      return values.touches === undefined ? [] : [{ kind: "Touches", span, mode: "write", paths: values.touches }];
    case "reads":
      return values.reads === undefined ? [] : [{ kind: "Touches", span, mode: "read", paths: values.reads }];
    case "alone":
      return values.alone === true ? [{ kind: "Alone", span }] : [];
    case "done when":
      return (values["done when"] ?? []).map((check) => ({ kind: "DoneWhen", span: check.span, check }));
    case "pool":
      return (values.pool ?? []).map(({ name, count, span: at }) => ({
        kind: "Pool",
        span: at,
        name,
        ...(count === undefined ? {} : { count }),
      }));
    case "estimate":
      return values.estimate === undefined ? [] : [{ kind: "Estimate", span, duration: values.estimate }];
    case "cwd":
      return values.cwd === undefined ? [] : [{ kind: "Cwd", span, path: values.cwd }];
    case "env":
      return values.env === undefined ? [] : [{ kind: "Env", span, values: values.env }];
    case "worktree":
      return values.worktree === true ? [{ kind: "Worktree", span }] : [];
    case "outputs":
      return values.outputs === undefined ? [] : [{ kind: "Outputs", span, paths: values.outputs }];
    case "interactive":
      return values.interactive === true ? [{ kind: "Interactive", span }] : [];
    default:
      return [];
  }
}
