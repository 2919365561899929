import { Lexer } from "yaml";
import type { Span } from "../../diagnostics/source.ts";
import type { Comment } from "../ast.ts";

/** Markers that the lexer of `yaml` emits: start of a document, end of a flow collection, start of a scalar. */
const MARK = /^[\u0002\u0018\u001f]$/;

/** A YAML feature that the tree does not represent: an anchor, an alias, a tag, a directive. */
export interface YamlMark {
  readonly kind: "anchor" | "alias" | "tag" | "directive";
  readonly text: string;
  readonly span: Span;
}

const KINDS: Readonly<Record<string, YamlMark["kind"]>> = { "&": "anchor", "*": "alias", "!": "tag", "%": "directive" };

/** The parts of a YAML text that are not values. */
export interface YamlAsides {
  readonly comments: readonly Comment[];
  readonly marks: readonly YamlMark[];
}

/**
 * The comments of a YAML text with their places, and the other features that the tree does not represent. The `text` of
 * a comment includes the `#`. A `#` inside a string is not a comment.
 */
export function yamlAsides(text: string): YamlAsides {
  const comments: Comment[] = [];
  const marks: YamlMark[] = [];
  let offset = 0;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (MARK.test(token)) {
      isScalar = token === "\u001f";
      continue;
    }
    const span = { start: offset, end: offset + token.length };
    const kind = KINDS[token[0] ?? ""];
    if (!isScalar && token.startsWith("#")) comments.push({ kind: "LineComment", span, text: token });
    else if (!isScalar && kind !== undefined) marks.push({ kind, text: token, span });
    isScalar = false;
    offset += token.length;
  }
  return { comments, marks };
}

/** The comments of a YAML text. The tree does not contain them, but tools read some of them. */
export function yamlComments(text: string): readonly Comment[] {
  return yamlAsides(text).comments;
}
