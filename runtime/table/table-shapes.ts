/**
 * The shapes of routing tables and plan tables: every field of `table.ts` and `plan-table.ts`, and which of them are indexes into which
 * list. Rules that join several fields are in `graph-rules.ts` and `plan-rules.ts`.
 */
import type { Expression, SpreadPart } from "../expression/expression.ts";
import { MAX_EXPRESSION_DEPTH } from "../expression/limits.ts";
import { EFFECT_PATTERN, type Effect } from "./effects.ts";
import { PLAN_FORMAT, PLAN_VERSION, type PlanTable, type TaskSpec } from "./plan-table.ts";
import {
  AMOUNT,
  any,
  calledTable,
  COUNT,
  either,
  index,
  indexOr,
  list,
  namedList,
  nested,
  nullable,
  oneOf,
  optional,
  ORDINAL,
  record,
  SCALAR,
  SCALAR_OR_NULL,
  text,
  TEXT,
  textOr,
  variants,
  YES,
  type Shape,
} from "./shape.ts";
import {
  END,
  ROLLBACK,
  TABLE_FORMAT,
  TABLE_VERSION,
  type AssertionSpec,
  type BarrierSpec,
  type CallSpec,
  type ChannelSpec,
  type Digest,
  type ErrorRouteSpec,
  type FunctionSpec,
  type NamedArgument,
  type NodeSpec,
  type OutputField,
  type OutputSpec,
  type PlanCallSpec,
  type ReducerSpec,
  type RouteSpec,
  type Table,
  type TableDebug,
  type TargetSpec,
  type ToolSpec,
  type UndoCallSpec,
  type UndoSpec,
} from "./table.ts";
import type { FieldType, ValueType } from "./value-type.ts";

/** Nesting of lists, maps, records and unions in one type. */
const MAX_TYPE_DEPTH = 1000;

const TYPE: Shape<ValueType> = nested("type", MAX_TYPE_DEPTH, () => VALUE_TYPE_SHAPE);
const FIELD = record<FieldType>({ name: TEXT, type: TYPE, optional: optional(YES) });
export const VALUE_TYPE_SHAPE: Shape<ValueType> = variants<ValueType, "kind">("kind", {
  string: {},
  int: {},
  float: {},
  bool: {},
  null: {},
  json: {},
  literal: { value: SCALAR },
  list: { item: TYPE },
  map: { value: TYPE },
  record: { fields: list(FIELD) },
  union: { members: list(TYPE) },
  ref: { name: TEXT },
  opaque: { name: TEXT, module: TEXT },
});

