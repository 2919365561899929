import { Lexer } from "yaml";
import type { Comment } from "../ast.ts";

/** Marks of the lexer that stand for no text: start of a document, end of a flow, start of a scalar. */
const MARK = /^[\u0002\u0018\u001f]$/;

/**
 * The comments of a YAML text, with their places: they are no part of the tree, but some of them speak to tools. `text` includes
 * the `#`. A `#` inside a string is none.
 */
export function yamlComments(text: string): Comment[] {
  const comments: Comment[] = [];
  let offset = 0;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (MARK.test(token)) {
      isScalar = token === "\u001f";
      continue;
    }
    if (!isScalar && token.startsWith("#")) {
      comments.push({ kind: "LineComment", span: { start: offset, end: offset + token.length }, text: token });
    }
    isScalar = false;
    offset += token.length;
  }
  return comments;
}
