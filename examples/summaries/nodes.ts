/** Node functions of `summaries.ngraph`. The model is a stub: it runs offline and always answers alike. */

/** Summarizes a text by its first words. Fails for a text without words. */
export async function summarize(text: string): Promise<string> {
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) throw new Error("the text is empty");
  return words.slice(0, 8).join(" ");
}

/** Puts neighbours together, as long as they fit into `size` characters. */
export function groupTexts(texts: readonly string[], size: number): string[] {
  const groups: string[] = [];
  for (const text of texts) {
    const last = groups.at(-1);
    if (last !== undefined && last.length + text.length < size) groups[groups.length - 1] = `${last} ${text}`;
    else groups.push(text);
  }
  return groups;
}