const PART: Shape<Expression> = nested("expression", MAX_EXPRESSION_DEPTH, () => EXPRESSION_SHAPE);
const SPREAD = record<SpreadPart>({ spread: PART });
export const EXPRESSION_SHAPE: Shape<Expression> = variants<Expression, "op">("op", {
  const: { value: any() },
  channel: { channel: index("channel") },
  local: { name: TEXT },
  error: {},
  outcome: {},
  secret: { name: TEXT },
  member: { of: PART, name: TEXT, optional: optional(YES), absent: optional(YES) },
  index: { of: PART, at: PART },
  not: { of: PART },
  negate: { of: PART },
  notNull: { of: PART },
  fail: { message: PART },
  binary: {
    operator: oneOf("+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "&&", "||", "??", "in"),
    left: PART,
    right: PART,
    int: optional(YES),
  },
  if: { condition: PART, then: PART, else: PART },
  list: { items: list(either("spread", SPREAD, PART)) },
  record: {
    fields: list(
      either(
        "spread",
        SPREAD,
        record<{ readonly name: string; readonly value: Expression }>({ name: TEXT, value: PART }),
      ),
    ),
  },
  template: { parts: list(textOr(PART)) },
  comprehension: {
    list: PART,
    item: TEXT,
    index: optional(TEXT),
    flat: optional(YES),
    value: PART,
    condition: optional(PART),
  },
  library: { name: TEXT, args: list(PART) },
  call: { function: index("function"), args: list(PART) },
});

const NO_FIELDS = {};
const REDUCER = variants<ReducerSpec, "kind">("kind", {
  last: NO_FIELDS,
  append: NO_FIELDS,
  sum: NO_FIELDS,
  min: NO_FIELDS,
  max: NO_FIELDS,
  merge: NO_FIELDS,
  union: NO_FIELDS,
  function: { function: index("function") },
});

const FORMER_NAMES = optional(list(TEXT));

const CHANNELS = namedList(
  record<ChannelSpec>({
    name: TEXT,
    role: oneOf("input", "output", "state", "memory", "config"),
    type: TYPE,
    was: FORMER_NAMES,
    initial: optional(any()),
    reducer: optional(REDUCER),
  }),
  "channels",
  "name",
);

const ARGUMENTS = list(record<NamedArgument>({ name: TEXT, expression: index("expression") }));
const TOOLS = namedList(
  record<ToolSpec>({
    name: TEXT,
    function: optional(index("function")),
    graph: optional(index("graph")),
    parameters: namedList(FIELD, "parameters", "name"),
    description: optional(TEXT),
    approval: optional(YES),
    withoutContext: optional(YES),
  }),
  "tools",
  "name",
);
const CALLS = {
  function: { function: index("function"), args: list(index("expression")), withoutContext: optional(YES) },
  builtin: { name: TEXT, args: ARGUMENTS, tools: optional(TOOLS) },
  graph: { graph: index("graph"), args: ARGUMENTS },
  expression: { expression: index("expression") },
};
const CALL = variants<CallSpec, "kind">("kind", CALLS);
/** The call of a node or task, which may be one of a plan; the call of a check may not. */
const ANY_CALL = variants<CallSpec | PlanCallSpec, "kind">("kind", {
  ...CALLS,
  plan: { plan: index("plan"), args: ARGUMENTS },
});

const OUTPUT = variants<OutputSpec, "kind">("kind", {
  channel: { channel: index("channel"), set: optional(YES) },
  fields: {
    fields: list(
      record<OutputField>({ field: TEXT, channel: index("channel"), optional: optional(YES), set: optional(YES) }),
    ),
  },
});

const NODE_OR_END = indexOr("node", END);
const NODE_OR_BUILTIN = indexOr("node", END, ROLLBACK);
const TARGETS: Shape<readonly TargetSpec[]> = list(
  either(
    "node",
    record<{ readonly node: number }>({ node: NODE_OR_BUILTIN }),
    // The rules check `member`: it depends on the barrier.
    record<{ readonly barrier: number; readonly member: number }>({ barrier: index("barrier"), member: ORDINAL }),
  ),
);

type MatchArm = Extract<RouteSpec, { kind: "match" }>["arms"][number];
type CaseArm = Extract<RouteSpec, { kind: "cases" }>["arms"][number];
const ROUTES = list(
  variants<RouteSpec, "kind">("kind", {
    plain: { targets: TARGETS },
    when: { condition: index("expression"), targets: TARGETS },
    otherwise: { targets: TARGETS },
    match: {
      subject: index("expression"),
      arms: list(record<MatchArm>({ values: list(SCALAR_OR_NULL), targets: TARGETS })),
      otherwise: optional(TARGETS),
    },
    cases: {
      arms: list(record<CaseArm>({ condition: index("expression"), targets: TARGETS })),
      otherwise: optional(TARGETS),
    },
  }),
);

const BACKOFF = record<{ readonly min: number; readonly max: number }>({ min: AMOUNT, max: AMOUNT });

const NODE = record<NodeSpec>({
  name: TEXT,
  call: ANY_CALL,
  each: optional(
    record<NonNullable<NodeSpec["each"]>>({
      item: TEXT,
      index: optional(TEXT),
      list: index("expression"),
      condition: optional(index("expression")),
      parallel: optional(COUNT),
      allowFailure: optional(YES),
    }),
  ),
  output: optional(OUTPUT),
  tries: optional(record<NonNullable<NodeSpec["tries"]>>({ attempts: COUNT, backoff: optional(BACKOFF) })),
  timeout: optional(AMOUNT),
  within: optional(AMOUNT),
  cache: optional(record<NonNullable<NodeSpec["cache"]>>({ for: nullable(AMOUNT) })),
  pauseBefore: optional(YES),
  pauseAfter: optional(YES),
  goes: optional(list(NODE_OR_BUILTIN)),
  idempotent: optional(YES),
  undo: optional(
    record<UndoSpec>({
      call: variants<UndoCallSpec, "kind">("kind", { function: CALLS.function, builtin: CALLS.builtin }),
      tries: optional(record<NonNullable<NodeSpec["tries"]>>({ attempts: COUNT, backoff: optional(BACKOFF) })),
      timeout: optional(AMOUNT),
    }),
  ),
  was: FORMER_NAMES,
  waits: optional(index("barrier")),
  routes: ROUTES,
  onError: list(record<ErrorRouteSpec>({ condition: optional(indexOr("expression", "otherwise")), targets: TARGETS })),
});

const BARRIER = record<BarrierSpec>({
  id: TEXT,
  kind: oneOf("all", "waits", "settled"),
  target: NODE_OR_BUILTIN,
  members: list(list(index("node"))),
  others: optional(list(NODE_OR_BUILTIN)),
  reach: optional(list(list(index("node")))),
});

const ASSERTION = variants<AssertionSpec, "kind">("kind", {
  before: { first: NODE_OR_END, then: NODE_OR_END, each: optional(YES) },
  once: { node: NODE_OR_END },
  eventually: { node: NODE_OR_END },
  never: { node: NODE_OR_END, with: NODE_OR_END },
  at: { node: index("node"), condition: index("expression") },
});

const TASK = record<TaskSpec>({
  name: TEXT,
  call: ANY_CALL,
  item: optional(record<NonNullable<TaskSpec["item"]>>({ name: TEXT, value: any() })),
  finally: optional(YES),
  after: list(index("task")),
  trigger: oneOf("all", "any", "done", "failed", "mixed"),
  needs: optional(list(oneOf("all", "done", "failed"))),
  condition: optional(index("expression")),
  statuses: optional(
    list(record<NonNullable<TaskSpec["statuses"]>[number]>({ name: TEXT, tasks: list(index("task")) })),
  ),
  output: optional(OUTPUT),
  touches: list(record<TaskSpec["touches"][number]>({ path: TEXT, mode: oneOf("read", "write") })),
  alone: optional(YES),
  allowFailure: optional(YES),
  worktree: optional(YES),
  pool: optional(record<NonNullable<TaskSpec["pool"]>>({ pool: index("pool"), count: COUNT })),
  checks: list(CALL),
  tries: COUNT,
  backoff: optional(BACKOFF),
  timeout: optional(AMOUNT),
  estimate: optional(AMOUNT),
  cache: optional(
    record<NonNullable<TaskSpec["cache"]>>({
      inputs: list(TEXT),
      outputs: optional(list(TEXT)),
      variables: optional(list(TEXT)),
      tools: optional(list(TEXT)),
    }),
  ),
  interactive: optional(YES),
});

/** The fields that tables of graphs and of plans share. */
const COMMON = {
  name: TEXT,
  channels: CHANNELS,
  expressions: list(PART),
  functions: list(
    record<FunctionSpec>({
      name: TEXT,
      module: TEXT,
      export: TEXT,
      signature: optional(TEXT),
    }),
  ),
  types: list(record<{ readonly name: string; readonly type: ValueType }>({ name: TEXT, type: TYPE })),
  graphs: list(calledTable<Table>("graph")),
  secrets: list(TEXT),
  effects: list(text<Effect>(EFFECT_PATTERN)),
  digest: text<Digest>(/^sha256:[0-9a-f]{64}$/),
  debug: optional(
    record<TableDebug>({
      file: TEXT,
      nodes: list(record<TableDebug["nodes"][number]>({ line: COUNT, column: COUNT })),
      expressions: list(
        record<TableDebug["expressions"][number]>({ line: COUNT, column: COUNT, shared: optional(YES) }),
      ),
      doc: optional(TEXT),
    }),
  ),
};

export const GRAPH_SHAPE: Shape<Table> = record<Table>({
  ...COMMON,
  format: oneOf<typeof TABLE_FORMAT>(TABLE_FORMAT),
  version: oneOf<typeof TABLE_VERSION>(TABLE_VERSION),
  kind: oneOf("graph"),
  was: FORMER_NAMES,
  dropped: FORMER_NAMES,
  nodes: namedList(NODE, "nodes", "name"),
  start: ROUTES,
  finally: optional(ROUTES),
  barriers: namedList(BARRIER, "barriers", "id"),
  plans: optional(list(calledTable<PlanTable>("plan"))),
  limits: record<Table["limits"]>({
    steps: nullable(COUNT),
    parallel: nullable(COUNT),
    tokens: optional(COUNT),
    cost: optional(AMOUNT),
  }),
  assertions: list(ASSERTION),
});

export const PLAN_SHAPE: Shape<PlanTable> = record<PlanTable>({
  ...COMMON,
  format: oneOf<typeof PLAN_FORMAT>(PLAN_FORMAT),
  version: oneOf<typeof PLAN_VERSION>(PLAN_VERSION),
  kind: oneOf("plan"),
  maxParallel: COUNT,
  order: oneOf("priority", "file"),
  onFailure: oneOf("continue", "no-new", "kill"),
  pools: namedList(record<PlanTable["pools"][number]>({ name: TEXT, size: COUNT }), "pools", "name"),
  tasks: namedList(TASK, "tasks", "name"),
  plans: list(calledTable<PlanTable>("plan")),
  matrix: optional(record<NonNullable<PlanTable["matrix"]>>({ list: index("channel"), plan: TEXT })),
  ranks: optional(list(ORDINAL)),
});
