; Colours. The names of the captures are those that tree-sitter, Neovim, Helix, Zed and GitHub share. A later pattern wins over an earlier one.

(identifier) @variable

; Names by their place

(named_type (identifier) @type)
((named_type (identifier) @type.builtin)
  (#any-of? @type.builtin "string" "int" "float" "bool" "json"))
(map_type "map" @type.builtin)
(type_declaration name: (identifier) @type)
(graph name: (identifier) @function)
(plan name: (identifier) @function)
(test subject: (identifier) @function)
(node name: (identifier) @function)
(task name: (identifier) @function)
(call callee: (identifier) @function.call)
(const name: (identifier) @constant)
(secret name: (identifier) @constant)
(argument name: (identifier) @variable.parameter)
(for_clause item: (identifier) @variable.parameter)
(for_clause index: (identifier) @variable.parameter)
(axis item: (identifier) @variable.parameter)
(member property: (identifier) @property)
(record_field name: (identifier) @property)
(record_type_field name: (identifier) @property)
(output_field field: (identifier) @property)

; Nodes that edges, assertions and tests name

(edge source: (identifier) @function)
(edge chain: (identifier) @function)
(any_of (identifier) @function)
(all_of (identifier) @function)
(targets (identifier) @function)
(value_arm (identifier) @function)
(condition_arm (identifier) @function)
(dependency task: (identifier) @function)
(step (identifier) @function)
(assert node: (identifier) @function)
(assert other: (identifier) @function)
(mock node: (identifier) @function)
(answer node: (identifier) @function)
(expect_never_ran (identifier) @function)
(expect_paused_at node: (identifier) @function)
(expect_undone (identifier) @function)
(waits (identifier) @function)
(goes (identifier) @function)

((identifier) @constant.builtin
  (#any-of? @constant.builtin "start" "end"))

; Keywords

[
  "import" "from" "as" "type" "secret" "const" "graph" "plan" "test" "with" "was"
  "derive" "node" "limit" "steps" "tokens" "cost" "none" "max" "parallel" "defaults" "assert" "drop"
  "once" "eventually" "never" "before" "each" "at"
  "into" "set" "reduce" "any" "all" "settled" "error"
  "tries" "backoff" "timeout" "within" "cache" "inputs" "variables" "tools" "allow" "failure" "waits" "goes" "pause" "undo" "touches"
  "read" "done" "pool" "estimate" "cwd" "env" "outputs"
  "finally" "task" "after" "failed" "order" "file" "continue" "no" "new" "kill" "on"
  "given" "mock" "answer" "signal" "expect" "then" "fails" "ran" "status" "paused" "undone"
] @keyword

(channel role: _ @keyword)
[(idempotent) (alone) (worktree) (interactive)] @keyword
["match" "when" "else" "if"] @keyword.conditional
(otherwise) @keyword.conditional
"for" @keyword.repeat
(binary operator: "in" @keyword.operator)
(for_clause "in" @keyword.operator)
(axis "in" @keyword.operator)

; Literals, operators, punctuation

(string) @string
(template) @string
(escape_sequence) @string.escape
(number) @number
(duration) @number
[(true) (false)] @boolean
(null) @constant.builtin

(interpolation ["${" "}"] @punctuation.special)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ":" "." "?."] @punctuation.delimiter
["->" "=" "|" "..." ".."] @operator
(unary operator: _ @operator)
(non_null "!" @operator)
(conditional ["?" ":"] @operator)
(binary operator: [
  "??" "||" "&&" "==" "!=" "<" "<=" ">" ">=" "+" "-" "*" "/" "%"
] @operator)

; Comments

[(line_comment) (block_comment)] @comment
(doc_comment) @comment.documentation
