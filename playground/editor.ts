/** The editors of the page. */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { Annotation, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";
import type { LSPClient } from "@codemirror/lsp-client";
import { ngraphLanguage } from "./highlight.ts";

/** A change that the page makes, such as the conversion of the other spelling. */
const ByPage = Annotation.define<true>();

export interface EditorOptions {
  readonly name: string;
  readonly text: string;
  readonly label: string;
  readonly client: LSPClient;
  readonly onChange: (text: string) => void;
}

export function createEditor(parent: HTMLElement, options: EditorOptions): EditorView {
  const { name, text, label, client, onChange } = options;
  return new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        autocompletion(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        EditorView.lineWrapping,
        syntaxHighlighting(classHighlighter),
        keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap]),
        EditorView.contentAttributes.of({ "aria-label": label }),
        languageOf(name, client),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged || update.transactions.some((each) => each.annotation(ByPage) === true)) return;
          onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
}

function languageOf(name: string, client: LSPClient): Extension {
  if (name.endsWith(".ngraph"))
    return [ngraphLanguage, lintGutter(), client.plugin(`file:///playground/${name}`, "ngraph")];
  if (name.endsWith(".ngraph.yaml")) {
    return [yaml(), lintGutter(), client.plugin(`file:///playground/${name}`, "ngraph-yaml")];
  }
  return javascript({ typescript: name.endsWith(".ts") });
}

/** Replaces the text without a report to `onChange`, and leaves what is equal, so that the cursor stays. */
export function setText(view: EditorView, text: string): void {
  const old = view.state.doc.toString();
  if (old === text) return;
  let from = 0;
  const most = Math.min(old.length, text.length);
  while (from < most && old[from] === text[from]) from++;
  let end = 0;
  while (end < most - from && old.at(-1 - end) === text.at(-1 - end)) end++;
  view.dispatch({
    changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) },
    annotations: ByPage.of(true),
  });
}

/** Shows a place of the text. Positions are those of findings: lines and columns from 1. */
export function showPlace(view: EditorView, from: number, to = from): void {
  const { length } = view.state.doc;
  const selection = { anchor: Math.min(from, length), head: Math.min(to, length) };
  view.dispatch({ selection, effects: EditorView.scrollIntoView(selection.anchor, { y: "center" }) });
  view.focus();
}

export function offsetOf(
  view: EditorView,
  { line, column }: { readonly line: number; readonly column: number },
): number {
  const { doc } = view.state;
  const found = doc.line(Math.max(1, Math.min(line, doc.lines)));
  return Math.min(found.from + column - 1, found.to);
}
