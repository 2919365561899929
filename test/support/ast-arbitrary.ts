/**
 * Random syntax trees of the whole grammar, so that a printed tree must parse to an equal tree. All spans are empty.
 * Names are drawn from a small pool, which includes keywords of the grammar.
 */
import * as fc from "fast-check";
import { SourceFile } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";
import { anyExpression, durationParts, forClauseOf, SPAN } from "./expression-arbitrary.ts";
import { identifier, uniqueNames } from "./name-arbitrary.ts";
import { anyType, literalType } from "./type-arbitrary.ts";

const span = SPAN;

/** A file of any items. `spelling` is the spelling that the tree claims to come from. */
export function anyFile(spelling: Ast.File["spelling"] = "ngraph"): fc.Arbitrary<Ast.File> {
  return fc.array(anyItem, { maxLength: 5 }).map((items) => ({
    kind: "File",
    span,
    source: new SourceFile(spelling === "yaml" ? "test.yaml" : "test.ngraph", ""),
    spelling,
    items,
    comments: [],
  }));
}

// Items -----------------------------------------------------------------------------------------------

const string: fc.Arbitrary<Ast.StringLiteral> = fc
  .oneof(
    fc.string({ maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom("./nodes.ts", "a b", ""),
  )
  .map((value) => ({ kind: "String", span, value }));

/** Lines without trailing blanks; the last is not empty. */
const doc: fc.Arbitrary<Ast.DocComment> = fc
  .array(
    fc.constantFrom(
      "Text.",
      "",
      " indented",
      "a: b # c",
      "// no comment",
      "- item",
      '"quoted"',
      "`code` ${x}",
      "ä → b",
    ),
    {
      maxLength: 3,
    },
  )
  .chain((lines) =>
    fc.constantFrom("End.", "It's: done", "/x").map((last) => ({ span, text: [...lines, last].join("\n") })),
  );

/** An object with or without some of its fields. */
function withOptional<A extends object, B extends object>(
  always: fc.Arbitrary<A>,
  sometimes: fc.Arbitrary<B>,
): fc.Arbitrary<A & B> {
  return fc.tuple(always, sometimes).map(([a, b]) => ({ ...a, ...b }));
}

/** `{ [key]: value }`, or nothing. */
function maybe<K extends string, T>(key: K, value: fc.Arbitrary<T>): fc.Arbitrary<{ [P in K]?: T }> {
  return fc
    .option(value, { nil: undefined })
    .map((each) => (each === undefined ? {} : { [key]: each }) as { [P in K]?: T });
}

function merged<T>(...parts: fc.Arbitrary<object>[]): fc.Arbitrary<T> {
  return fc.tuple(...parts).map((each) => Object.assign({}, ...each) as T);
}

const documented = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: doc.map((text) => ({ doc: text })) },
);

const importDecl: fc.Arbitrary<Ast.ImportDecl> = fc.record({
  kind: fc.constant("Import" as const),
  span: fc.constant(span),
  names: fc.array(
    fc
      .tuple(fc.boolean(), identifier, fc.option(identifier, { nil: undefined }))
      .map(([isType, imported, local]): Ast.ImportName => ({
        kind: "ImportName",
        span,
        isType: isType && imported.name !== "as",
        imported,
        local: local ?? imported,
      })),
    { maxLength: 4 },
  ),
  from: string,
});

const typeDecl: fc.Arbitrary<Ast.TypeDecl> = merged(
  fc.record({ kind: fc.constant("Type"), span: fc.constant(span), name: identifier, type: anyType }),
  documented,
);

const constDecl: fc.Arbitrary<Ast.ConstDecl> = merged(
  fc.record({ kind: fc.constant("Const"), span: fc.constant(span), name: identifier, value: anyExpression }),
  documented,
);

const secretDecl: fc.Arbitrary<Ast.SecretDecl> = merged(
  fc.record({ kind: fc.constant("Secret"), span: fc.constant(span), name: identifier }),
  documented,
);

// Graphs ----------------------------------------------------------------------------------------------

const count = (max = 1000): fc.Arbitrary<Ast.Count> => fc.nat(max).map((value) => ({ kind: "Count", span, value }));

const duration: fc.Arbitrary<Ast.Duration> = durationParts.map((parts) => ({ kind: "Duration", span, ...parts }));

const names: fc.Arbitrary<Ast.Identifier[]> = fc.array(identifier, { minLength: 1, maxLength: 4 });

const key: fc.Arbitrary<Ast.Key> = fc.oneof(
  identifier.map(({ name }): Ast.Key => ({ kind: "Key", span, name, quoted: false })),
  string.map(({ value }): Ast.Key => ({ kind: "Key", span, name: value, quoted: true })),
);

