export interface FencedBlock {
  readonly language: string;
  /** The text after the language in the line of the fence. */
  readonly info: string;
  readonly text: string;
  /** Line of the fence, 1-based. */
  readonly line: number;
}

/** The fenced code blocks of a Markdown text. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  const pattern = /^```(\w+)([^\n]*)\n([\s\S]*?)^```$/gm;
  for (let match = pattern.exec(markdown); match !== null; match = pattern.exec(markdown)) {
    const [, language = "", info = "", text = ""] = match;
    blocks.push({ language, info: info.trim(), text, line: markdown.slice(0, match.index).split("\n").length });
  }
  return blocks;
}
