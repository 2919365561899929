; Comments, and the commands of `shell`.

([(line_comment) (block_comment) (doc_comment)] @injection.content
  (#set! injection.language "comment"))

((call
  callee: (identifier) @_callee
  (argument value: (string (string_text) @injection.content)))
  (#eq? @_callee "shell")
  (#set! injection.language "bash")
  (#set! injection.combined))

((call
  callee: (identifier) @_callee
  (argument value: (template (template_text) @injection.content)))
  (#eq? @_callee "shell")
  (#set! injection.language "bash")
  (#set! injection.combined))