const output: fc.Arbitrary<Ast.Output> = fc.oneof(
  fc
    .tuple(identifier, flag("set"))
    .map(([channel, set]): Ast.Output => ({ kind: "ChannelOutput", span, ...set, channel })),
  fc
    .uniqueArray(fc.tuple(key, identifier, flag("optional"), flag("set")), {
      maxLength: 3,
      selector: ([field]) => field.name,
    })
    .map((fields): Ast.Output => ({
      kind: "FieldsOutput",
      span,
      fields: fields.map(([field, channel, optional, set]) => ({
        kind: "OutputField",
        span,
        field,
        ...optional,
        ...set,
        channel,
      })),
    })),
);

/** `{ [name]: true }`, or more often nothing. */
function flag<K extends string>(name: K): fc.Arbitrary<{ readonly [P in K]?: true }> {
  return fc.option(fc.constant({ [name]: true } as { [P in K]: true }), { nil: {}, freq: 2 }) as fc.Arbitrary<{
    readonly [P in K]?: true;
  }>;
}

const each = forClauseOf(anyExpression);
const axis = fc.record({ item: identifier, list: anyExpression });
const matrix = fc
  .tuple(axis, fc.array(axis, { maxLength: 2 }))
  .map(([first, others]) => (others.length === 0 ? first : { ...first, others }));

function channels(): fc.Arbitrary<Ast.ChannelDecl[]> {
  const channel = (name: string) =>
    merged<Ast.ChannelDecl>(
      fc.record({
        kind: fc.constant("Channel"),
        span: fc.constant(span),
        role: fc.constantFrom("input", "output", "state", "memory", "config"),
        name: fc.constant({ kind: "Identifier", span, name }),
        type: anyType,
      }),
      maybe("initial", anyExpression),
      maybe("reducer", identifier),
      maybe("was", names),
      documented,
    );
  return uniqueNames(4).chain((all) => fc.tuple(...all.map(channel)));
}

const policy: fc.Arbitrary<Ast.Policy> = fc.oneof(
  withOptional(
    fc.record({ kind: fc.constant("Tries" as const), span: fc.constant(span), attempts: count(9) }),
    maybe(
      "backoff",
      fc
        .tuple(duration, fc.option(duration, { nil: undefined }))
        .map(([min, max]) => (max === undefined ? { min } : { min, max })),
    ),
  ),
  fc.record({ kind: fc.constant("Timeout" as const), span: fc.constant(span), duration }),
  fc.record({ kind: fc.constant("Within" as const), span: fc.constant(span), duration }),
  merged<Ast.Policy>(
    fc.constant({ kind: "Cache", span }),
    maybe("duration", duration),
    maybe("inputs", fc.array(string, { minLength: 1, maxLength: 2 })),
    maybe("variables", fc.array(string, { minLength: 1, maxLength: 2 })),
    maybe("tools", fc.array(string, { minLength: 1, maxLength: 2 })),
  ),
  fc.record({ kind: fc.constant("MaxParallel" as const), span: fc.constant(span), count: count() }),
  fc.record({ kind: fc.constant("Waits" as const), span: fc.constant(span), nodes: names }),
  fc.record({ kind: fc.constant("Goes" as const), span: fc.constant(span), nodes: names }),
  fc.record({ kind: fc.constant("Was" as const), span: fc.constant(span), names }),
  fc.record({ kind: fc.constant("Pause" as const), span: fc.constant(span), when: fc.constantFrom("before", "after") }),
  fc.constant<Ast.Policy>({ kind: "Idempotent", span }),
  fc.record({
    kind: fc.constant("Undo" as const),
    span: fc.constant(span),
    call: anyExpression,
    policies: fc.subarray<Ast.UndoPolicy>([
      { kind: "Tries", span, attempts: { kind: "Count", span, value: 3 } },
      { kind: "Timeout", span, duration: { kind: "Duration", span, raw: "10s", milliseconds: 10_000 } },
    ]),
  }),
  fc.record({
    kind: fc.constant("Touches" as const),
    span: fc.constant(span),
    mode: fc.constantFrom("write", "read"),
    paths: fc.array(string, { minLength: 1, maxLength: 3 }),
  }),
  fc.constant<Ast.Policy>({ kind: "Alone", span }),
  fc.constant<Ast.Policy>({ kind: "AllowFailure", span }),
  fc.constant<Ast.Policy>({ kind: "Worktree", span }),
  fc.constant<Ast.Policy>({ kind: "Interactive", span }),
  fc.record({
    kind: fc.constant("Outputs" as const),
    span: fc.constant(span),
    paths: fc.array(string, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant("DoneWhen" as const), span: fc.constant(span), check: anyExpression }),
  merged<Ast.Policy>(
    fc.record({ kind: fc.constant("Pool"), span: fc.constant(span), name: identifier }),
    maybe("count", count(9)),
  ),
  fc.record({ kind: fc.constant("Estimate" as const), span: fc.constant(span), duration }),
  fc.record({ kind: fc.constant("Cwd" as const), span: fc.constant(span), path: anyExpression }),
  fc.record({ kind: fc.constant("Env" as const), span: fc.constant(span), values: anyExpression }),
);

/** Policies that may be repeated. */
const MANY = new Set(["DoneWhen", "Pause", "Pool"]);

const policies: fc.Arbitrary<Ast.Policy[]> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Ast.Policy[]>([]) },
  {
    weight: 1,
    arbitrary: fc.array(policy, { minLength: 1, maxLength: 5 }).map((all) => {
      const seen = new Set<string>();
      return all.filter((one) => {
        const name = one.kind === "Touches" ? `Touches ${one.mode}` : one.kind;
        if (seen.has(name)) return MANY.has(name);
        seen.add(name);
        return true;
      });
    }),
  },
);

