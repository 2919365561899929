; Neovim.

[
  (import) (graph_body) (plan_body) (test_body) (policies) (undo_policies) (match_value) (match_condition)
  (record_type) (fields_output) (record) (list) (comprehension) (call) (parenthesized)
] @indent.begin

["}" ")" "]"] @indent.branch @indent.end
[(template) (block_comment)] @indent.ignore
