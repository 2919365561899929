(graph "graph" @context name: (identifier) @name) @item
(plan "plan" @context name: (identifier) @name) @item
(test "test" @context title: (string) @name) @item
(type_declaration "type" @context name: (identifier) @name) @item
(const "const" @context name: (identifier) @name) @item
(channel role: _ @context name: (identifier) @name) @item
(node "node" @context name: (identifier) @name) @item
(task "task" @context name: (identifier) @name) @item
