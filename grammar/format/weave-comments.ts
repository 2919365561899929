/**
 * Puts comments back into the document of a file.
 *
 * A comment stays between the same two tokens. The tokens of the source are matched with the tokens of the document:
 * both have the same tokens in the same order, except for parentheses and trailing commas. Each comment is then printed
 * between its two tokens. A comment at the end of a line stays there, and a comment on its own line stays on its own
 * line. No comment is lost, and formatting twice changes nothing. There is one exception: a comment with a line break
 * before a comma moves after the comma.
 *
 * Prettier's attachment is not used. It attaches comments to nodes, so comments move over tokens that are not nodes,
 * and some comments move again with every run.
 */
import { builders } from "prettier/doc";
import type { Comment } from "../ast.ts";
import { commentRuns, type CommentRun } from "./comment-runs.ts";
import { hardline, ifBreak, indent, type Doc } from "./doc-parts.ts";
import { matchTokens, type SourceToken } from "./match-tokens.ts";
import { readTokensOf, type Element, type Leaf, type TokenList } from "./token-list.ts";

const { breakParent, hardlineWithoutBreakParent, lineSuffix, lineSuffixBoundary } = builders;

/** The document with all comments in it. `tokens` are those of `text`, documentation included, comments left out. */
export function weaveComments(
  doc: Doc,
  text: string,
  tokens: readonly SourceToken[],
  comments: readonly Comment[],
): Doc {
  if (comments.length === 0) return doc;
  const list = readTokensOf(doc);
  matchTokens(list, tokens);
  const weaving = new Map<Leaf | Element, Insertions>();
  const left = placeAll(list, text, tokens, comments, weaving);
  return [rebuild(doc, list, weaving), standAlone(left)];
}

/** The documents printed directly before and after a token or an element. */
interface Insertions {
  readonly before: Doc[];
  readonly after: Doc[];
}

type Weaving = Map<Leaf | Element, Insertions>;

function at(weaving: Weaving, place: Leaf | Element): Insertions {
  let insertions = weaving.get(place);
  if (insertions === undefined) weaving.set(place, (insertions = { before: [], after: [] }));
  return insertions;
}

/** Places the comments of every gap between two tokens. Returns the comments of a file without tokens. */
function placeAll(
  list: TokenList,
  text: string,
  tokens: readonly SourceToken[],
  comments: readonly Comment[],
  weaving: Weaving,
): CommentRun[] {
  const elementAt = firstElements(list);
  let previous: Leaf | undefined;
  let carried: Comment[] = [];
  let next = 0;
  const takeUntil = (offset: number) => {
    const from = next;
    while (next < comments.length && (comments[next] as Comment).span.start < offset) next += 1;
    return from === next ? [] : comments.slice(from, next);
  };
  for (const leaf of list.leaves) {
    const { match } = leaf;
    if (match === undefined) continue;
    const gap = [...carried, ...takeUntil((tokens[match.first] as SourceToken).start)];
    carried = [];
    if (gap.length > 0) {
      const runs = commentRuns(text, gap, { isFirst: previous === undefined, isLast: false });
      if (leaf.text === "," && runs.some((run) => run.endsLine || run.isOwnLine)) carried = gap;
      else placeRuns(runs, { previous, leaf, element: elementAt.get(leaf), list }, weaving);
    }
    // Comments inside a copied part are copied with it.
    if (match.last > match.first) takeUntil((tokens[match.last] as SourceToken).start);
    previous = leaf;
  }
  const rest = [...carried, ...takeUntil(Number.POSITIVE_INFINITY)];
  const runs = commentRuns(text, rest, { isFirst: previous === undefined, isLast: true });
  if (previous === undefined) return runs;
  const outermost = list.elementsAround(previous)[0] ?? previous;
  const [first] = runs;
  if (first?.isOwnLine === false) at(weaving, previous).after.push(lineSuffix([" ", first.doc]));
  const own = runs.filter((run) => run.isOwnLine).map((run) => ownLine(run, run.blankBefore));
  at(weaving, outermost).after.push(lineSuffix(own));
  return [];
}

/** The outermost element that begins with each token. */
function firstElements({ leaves, elements }: TokenList): Map<Leaf, Element> {
  const firsts = new Map<Leaf, Element>();
  for (const element of elements) {
    for (let index = element.from; index < element.to; index += 1) {
      const leaf = leaves[index] as Leaf;
      if (leaf.match === undefined) continue;
      if (!firsts.has(leaf)) firsts.set(leaf, element);
      break;
    }
  }
  return firsts;
}

interface Gap {
  readonly previous: Leaf | undefined;
  readonly leaf: Leaf;
  /** The outermost element that begins with `leaf`. */
  readonly element: Element | undefined;
  readonly list: TokenList;
}

const OPENERS = new Set(["(", "[", "{", "${", "<"]);
const CLOSERS = new Set([")", "]", "}"]);
/** Tokens without a blank after them. */
const PREFIXES = new Set([...OPENERS, ".", "?.", "!", "-"]);

