import { Parser, type CST } from "yaml";

/** The tokens of a text, or the offset of what nests deeper than `limit` levels. */
export function tokensOf(text: string, limit: number): CST.Token[] | number {
  const tokens: CST.Token[] = [];
  try {
    for (const token of new Parser().parse(text)) {
      const deep = nestingOf(token, limit);
      if (deep !== undefined) return deep;
      tokens.push(token);
    }
  } catch (error) {
    // The parser calls itself for each line of a block in a flow list that is not closed.
    if (error instanceof RangeError) return 0;
    throw error;
  }
  return tokens;
}

/**
 * The offset where a YAML document nests deeper than `limit` levels, or `undefined`. The check runs before composing,
 * because composing such a document would overflow the stack; it is iterative for the same reason.
 */
function nestingOf(token: CST.Token, limit: number): number | undefined {
  const open: { readonly token: CST.Token; readonly depth: number }[] = [{ token, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const isCollection = "items" in next.token;
    const depth = isCollection ? next.depth + 1 : next.depth;
    if (depth > limit) return next.token.offset;
    for (const child of childrenOf(next.token)) open.push({ token: child, depth });
  }
  return undefined;
}

function childrenOf(token: CST.Token): CST.Token[] {
  const children: CST.Token[] = [];
  if (token.type === "document" && token.value !== undefined) children.push(token.value);
  if ("items" in token) {
    for (const item of token.items) {
      if (item.key !== undefined && item.key !== null) children.push(item.key);
      if (item.value !== undefined) children.push(item.value);
    }
  }
  return children;
}
