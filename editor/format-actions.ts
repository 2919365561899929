import type { CodeAction } from "vscode-languageserver-protocol";
import { applyEdits } from "../diagnostics/fixes/apply-edits.ts";
import { keepFormatted } from "../diagnostics/fixes/keep-formatted.ts";
import { SourceFile } from "../diagnostics/source.ts";
import type { OpenDocument } from "./document.ts";
import { toSpan } from "./positions.ts";
import { replaceText } from "./replace-text.ts";

/** Each action formats the text once more. An editor asks for the line of the cursor, which has few; of more, the rest stay as they are. */
const MOST_FORMATTED = 30;

/**
 * The code actions of a document, whose edits leave a formatted text formatted. A text that is not formatted, or not after the edits,
 * keeps the smallest edits.
 *
 * @param format the formatted text; `undefined` for a text with syntax errors
 */
export async function formatActions(
  actions: readonly CodeAction[],
  document: OpenDocument,
  format: (document: OpenDocument) => Promise<string | undefined>,
): Promise<CodeAction[]> {
  if (actions.length === 0) return [];
  const keep = await keepFormatted(document.text, (text) => format({ ...document, text }));
  const source = new SourceFile(document.path, document.text);
  const kept: CodeAction[] = [];
  for (const [index, action] of actions.entries()) {
    const edits = action.edit?.changes?.[document.uri];
    if (edits === undefined || index >= MOST_FORMATTED) {
      kept.push(action);
      continue;
    }
    const changed = applyEdits(
      document.text,
      edits.map(({ range, newText }) => ({ span: toSpan(source, range), text: newText })),
    );
    const formatted = await keep(changed);
    kept.push(
      formatted === changed
        ? action
        : { ...action, edit: { changes: { [document.uri]: replaceText(source, formatted) } } },
    );
  }
  return kept;
}
