import { displayWidth } from "../../diagnostics/render/index.ts";
import { interceptWrites, type Intercepted, type Streams } from "../process/intercept-writes.ts";

/** The terminal's last lines, rewritten in place. */
export interface LiveBlock {
  /** Shows what there is to show now; often called, it draws only so often. */
  draw(): void;
  /** Takes the lines away, lets whole lines be written, and puts them back. */
  above(write: () => void): void;
  /** Takes the lines away for good. */
  stop(): void;
}

const blocks = new Set<LiveBlock>();

/** For whoever ends the program in the middle of things: what it says last begins on a line of its own. */
export function stopLiveBlocks(): void {
  for (const block of blocks) block.stop();
}

/** The least time between two drawings, in milliseconds: a step of ten thousand tasks is not ten thousand drawings. */
const REDRAW_MS = 80;
/** How often times that pass are shown anew. */
const TICK_MS = 100;

/**
 * Keeps `lines` below everything that is written to the terminal, by whomever: what user code prints goes above. Lines are cut to
 * the terminal's width and to as many as it has, so that each can be taken back; after a change of its size, the rows that they
 * have come to take are counted anew.
 */
export function liveBlock(lines: () => readonly string[], streams: Streams = process): LiveBlock {
  const stream = streams.stderr;
  let shown: readonly string[] = [];
  let drawnAt = -Infinity;
  let isAtLineStart = true;
  let isOver = false;
  const columns = (): number => Math.max(1, stream.columns || 80);

  const erase = (): string => {
    if (shown.length === 0) return "";
    // The cursor stands at the end of the last line.
    const rows = shown.reduce((total, line) => total + Math.max(1, Math.ceil(cellsOf(line) / columns())), 0);
    shown = [];
    return `${rows > 1 ? `\u001b[${rows - 1}A` : ""}\r\u001b[J`;
  };
  const paint = (): void => {
    drawnAt = performance.now();
    const rows = Math.max(1, (stream.rows || 24) - 1);
    const next = lines()
      .slice(-rows)
      .map((line) => cutLine(line, columns() - 1))
      .filter((line) => line !== "");
    const before = erase();
    shown = next;
    if (before !== "" || next.length > 0) intercepted.write(`${before}${next.join("\n")}`);
  };
  const clear = (): void => {
    const text = erase();
    if (text !== "") intercepted.write(text);
  };
  const intercepted: Intercepted = interceptWrites(
    streams,
    () => clear(),
    (last) => (isAtLineStart = last === "\n" || (last === "" && isAtLineStart)),
  );
  const draw = (): void => {
    if (!isOver && isAtLineStart && performance.now() - drawnAt >= REDRAW_MS) paint();
  };
  const timer = setInterval(draw, TICK_MS);
  timer.unref();
  const block: LiveBlock = {
    draw,
    above(write) {
      clear();
      write();
      isAtLineStart = true;
      draw();
    },
    stop() {
      if (isOver) return;
      isOver = true;
      blocks.delete(block);
      clearInterval(timer);
      clear();
      intercepted.restore();
    },
  };
  blocks.add(block);
  return block;
}

/** A line with its colours, cut to so many cells. */
export function cutLine(line: string, cells: number): string {
  if (cellsOf(line) <= cells) return line;
  let left = cells - 1;
  let text = "";
  let isFull = false;
  for (const part of line.split(COLOUR)) {
    if (part.startsWith("\u001b")) {
      text += part;
      continue;
    }
    for (const character of part) {
      left -= displayWidth(character);
      if (isFull || left < 0) {
        if (!isFull && cells > 0) text += "…";
        isFull = true;
        break;
      }
      text += character;
    }
  }
  return text;
}

function cellsOf(line: string): number {
  return displayWidth(line.replace(COLOUR, ""));
}

// oxlint-disable-next-line no-control-regex -- colours begin with it
const COLOUR = /(\u001b\[[\d;]*m)/g;
