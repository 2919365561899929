import { SourceFile } from "../../diagnostics/source.ts";
import { documentsOf, innerParts, KEY, startsOf, type Part } from "./entry-memory.ts";
import { isEntry } from "./read-documents.ts";

/** The most lines of an entry of which one is left out to read the others. */
const MOST_LINES = 30;
/** The most characters that are read to find that line. */
const MOST_READ = 100_000;

/**
 * A YAML text without what cannot be read: blanks stand in the place of an entry that cannot be read by itself, or of its one line that
 * keeps it from being read. The rest keeps its offsets. Stops after each entry, because a text can have many.
 */
export function* readablePart(text: string): Generator<undefined, string> {
  const source = new SourceFile("", text);
  const pieces: string[] = [];
  let at = 0;
  const add = (end: number, isKept: boolean): void => {
    pieces.push(isKept ? text.slice(at, end) : blank(text.slice(at, end)));
    at = end;
  };
  const addEntry = ({ start, end }: Part): undefined => {
    const entry = text.slice(start, end);
    pieces.push(isEntry(entry, source) ? entry : withoutLine(entry, source));
    at = end;
  };
  for (const document of documentsOf(text)) {
    const body = text.startsWith("---", document.start)
      ? lineAfter(text, document.start, document.end)
      : document.start;
    add(body, true);
    const starts = startsOf(text, { start: body, end: document.end }, 0, KEY);
    // What stands before the first entry is no entry.
    add(starts[0] ?? document.end, false);
    for (const [index, start] of starts.entries()) {
      const entry = { start, end: starts[index + 1] ?? document.end };
      const inner = innerParts(text, entry);
      if (inner === undefined) yield addEntry(entry);
      else {
        add(inner.parts[0]?.start ?? entry.end, true);
        for (const part of inner.parts) yield addEntry(part);
      }
    }
  }
  return pieces.join("");
}

function lineAfter(text: string, start: number, end: number): number {
  return Math.min(end, text.indexOf("\n", start) + 1 || end);
}

/** An entry with blanks in place of the line that keeps it from being read, or of all of it. The first line has its key. */
function withoutLine(entry: string, source: SourceFile): string {
  const lines = entry.split("\n");
  const first = Math.max(1, lines.length - Math.min(MOST_LINES, Math.floor(MOST_READ / entry.length)));
  for (let at = lines.length - 1; at >= first; at--) {
    const changed = lines.with(at, blank(lines[at] ?? "")).join("\n");
    if (lines[at]?.trim() !== "" && isEntry(changed, source)) return changed;
  }
  return blank(entry);
}

function blank(text: string): string {
  return text.replaceAll(/[^\r\n]/g, " ");
}
