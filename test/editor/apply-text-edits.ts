import type { TextEdit } from "vscode-languageserver-protocol";
import { TextDocument } from "vscode-languageserver-textdocument";

/** The text after the edits, applied as an editor applies them. */
export function applyTextEdits(text: string, edits: readonly TextEdit[]): string {
  return TextDocument.applyEdits(TextDocument.create("file:///a", "ngraph", 1, text), [...edits]);
}