function nodes(): fc.Arbitrary<Ast.NodeDecl[]> {
  const node = (name: string) =>
    merged<Ast.NodeDecl>(
      fc.record({
        kind: fc.constant("Node"),
        span: fc.constant(span),
        name: fc.constant({ kind: "Identifier", span, name }),
        call: anyExpression,
        policies,
      }),
      maybe("each", each),
      maybe("output", output),
      documented,
    );
  return uniqueNames(4).chain((all) => fc.tuple(...all.map(node)));
}

function derived(): fc.Arbitrary<Ast.DeriveDecl[]> {
  const derive = (name: string) =>
    merged<Ast.DeriveDecl>(
      fc.record({
        kind: fc.constant("Derive"),
        span: fc.constant(span),
        name: fc.constant({ kind: "Identifier", span, name }),
        value: anyExpression,
      }),
      documented,
    );
  return uniqueNames(2).chain((all) => fc.tuple(...all.map(derive)));
}

const source: fc.Arbitrary<Ast.EdgeSource> = fc.oneof(
  names.map((nodes): Ast.EdgeSource => ({ kind: "NodeList", span, nodes })),
  fc
    .tuple(
      fc.constantFrom("AllOf" as const, "SettledOf" as const),
      fc.array(
        fc.oneof(
          identifier,
          fc.array(identifier, { maxLength: 3 }).map((nodes): Ast.AnyOf => ({ kind: "AnyOf", span, nodes })),
        ),
        { maxLength: 3 },
      ),
    )
    .map(([kind, members]): Ast.EdgeSource => ({ kind, span, members })),
);

const targets: fc.Arbitrary<Ast.Targets> = merged(
  fc.record({ kind: fc.constant("Targets"), span: fc.constant(span), nodes: names, onError: fc.boolean() }),
  maybe(
    "guard",
    fc.oneof(
      fc.constant({ kind: "Otherwise", span }),
      fc.record({ kind: fc.constant("When"), span: fc.constant(span), condition: anyExpression }),
    ),
  ),
);

const matchValue: fc.Arbitrary<Ast.MatchValue> = fc.record({
  kind: fc.constant("MatchValue" as const),
  span: fc.constant(span),
  subject: anyExpression,
  arms: fc.array(
    fc.record({
      kind: fc.constant("ValueArm" as const),
      span: fc.constant(span),
      patterns: fc.array(literalType, { maxLength: 3 }),
      targets: names,
    }),
    { maxLength: 3 },
  ),
});

const matchCondition: fc.Arbitrary<Ast.MatchCondition> = fc.record({
  kind: fc.constant("MatchCondition" as const),
  span: fc.constant(span),
  arms: fc.array(
    merged<Ast.ConditionArm>(
      fc.record({ kind: fc.constant("ConditionArm"), span: fc.constant(span), targets: names }),
      maybe("condition", anyExpression),
    ),
    { maxLength: 3 },
  ),
});

const edge: fc.Arbitrary<Ast.EdgeDecl> = merged(
  fc.record({
    kind: fc.constant("Edge"),
    span: fc.constant(span),
    source,
    chain: fc.array(identifier, { maxLength: 2 }),
    to: fc.oneof<fc.Arbitrary<Ast.EdgeDecl["to"]>[]>(targets, matchValue, matchCondition),
  }),
  documented,
);

