[
  (import) (graph_body) (plan_body) (test_body) (policies) (match_value) (match_condition)
  (record_type) (record) (list) (comprehension) (call) (template) (block_comment)
] @fold
