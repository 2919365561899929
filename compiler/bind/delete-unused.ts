/** The fixes of what nothing uses. */
import { deleteDeclaration, deleteItem } from "../../diagnostics/fixes/delete-declaration.ts";
import type { Fix } from "../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../diagnostics/source.ts";
import type * as Ast from "../../grammar/ast.ts";

/** Deletes a name of an import, or the import of this name alone. */
export function deleteImport(
  file: SourceFile,
  { declaration, name }: { readonly declaration: Ast.ImportDecl; readonly name: Ast.ImportName },
): readonly Fix[] {
  if (declaration.names.length === 1) return [deleteDeclaration({ file, span: declaration.span }, "imports")];
  const edit = deleteItem({ file, span: name.span });
  return edit === undefined ? [] : [{ title: "delete it", edits: [edit] }];
}

/**
 * Deletes a declaration with its documentation.
 *
 * @param section the key of such declarations in YAML
 */
export function deleteStatement(
  file: SourceFile,
  { span, doc }: { readonly span: Span; readonly doc?: Ast.DocComment },
  section: "secrets" | "derive" | "state",
): Fix {
  // In YAML the documentation is a part of the declaration.
  const start = Math.min(span.start, doc?.span.start ?? span.start);
  return deleteDeclaration({ file, span: { start, end: span.end } }, section);
}
