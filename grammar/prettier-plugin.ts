/**
 * The Prettier plugin: `"plugins": ["ngraph/prettier"]`. The same document as `ngc fmt`, printed by Prettier with its
 * own settings (`printWidth`, `tabWidth`, `useTabs`, `endOfLine`).
 *
 * Prettier receives the tree as one node: comments, blank lines and `// prettier-ignore` are woven into its
 * document (`format/weave-comments.ts`), because Prettier's attachment to nodes moves comments in odd places with every
 * run.
 */
import type { Parser, Printer, SupportLanguage } from "prettier";
import type { File } from "./ast.ts";
import { FormatError, readForFormat } from "./format/format.ts";
import { fileDocument, PRINT_WIDTH, TAB_WIDTH } from "./format/print-file.ts";

/** The only node that Prettier receives for a file. */
interface Root {
  readonly file: File;
}

export const languages: SupportLanguage[] = [
  { name: "ngraph", parsers: ["ngraph"], extensions: [".ngraph"], vscodeLanguageIds: ["ngraph"] },
];

export const parsers: Record<"ngraph", Parser<Root>> = {
  ngraph: {
    astFormat: "ngraph",
    parse(text, options) {
      const path = (options as { readonly filepath?: string }).filepath;
      try {
        return { file: readForFormat(text, path) };
      } catch (error) {
        throw error instanceof FormatError ? withLocation(error) : error;
      }
    },
    locStart: ({ file }) => file.span.start,
    locEnd: ({ file }) => file.span.end,
    hasPragma: (text) => /^\s*\/\/\s*@(?:format|prettier)\s*$/m.test(text.split("\n", 1)[0] ?? ""),
  },
};

export const printers: Record<"ngraph", Printer<Root>> = {
  ngraph: {
    print: (path) => fileDocument(path.node.file),
    getVisitorKeys: () => [],
    insertPragma: (text) => `// @format\n\n${text}`,
  },
};

export const defaultOptions = { printWidth: PRINT_WIDTH, tabWidth: TAB_WIDTH };

/** Prettier shows a code frame for errors that have a `loc`. */
function withLocation(error: FormatError): Error {
  const [first] = error.diagnostics;
  if (first === undefined) return error;
  const { start, end } = first.file.range(first.span);
  return Object.assign(new SyntaxError(`${first.message} (${first.code})`, { cause: error }), { loc: { start, end } });
}