const cost: fc.Arbitrary<Ast.Count> = fc
  .oneof(fc.nat(100), fc.constantFrom(0.5, 0.001, 2.75, 1e-7))
  .map((value) => ({ kind: "Count", span, value }));

const limits: fc.Arbitrary<Ast.LimitDecl[]> = fc
  .record({
    steps: fc.option(fc.oneof(count(), fc.constant("none" as const)), { nil: undefined }),
    tokens: fc.option(fc.oneof(count(), fc.constant("none" as const)), { nil: undefined }),
    cost: fc.option(fc.oneof(cost, fc.constant("none" as const)), { nil: undefined }),
    parallel: fc.option(count(), { nil: undefined }),
  })
  .map(({ steps, tokens, cost: most, parallel }) => [
    ...(tokens === undefined ? [] : [{ kind: "Limit" as const, span, of: "tokens" as const, value: tokens }]),
    ...(most === undefined ? [] : [{ kind: "Limit" as const, span, of: "cost" as const, value: most }]),
    ...(steps === undefined ? [] : [{ kind: "Limit" as const, span, of: "steps" as const, value: steps }]),
    ...(parallel === undefined ? [] : [{ kind: "Limit" as const, span, of: "parallel" as const, value: parallel }]),
  ]);

const defaults: fc.Arbitrary<Ast.DefaultsDecl[]> = fc
  .option(policies, { nil: undefined })
  .map((each) => (each === undefined ? [] : [{ kind: "Defaults", span, policies: each }]));

/** Keywords such as `once` have precedence over nodes with the same name. */
const asserted = identifier.filter(({ name }) => !["once", "eventually", "never"].includes(name));

const assertion: fc.Arbitrary<Ast.AssertDecl> = fc.oneof(
  fc.record({
    kind: fc.constant("Assert" as const),
    span: fc.constant(span),
    form: fc.constantFrom("once", "eventually"),
    node: identifier,
  }),
  fc.record({
    kind: fc.constant("Assert" as const),
    span: fc.constant(span),
    form: fc.constantFrom("before", "never"),
    node: asserted,
    other: identifier.filter(({ name }) => name !== "each"),
  }),
  fc.record({
    kind: fc.constant("Assert" as const),
    span: fc.constant(span),
    form: fc.constant("before" as const),
    node: asserted,
    other: identifier.filter(({ name }) => name !== "each"),
    each: fc.constant(true as const),
  }),
  fc.record({
    kind: fc.constant("Assert" as const),
    span: fc.constant(span),
    form: fc.constant("at" as const),
    node: identifier,
    condition: anyExpression,
  }),
);

const drops: fc.Arbitrary<Ast.DropDecl[]> = fc
  .option(names, { nil: undefined })
  .map((channels) => (channels === undefined ? [] : [{ kind: "Drop", span, channels }]));

const graph: fc.Arbitrary<Ast.GraphDecl> = merged(
  fc.record({ kind: fc.constant("Graph"), span: fc.constant(span), name: identifier }),
  maybe("was", names),
  fc
    .tuple(
      channels(),
      derived(),
      limits,
      defaults,
      nodes(),
      fc.array(assertion, { maxLength: 2 }),
      drops,
      fc.array(edge, { maxLength: 4 }),
    )
    .chain((groups) => fc.shuffledSubarray(groups.flat() as Ast.Statement[], { minLength: groups.flat().length }))
    .map((statements) => ({ statements })),
  documented,
);

// Plans and tests -------------------------------------------------------------------------------------

function tasks(): fc.Arbitrary<Ast.TaskDecl[]> {
  const task = (name: string) =>
    merged<Ast.TaskDecl>(
      fc.record({
        kind: fc.constant("Task"),
        span: fc.constant(span),
        name: fc.constant({ kind: "Identifier", span, name }),
        call: anyExpression,
        policies,
      }),
      fc.oneof(
        fc.constant({ after: [], trigger: "all" }),
        fc.record({
          after: names.filter(([first]) => first?.name !== "into"),
          trigger: fc.constantFrom("all", "any", "done", "failed"),
        }),
        // `a, done b, failed c`
        fc
          .record({
            after: names.filter(([first, ...rest]) => first?.name !== "into" && rest.length > 0),
            words: fc.constantFrom(["all", "done"], ["all", "failed"], ["done", "failed"], ["failed", "done"]),
            at: fc.nat(),
          })
          .map(({ after, words: [first, then], at }) => {
            const until = 1 + (at % (after.length - 1));
            // Behind a word, `into` is the clause.
            if (after[until]?.name === "into") return { after, trigger: "all" };
            return { after, trigger: "mixed", needs: after.map((_, index) => (index < until ? first : then)) };
          }),
      ),
      maybe("each", matrix),
      maybe("condition", anyExpression),
      maybe("output", output),
      documented,
      maybe("isFinal", fc.constant(true)),
    );
  return uniqueNames(4).chain((all) => fc.tuple(...all.map(task)));
}

