export interface FencedBlock {
  readonly language: string;
  /** What follows the language on the fence's line. */
  readonly info: string;
  readonly text: string;
  /** 1-based, of the fence. */
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
