; Declarations and uses, for search by name.

(graph name: (identifier) @name) @definition.function
(plan name: (identifier) @name) @definition.function
(type_declaration name: (identifier) @name) @definition.type
(const name: (identifier) @name) @definition.constant
(node name: (identifier) @name) @definition.method
(task name: (identifier) @name) @definition.method
(call callee: (identifier) @name) @reference.call
(test subject: (identifier) @name) @reference.call
(named_type (identifier) @name) @reference.type
