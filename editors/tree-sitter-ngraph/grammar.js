/**
 * The tree-sitter grammar of the text spelling. Its rules follow docs/grammar.ebnf, and its node types the kinds of grammar/ast.ts.
 * `tree-sitter generate --no-bindings` writes src/. It accepts all that the parser accepts, and some texts that it rejects: an
 * editor colours an unfinished text, and the language server reports its mistakes.
 */

/**
 * Words that are keywords in a place where a name may stand, too. The lexer prefers the keyword, so `_name` takes them back. The other
 * words of the grammar need no entry: where one of them is a keyword, no name may stand.
 */
const SOFT_WORDS = [
  ...["input", "output", "state", "memory", "config", "derive", "node", "limit", "max", "defaults", "assert", "drop"],
  ...[
    "any",
    "all",
    "settled",
    "for",
    "if",
    "into",
    "reduce",
    "was",
    "on",
    "set",
    "each",
    "once",
    "eventually",
    "never",
  ],
  ...["ran", "status", "undone", "paused", "fails", "type", "done", "failed", "before", "given", "mock", "answer"],
  ...["signal", "expect", "after", "at", "with"],
];

const RESERVED_WORDS = ["true", "false", "null", "match", "else", "in", "when", "otherwise"];

/** Binding of the binary operators, loosest first. */
const BINARY = [["??"], ["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">=", "in"], ["+", "-"], ["*", "/", "%"]];
const CONDITIONAL = 1;
const UNARY = BINARY.length + 2;
const POSTFIX = UNARY + 1;

const commas = (rule) => seq(rule, repeat(seq(",", rule)));
const commasInside = (rule) => seq(commas(rule), optional(","));

module.exports = grammar({
  name: "ngraph",

  word: ($) => $.identifier,

  extras: ($) => [/[ \t\r\n\uFEFF]/, $.doc_comment, $.line_comment, $.block_comment],

  supertypes: ($) => [$.expression, $.type],

  conflicts: ($) => [
    [$._word, $.output_field],
    [$.dependency, $._name],
    [$.channel_output, $._name],
    [$.assert, $._name],
    // A soft word behind a complete statement: its next clause, or the source of the next edge.
    [$.targets],
    [$.channel],
    [$.node],
    [$.for_clause],
    // A soft word behind `expect`, `assert`, `set`, `each` and `after`: a keyword, or a name.
    [$._name, $.expect_ran],
    [$._name, $.expect_status],
    [$._name, $.expect_undone],
  ],

  rules: {
    file: ($) => repeat($._item),

    _item: ($) => choice($.import, $.type_declaration, $.secret, $.const, $.graph, $.plan, $.test),

    // Items

    import: ($) => seq("import", "{", optional(commasInside($.import_name)), "}", "from", field("from", $.string)),
    import_name: ($) => seq(optional("type"), field("imported", $._name), optional(seq("as", field("local", $._name)))),
    type_declaration: ($) => seq("type", field("name", $._name), "=", field("type", $.type)),
    secret: ($) => seq("secret", field("name", $._name)),
    const: ($) => seq("const", field("name", $._name), "=", field("value", $.expression)),
    graph: ($) => seq("graph", field("name", $._name), optional($.was), field("body", $.graph_body)),
    graph_body: ($) => seq("{", repeat($._statement), "}"),
    plan: ($) => seq("plan", field("name", $._name), field("body", $.plan_body)),
    plan_body: ($) => seq("{", repeat($._plan_statement), "}"),
    test: ($) =>
      seq(
        "test",
        field("title", $.string),
        "for",
        field("subject", $._name),
        optional(seq("with", field("cases", $.expression))),
        field("body", $.test_body),
      ),
    test_body: ($) => seq("{", repeat($._test_line), "}"),
    was: ($) => seq("was", $._names),

    // Types

    type: ($) => choice($.union_type, $._list_type),
    union_type: ($) =>
      choice(seq("|", commasOf("|", $._list_type)), seq($._list_type, repeat1(seq("|", $._list_type)))),
    _list_type: ($) => choice($.list_type, $._atom_type),
    list_type: ($) => seq(field("item", $._list_type), "[", "]"),
    _atom_type: ($) => choice($.map_type, $.named_type, $.literal_type, $.parenthesized_type, $.record_type),
    map_type: ($) => seq("map", "<", field("value", $.type), ">"),
    named_type: ($) => choice($._name, alias("map", $.identifier)),
    parenthesized_type: ($) => seq("(", $.type, ")"),
    record_type: ($) => seq("{", optional(commasInside($.record_type_field)), "}"),
    record_type_field: ($) => seq(field("name", $._key), optional("?"), ":", field("type", $.type)),
    literal_type: ($) => choice($.string, seq(optional("-"), $.number), $.true, $.false, $.null),
    _key: ($) => choice($._word, $.string),
    _word: ($) => choice($._name, alias(choice(...RESERVED_WORDS), $.identifier)),

    // Statements of a graph

    _statement: ($) => choice($.channel, $.derive, $.node, $.limit, $.defaults, $.assert, $.drop, $.edge),
    channel: ($) =>
      seq(
        field("role", choice("input", "output", "state", "memory", "config")),
        field("name", $._name),
        ":",
        field("type", $.type),
        optional(seq("=", field("initial", $.expression))),
        optional(seq("reduce", field("reducer", $._name))),
        optional($.was),
      ),
    derive: ($) => seq("derive", field("name", $._name), "=", field("value", $.expression)),
    node: ($) =>
      seq(
        "node",
        field("name", $._name),
        "=",
        field("call", $.expression),
        optional($.for_clause),
        optional(seq("into", $._output)),
        optional($.policies),
      ),
    for_clause: ($) =>
      seq(
        "for",
        field("item", $._name),
        optional(seq(",", field("index", $._name))),
        "in",
        field("list", $.expression),
        optional(seq("if", field("condition", $.expression))),
      ),
    _output: ($) => choice($.channel_output, $.fields_output),
    channel_output: ($) => seq(optional("set"), field("channel", $._name)),
    fields_output: ($) => seq("{", optional(commasInside($.output_field)), "}"),
    output_field: ($) =>
      choice(
        seq(field("field", $._name), optional("?")),
        seq(field("field", $._key), optional("?"), ":", optional("set"), field("channel", $._name)),
      ),
    limit: ($) =>
      choice(
        seq("limit", field("of", choice("steps", "tokens", "cost")), field("value", choice($.number, "none"))),
        seq("max", "parallel", field("value", $.number)),
      ),
    max_parallel: ($) => seq("max", "parallel", field("count", $.number)),
    defaults: ($) => seq("defaults", $.policies),
    assert: ($) =>
      seq(
        "assert",
        choice(
          seq("once", field("node", $._name)),
          seq("eventually", field("node", $._name)),
          seq("never", field("node", $._name), "with", field("other", $._name)),
          seq(field("node", $._name), "before", optional("each"), field("other", $._name)),
          seq(field("condition", $.expression), "at", field("node", $._name)),
        ),
      ),
    drop: ($) => seq("drop", $._names),

    // Edges

    edge: ($) =>
      seq(
        field("source", $._source),
        "->",
        repeat(seq(field("chain", $._name), "->")),
        field("to", choice($.targets, $.match_value, $.match_condition)),
      ),
    _source: ($) => choice($._name, $.any_of, $.all_of),
    any_of: ($) => seq("any", "(", optional(commasInside($._name)), ")"),
    all_of: ($) => seq(choice("all", "settled"), "(", optional(commasInside(choice($._name, $.any_of))), ")"),
    targets: ($) => seq($._names, optional(seq("on", "error")), optional(choice($.when, $.otherwise))),
    when: ($) => seq("when", field("condition", $.expression)),
    otherwise: () => "otherwise",
    _names: ($) => commas($._name),
    match_value: ($) => seq("match", field("subject", $.expression), "{", repeat($.value_arm), "}"),
    value_arm: ($) => seq(choice(commasOf("|", $.literal_type), "else"), "->", $._names),
    match_condition: ($) => prec(1, seq("match", "{", repeat($.condition_arm), "}")),
    condition_arm: ($) => seq(choice(field("condition", $.expression), "else"), "->", $._names),

    // Policies

    policies: ($) => seq("{", repeat($._policy), "}"),
    _policy: ($) =>
      choice(
        $.tries,
        $.timeout,
        $.within,
        $.cache,
        $.max_parallel,
        $.allow_failure,
        $.waits,
        $.goes,
        $.was,
        $.pause,
        $.idempotent,
        $.undo,
        $.touches,
        $.alone,
        $.done_when,
        $.pool,
        $.estimate,
        $.cwd,
        $.env,
        $.worktree,
        $.outputs,
        $.interactive,
      ),
    within: ($) => seq("within", $.duration),
    allow_failure: () => seq("allow", "failure"),
    waits: ($) => seq("waits", $._names),
    goes: ($) => seq("goes", $._names),
    pause: () => seq("pause", choice("before", "after")),
    idempotent: () => "idempotent",
    touches: ($) => seq("touches", optional("read"), $._strings),
    alone: () => "alone",
    done_when: ($) => seq("done", "when", field("check", $.expression)),
    pool: ($) => seq("pool", field("name", $._name), optional($.number)),
    estimate: ($) => seq("estimate", $.duration),
    cwd: ($) => seq("cwd", field("path", $.expression)),
    env: ($) => seq("env", field("values", $.expression)),
    worktree: () => "worktree",
    outputs: ($) => seq("outputs", $._strings),
    interactive: () => "interactive",
    tries: ($) =>
      seq("tries", field("attempts", $.number), optional(seq("backoff", $.duration, optional(seq("..", $.duration))))),
    timeout: ($) => seq("timeout", $.duration),
    cache: ($) =>
      seq(
        "cache",
        optional(seq("for", $.duration)),
        optional(seq("inputs", $._strings)),
        optional(seq("variables", $._strings)),
        optional(seq("tools", $._strings)),
      ),
    undo: ($) => seq("undo", field("call", $.expression), optional($.undo_policies)),
    undo_policies: ($) => seq("{", repeat(choice($.tries, $.timeout)), "}"),
    _strings: ($) => commas($.string),

    // Statements of a plan

    _plan_statement: ($) =>
      choice(
        $.channel,
        $.task,
        alias($.max_parallel, $.plan_max_parallel),
        $.plan_order,
        $.plan_pool,
        $.plan_on_failure,
      ),
    plan_order: () => seq("order", "file"),
    plan_pool: ($) => seq("pool", field("name", $._name), field("count", $.number)),
    plan_on_failure: () => seq("on", "failure", choice("continue", seq("no", "-", "new"), "kill")),
    task: ($) =>
      seq(
        optional("finally"),
        "task",
        field("name", $._name),
        "=",
        field("call", $.expression),
        optional($.matrix),
        optional($.after),
        optional($.when),
        optional(seq("into", $._output)),
        optional($.policies),
      ),
    matrix: ($) => seq("for", commas($.axis)),
    axis: ($) => seq(field("item", $._name), "in", field("list", $.expression)),
    after: ($) => seq("after", commas($.dependency)),
    dependency: ($) => seq(optional(choice("any", "done", "failed")), field("task", $._name)),

    // Lines of a test

    _test_line: ($) =>
      choice(
        $.given,
        $.mock,
        $.answer,
        $.signal,
        $.expect_ran,
        $.expect_status,
        $.expect_never_ran,
        $.expect_paused_at,
        $.expect_fails_with,
        $.expect_undone,
        $.expect,
      ),
    given: ($) => seq("given", field("channel", $._name), "=", field("value", $.expression)),
    mock: ($) =>
      seq(
        "mock",
        field("node", $._name),
        choice(seq("=", $._results), seq("fails", field("message", $.string))),
        optional(seq("after", field("delay", $.duration))),
      ),
    answer: ($) => seq("answer", field("node", $._name), "=", $._results),
    signal: ($) => seq("signal", field("name", choice($._name, $.string)), "=", $._results),
    _results: ($) => seq(field("value", $.expression), repeat(seq("then", field("value", $.expression)))),
    expect_ran: ($) => prec.dynamic(1, seq("expect", "ran", commas($.step))),
    step: ($) => choice($._name, seq("[", optional(commasInside($._name)), "]")),
    expect_status: ($) => prec.dynamic(1, seq("expect", "status", field("status", $._name))),
    expect_never_ran: ($) => prec.dynamic(1, seq("expect", "never", "ran", $._names)),
    expect_paused_at: ($) => prec.dynamic(1, seq("expect", "paused", "at", field("node", $._name))),
    expect_fails_with: ($) => prec.dynamic(1, seq("expect", "fails", "with", field("code", $._name))),
    expect_undone: ($) => prec.dynamic(1, seq("expect", "undone", $._names)),
    expect: ($) => seq("expect", field("condition", $.expression)),

    // Expressions

    expression: ($) =>
      choice(
        $.conditional,
        $.binary,
        $.unary,
        $.member,
        $.index,
        $.non_null,
        $.call,
        $.name,
        $.number,
        $.duration,
        $.string,
        $.true,
        $.false,
        $.null,
        $.parenthesized,
        $.list,
        $.comprehension,
        $.record,
        $.template,
      ),
    conditional: ($) =>
      prec.right(
        CONDITIONAL,
        seq(field("condition", $.expression), "?", field("then", $.expression), ":", field("otherwise", $.expression)),
      ),
    binary: ($) =>
      choice(
        ...BINARY.map((operators, at) =>
          prec.left(
            CONDITIONAL + 1 + at,
            seq(field("left", $.expression), field("operator", choice(...operators)), field("right", $.expression)),
          ),
        ),
      ),
    unary: ($) => prec(UNARY, seq(field("operator", choice("!", "-")), field("operand", $.expression))),
    member: ($) => prec(POSTFIX, seq(field("object", $.expression), choice(".", "?."), field("property", $._word))),
    index: ($) => prec(POSTFIX, seq(field("object", $.expression), "[", field("index", $.expression), "]")),
    non_null: ($) => prec(POSTFIX, seq(field("object", $.expression), "!")),
    name: ($) => $._name,
    call: ($) => prec(POSTFIX, seq(field("callee", $._name), "(", optional(commasInside($.argument)), ")")),
    argument: ($) => seq(optional(seq(field("name", $._word), ":")), field("value", $.expression)),
    parenthesized: ($) => seq("(", $.expression, ")"),
    list: ($) => seq("[", optional(commasInside(choice($.expression, $.spread))), "]"),
    comprehension: ($) => seq("[", field("value", $.expression), repeat1($.for_clause), "]"),
    record: ($) => seq("{", optional(commasInside(choice($.record_field, $.spread))), "}"),
    record_field: ($) => choice(field("value", $.name), seq(field("name", $._key), ":", field("value", $.expression))),
    spread: ($) => seq("...", $.expression),
    template: ($) =>
      seq(
        "`",
        repeat(choice($.template_text, alias($._dollar, $.template_text), $.escape_sequence, $.interpolation)),
        "`",
      ),
    interpolation: ($) => seq("${", $.expression, "}"),
    template_text: () => token.immediate(prec(1, /[^`\\$]+/)),
    _dollar: () => token.immediate("$"),

    // Words, numbers, strings

    _name: ($) => choice($.identifier, ...SOFT_WORDS.map((word) => alias(word, $.identifier))),
    identifier: () => /[A-Za-z_][A-Za-z_0-9]*/,
    true: () => "true",
    false: () => "false",
    null: () => "null",
    number: () => /\d+(\.\d+)?([eE][+-]?\d+)?/,
    duration: () => /\d+(\.\d+)?(ms|s|m|h|d)/,
    string: ($) => seq('"', repeat(choice($.string_text, $.escape_sequence)), token.immediate('"')),
    string_text: () => token.immediate(prec(1, /[^"\\\r\n]+/)),
    escape_sequence: () => token.immediate(prec(1, /\\(u[0-9A-Fa-f]{4}|[^u\r\n])/)),

    // Comments

    doc_comment: () => token(prec(1, /\/\/\/([^/\r\n][^\r\n]*)?/)),
    line_comment: () => token(/\/\/[^\r\n]*/),
    block_comment: () => token(/\/\*[^*]*\*+([^/*][^*]*\*+)*\//),
  },
});

function commasOf(separator, rule) {
  return seq(rule, repeat(seq(separator, rule)));
}
