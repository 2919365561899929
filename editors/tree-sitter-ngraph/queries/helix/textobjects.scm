(graph body: (_) @function.inside) @function.around
(plan body: (_) @function.inside) @function.around
(test body: (_) @test.inside) @test.around
(argument) @parameter.inside
[(line_comment) (block_comment) (doc_comment)] @comment.inside
