/** The end of the comment that follows on the line, if nothing else is between; else `at`. */
export function afterComment(text: string, at: number, mark: "//" | "#"): number {
  const lineEnd = text.indexOf("\n", at);
  const rest = text.slice(at, lineEnd === -1 ? text.length : lineEnd);
  return rest.trimStart().startsWith(mark) ? at + rest.trimEnd().length : at;
}