function placeRuns(runs: readonly CommentRun[], gap: Gap, weaving: Weaving): void {
  const { previous, leaf, element } = gap;
  const isInside = previous !== undefined && OPENERS.has(previous.text);
  const leading: Doc[] = [];
  // All comments share one suffix: the printer passes suffixes as call arguments, and their number is limited.
  const own: Doc[] = [];
  let breaks = false;
  runs.forEach((run, index) => {
    if (!run.endsLine) {
      if (breaks && element === undefined && CLOSERS.has(leaf.text)) own.push(ownLine(run, false));
      else placeInline(run, breaks, gap, leading, weaving);
      return;
    }
    breaks = true;
    if (previous !== undefined && !run.isOwnLine) at(weaving, previous).after.push(lineSuffix([" ", run.doc]));
    else if (previous === undefined || element !== undefined) {
      leading.push([run.doc, hardline, run.blankAfter ? hardline : ""]);
    } else own.push(ownLine(run, run.blankBefore && !(index === 0 && isInside)));
  });
  if (own.length > 0 && previous !== undefined) {
    // Before a closing bracket, comments have the indentation of the list. Elsewhere they have the indentation of the
    // element that ends there.
    const container = CLOSERS.has(leaf.text) && !isInside ? outermostWithout(gap.list, previous, leaf) : undefined;
    at(weaving, container ?? previous).after.push(lineSuffix(isInside ? indent(own) : own));
  }
  const { before } = at(weaving, element ?? leaf);
  before.push(leading);
  if (!breaks) return;
  if (element !== undefined || CLOSERS.has(leaf.text)) before.unshift(breakParent, lineSuffixBoundary);
  else before.unshift(indent(lineSuffixBoundary));
}

/** A comment that does not end its line. */
function placeInline(run: CommentRun, breaks: boolean, gap: Gap, leading: Doc[], weaving: Weaving): void {
  const { previous, leaf, element, list } = gap;
  if (element !== undefined || previous === undefined) {
    leading.push(run.doc, " ");
    return;
  }
  if (CLOSERS.has(leaf.text)) {
    if (OPENERS.has(previous.text)) {
      at(weaving, previous).after.push(previous.text === "{" ? [" ", run.doc, " "] : run.doc);
    } else {
      // If the list is broken, the closing bracket moves to the next line, and the comment ends the line before it.
      const container = outermostWithout(list, previous, leaf);
      if (container === undefined) at(weaving, previous).after.push(" ", run.doc);
      else at(weaving, container).after.push(ifBreak(lineSuffix([" ", run.doc]), [" ", run.doc]));
    }
    return;
  }
  const { before } = at(weaving, leaf);
  if (breaks || leaf.isApart || PREFIXES.has(previous.text)) before.push(run.doc, " ");
  else before.push(" ", run.doc);
}

/** The outermost element that holds one token and ends before another. */
function outermostWithout(list: TokenList, inside: Leaf, outside: Leaf): Element | undefined {
  return list.elementsAround(inside).find((element) => element.to <= outside.index);
}

/** A comment on its own line, after the element that ends there. */
function ownLine(run: CommentRun, isApart: boolean): Doc {
  return [hardlineWithoutBreakParent, isApart ? hardlineWithoutBreakParent : "", run.doc];
}

/** The comments of a file that holds nothing else. */
function standAlone(runs: readonly CommentRun[]): Doc {
  return runs.map((run, index) => [index > 0 ? hardline : "", index > 0 && run.blankBefore ? hardline : "", run.doc]);
}

function rebuild(doc: Doc, list: TokenList, weaving: Weaving): Doc {
  let leafIndex = 0;
  let elementIndex = 0;
  const around = (place: Leaf | Element | undefined, printed: Doc): Doc => {
    const insertions = place === undefined ? undefined : weaving.get(place);
    return insertions === undefined ? printed : [insertions.before, printed, insertions.after];
  };
  const visit = (part: Doc): Doc => {
    if (typeof part === "string") return list.isLeaf(part) ? around(list.leaves[leafIndex++], part) : part;
    if (Array.isArray(part)) return part.map(visit);
    switch (part.type) {
      case "fill":
        return { ...part, parts: part.parts.map(visit) };
      case "group":
      case "indent":
        return { ...part, contents: visit(part.contents) };
      case "if-break": {
        // The part is not always printed, so the comments of its tokens are printed around it.
        const from = leafIndex;
        leafIndex += list.countIn(part);
        const insertions = list.leaves.slice(from, leafIndex).map((leaf) => weaving.get(leaf));
        return [insertions.map((each) => each?.before ?? []), part, insertions.map((each) => each?.after ?? [])];
      }
      case "label":
        switch (list.markOf(part).kind) {
          case "element":
            return around(list.elements[elementIndex++], { ...part, contents: visit(part.contents) });
          case "verbatim":
            return list.markOf(part).span === undefined ? part : around(list.leaves[leafIndex++], part);
        }
      // eslint-disable-next-line no-fallthrough -- both kinds of marks have returned
      default:
        return part;
    }
  };
  return visit(doc);
}
