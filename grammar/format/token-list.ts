import type { Span } from "../../diagnostics/source.ts";
import type { Doc, Mark } from "./doc-parts.ts";

/** One token of a document, in the order of printing. */
export interface Leaf {
  readonly index: number;
  readonly text: string;
  /** A trailing comma or a leading `|`. It is printed only if its group is broken, and the source may lack it. */
  readonly isOptional: boolean;
  /** A blank or a possible line break precedes the token. */
  readonly isApart: boolean;
  /** The span in the source, for a part of the source that is copied. */
  readonly copied: Span | undefined;
  /** The indices of the first and last matching token of the source; absent if none matches. */
  match?: { readonly first: number; readonly last: number };
}

/** A stretch of tokens that begins a line where the list around it is broken. */
export interface Element {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** The span in the source, for an item, a statement, a policy or an arm. */
  readonly span: Span | undefined;
}

/** The tokens and elements of a document. */
export interface TokenList {
  readonly leaves: readonly Leaf[];
  /** Outer elements first. */
  readonly elements: readonly Element[];
  isLeaf(text: string): boolean;
  markOf(label: { readonly label: unknown }): Mark;
  /** The number of tokens in a part. */
  countIn(part: Doc): number;
  /** The elements that hold a token, outermost first. */
  elementsAround(leaf: Leaf): Element[];
}

export function readTokensOf(doc: Doc): TokenList {
  const leaves: Leaf[] = [];
  const elements: { from: number; to: number; span: Span | undefined }[] = [];
  /** The innermost element of each token, and the element around each element. */
  const elementOf: number[] = [];
  const parents: number[] = [];
  let isApart = true;
  let current = -1;
  const add = (text: string, isOptional: boolean, copied?: Span) => {
    elementOf.push(current);
    leaves.push({ index: leaves.length, text, isOptional, isApart, copied });
    isApart = false;
  };
  const visit = (part: Doc, isOptional: boolean): void => {
    if (typeof part === "string") {
      if (isLeaf(part)) add(part, isOptional);
      else if (part !== "") isApart = true;
      return;
    }
    if (Array.isArray(part)) {
      for (const each of part) visit(each, isOptional);
      return;
    }
    switch (part.type) {
      case "line":
        isApart = true;
        break;
      case "fill":
        for (const each of part.parts) visit(each, isOptional);
        break;
      case "group":
      case "indent":
        visit(part.contents, isOptional);
        break;
      case "if-break":
        visit(part.breakContents, true);
        visit(part.flatContents, true);
        break;
      case "label": {
        const mark = markOf(part);
        if (mark.kind === "verbatim") {
          if (mark.span !== undefined) add("", isOptional, mark.span);
          else isApart = false;
          break;
        }
        const element = { from: leaves.length, to: leaves.length, span: mark.span };
        const outer = current;
        parents.push(outer);
        current = elements.push(element) - 1;
        visit(part.contents, isOptional);
        element.to = leaves.length;
        current = outer;
        break;
      }
      default:
    }
  };
  visit(doc, false);
  return {
    leaves,
    elements,
    isLeaf,
    markOf,
    countIn: (part) => readTokensOf(part).leaves.length,
    elementsAround(leaf) {
      const around: Element[] = [];
      for (let index = elementOf[leaf.index] ?? -1; index !== -1; index = parents[index] ?? -1) {
        around.push(elements[index] as Element);
      }
      return around.reverse();
    },
  };
}

function isLeaf(text: string): boolean {
  return text.trim() !== "";
}

function markOf(part: { readonly label: unknown }): Mark {
  return part.label as Mark;
}
