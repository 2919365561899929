; A name means the same in all of a graph or plan; the variables of `for` belong to their statement.

[(file) (graph) (plan) (node) (task) (comprehension)] @local.scope

(channel name: (identifier) @local.definition.var)
(derive name: (identifier) @local.definition.var)
(const name: (identifier) @local.definition.constant)
(secret name: (identifier) @local.definition.constant)
(type_declaration name: (identifier) @local.definition.type)
(import_name local: (identifier) @local.definition.import)
(import_name imported: (identifier) @local.definition.import .)
(for_clause item: (identifier) @local.definition.parameter)
(for_clause index: (identifier) @local.definition.parameter)
(axis item: (identifier) @local.definition.parameter)

(name (identifier) @local.reference)
(named_type (identifier) @local.reference)
(call callee: (identifier) @local.reference)
(channel_output channel: (identifier) @local.reference)
(output_field channel: (identifier) @local.reference)
