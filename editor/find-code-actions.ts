import type { CodeAction, Range, TextEdit } from "vscode-languageserver-protocol";
import { compile } from "../compiler/compile.ts";
import type { CompilerHost } from "../compiler/load/host.ts";
import type { Edit } from "../diagnostics/fixes/apply-edits.ts";
import { fixText } from "../diagnostics/fixes/fix-text.ts";
import type { SourceFile } from "../diagnostics/source.ts";
import type { CheckedDocument } from "./document.ts";
import { toProtocol, type Links } from "./find-diagnostics.ts";
import { toRange, toSpan } from "./positions.ts";
import { replaceText } from "./replace-text.ts";

/** The kinds of code actions that exist. */
export const CODE_ACTION_KINDS = ["quickfix", "source.fixAll.ngraph"] as const;

/**
 * The suggested fixes of the findings in a range, and the action that applies all fixes of the file that reduce the number of its findings.
 *
 * @param only the kinds that the editor asks for; a kind includes its subkinds. Default: quick fixes
 */
export function findCodeActions(
  checked: CheckedDocument,
  range: Range,
  only: readonly string[] | undefined,
  context: { readonly host: CompilerHost; readonly links: Links },
): CodeAction[] {
  const actions: CodeAction[] = [];
  if (wants(only, "quickfix")) actions.push(...quickFixes(checked, range, context.links));
  // Computed on request alone: it checks the text again after each round of fixes.
  if (only !== undefined && wants(only, "source.fixAll.ngraph")) {
    const edits = fixAll(checked, context.host);
    if (edits.length > 0) {
      actions.push({
        title: "Fix all findings that have a fix",
        kind: "source.fixAll.ngraph",
        edit: { changes: { [checked.document.uri]: edits } },
      });
    }
  }
  return actions;
}

function wants(only: readonly string[] | undefined, kind: string): boolean {
  return only === undefined || only.some((each) => each === kind || kind.startsWith(`${each}.`) || each === "");
}

function quickFixes({ document, source, result }: CheckedDocument, range: Range, links: Links): CodeAction[] {
  const asked = toSpan(source, range);
  return result.diagnostics
    .filter(({ file, span }) => file.path === document.path && span.start <= asked.end && asked.start <= span.end)
    .flatMap((diagnostic) =>
      diagnostic.fixes.map((fix, index) => ({
        title: capitalised(fix.title),
        kind: "quickfix",
        diagnostics: [toProtocol(diagnostic, links)],
        ...(index === 0 ? { isPreferred: true } : {}),
        edit: { changes: { [document.uri]: fix.edits.map((edit) => toTextEdit(source, edit)) } },
      })),
    );
}

/** The text edits of all fixes that help, as `ngc check --fix` selects them. */
function fixAll({ document, source }: CheckedDocument, host: CompilerHost): TextEdit[] {
  const { path, spelling, text } = document;
  const fixed = fixText(text, (changed) =>
    compile(changed, { path, spelling, host }).diagnostics.filter(({ file }) => file.path === path),
  );
  return replaceText(source, fixed.text);
}

function toTextEdit(source: SourceFile, edit: Edit): TextEdit {
  // Inserted line breaks follow the text, as in `applyEdits`.
  const newText = source.text.includes("\r\n") ? edit.text.replaceAll(/\r?\n/g, "\r\n") : edit.text;
  return { range: toRange(source, edit.span), newText };
}

function capitalised(title: string): string {
  return title.slice(0, 1).toUpperCase() + title.slice(1);
}