const settings: fc.Arbitrary<Ast.PlanSetting[]> = fc
  .tuple(
    fc.array(
      count().map((value): Ast.PlanSetting => ({ kind: "PlanMaxParallel", span, count: value })),
      { maxLength: 1 },
    ),
    fc.array(fc.constant<Ast.PlanSetting>({ kind: "PlanOrder", span, order: "file" }), { maxLength: 1 }),
    uniqueNames(2).chain((all) =>
      fc.tuple(
        ...all.map((name) =>
          count(9).map((value): Ast.PlanSetting => ({
            kind: "PlanPool",
            span,
            name: { kind: "Identifier", span, name },
            count: value,
          })),
        ),
      ),
    ),
    fc.array(
      fc
        .constantFrom("continue", "no-new", "kill")
        .map((mode): Ast.PlanSetting => ({ kind: "PlanOnFailure", span, mode })),
      { maxLength: 1 },
    ),
  )
  .map((groups) => groups.flat());

const plan: fc.Arbitrary<Ast.PlanDecl> = merged(
  fc.record({ kind: fc.constant("Plan"), span: fc.constant(span), name: identifier }),
  fc
    .tuple(channels(), settings, tasks())
    .chain((groups) => fc.shuffledSubarray(groups.flat() as Ast.PlanStatement[], { minLength: groups.flat().length }))
    .map((statements) => ({ statements })),
  documented,
);

/** Keywords of a test's lines would begin the next line. */
const traced = identifier.filter(({ name }) => !["given", "mock", "answer", "signal", "expect"].includes(name));

const testItem: fc.Arbitrary<Ast.TestItem> = fc.oneof(
  fc.record({
    kind: fc.constant("Given" as const),
    span: fc.constant(span),
    channel: identifier,
    value: anyExpression,
  }),
  fc.record(
    {
      kind: fc.constant("Mock" as const),
      span: fc.constant(span),
      node: identifier,
      results: fc.array(anyExpression, { minLength: 1, maxLength: 3 }),
      delay: duration,
    },
    { requiredKeys: ["kind", "span", "node", "results"] },
  ),
  fc.record(
    {
      kind: fc.constant("MockFails" as const),
      span: fc.constant(span),
      node: identifier,
      message: string,
      delay: duration,
    },
    { requiredKeys: ["kind", "span", "node", "message"] },
  ),
  fc.record({
    kind: fc.constant("Signal" as const),
    span: fc.constant(span),
    name: fc.oneof(identifier, string),
    values: fc.array(anyExpression, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constantFrom("ExpectNeverRan" as const, "ExpectUndone" as const),
    span: fc.constant(span),
    nodes: fc.array(traced, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ kind: fc.constant("ExpectPausedAt" as const), span: fc.constant(span), node: traced }),
  fc.record({ kind: fc.constant("ExpectFailsWith" as const), span: fc.constant(span), code: traced }),
  fc.record({
    kind: fc.constant("Answer" as const),
    span: fc.constant(span),
    node: identifier,
    values: fc.array(anyExpression, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    kind: fc.constant("ExpectRan" as const),
    span: fc.constant(span),
    steps: fc.array(
      fc.oneof(
        traced.map((one) => [one]),
        fc.array(traced, { maxLength: 3 }),
      ),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  fc.record({ kind: fc.constant("ExpectStatus" as const), span: fc.constant(span), status: traced }),
  fc.record({ kind: fc.constant("Expect" as const), span: fc.constant(span), condition: anyExpression }),
);

const test: fc.Arbitrary<Ast.TestDecl> = fc.record(
  {
    kind: fc.constant("Test" as const),
    span: fc.constant(span),
    title: string,
    subject: identifier,
    cases: anyExpression,
    items: fc.array(testItem, { maxLength: 5 }),
  },
  { requiredKeys: ["kind", "span", "title", "subject", "items"] },
);

const anyItem: fc.Arbitrary<Ast.Item> = fc.oneof<fc.Arbitrary<Ast.Item>[]>(
  importDecl,
  typeDecl,
  secretDecl,
  constDecl,
  graph,
  graph,
  plan,
  test,
);
