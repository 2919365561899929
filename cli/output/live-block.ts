import { displayWidth } from "../../diagnostics/render/index.ts";
import { interceptWrites, type Intercepted, type Streams } from "../process/intercept-writes.ts";

/** The last lines of the terminal, rewritten in place. */
export interface LiveBlock {
  /** Draws the current lines; at most once every `REDRAW_MS`. */
  draw(): void;
  /** Removes the lines, calls `write`, which writes whole lines, and draws the lines again. */
  above(write: () => void): void;
  /** Removes the lines, and draws none until the returned function is called. */
  pause(): () => void;
  /** Removes the lines permanently. */
  stop(): void;
}

/** The room that the lines may fill. */
export interface BlockSize {
  readonly columns: number;
  readonly rows: number;
}

const blocks = new Set<LiveBlock>();

/** Stops all live blocks before the process ends early, so that its last message starts on a new line. */
export function stopLiveBlocks(): void {
  for (const block of blocks) block.stop();
}

/** Minimum time between two drawings, in milliseconds: ten thousand events must not cause ten thousand drawings. */
const REDRAW_MS = 80;
/** Interval at which elapsed times are redrawn, in milliseconds. */
const TICK_MS = 100;

/**
 * Keeps `lines` below everything that is written to the terminal; output of user code appears above them. Lines are cut to the width
 * and the number of rows of the terminal, so that they can be erased. The rows to erase are counted with the current width, because
 * the terminal may have been resized.
 */
export function liveBlock(lines: (size: BlockSize) => readonly string[], streams: Streams = process): LiveBlock {
  const stream = streams.stderr;
  let shown: readonly string[] = [];
  let drawnAt = -Infinity;
  let isAtLineStart = true;
  let isOver = false;
  let pauses = 0;
  const columns = (): number => Math.max(1, stream.columns || 80);

  const erase = (): string => {
    if (shown.length === 0) return "";
    // The cursor is at the end of the last line.
    const rows = shown.reduce((total, line) => total + Math.max(1, Math.ceil(cellsOf(line) / columns())), 0);
    shown = [];
    return `${rows > 1 ? `\u001b[${rows - 1}A` : ""}\r\u001b[J`;
  };
  const paint = (): void => {
    drawnAt = performance.now();
    const rows = Math.max(1, (stream.rows || 24) - 1);
    const size = { columns: columns() - 1, rows };
    const next = lines(size)
      .slice(-rows)
      .map((line) => cutLine(line, size.columns))
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
    if (!isOver && pauses === 0 && isAtLineStart && performance.now() - drawnAt >= REDRAW_MS) paint();
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
    pause() {
      pauses++;
      clear();
      return () => {
        pauses--;
        isAtLineStart = true;
        draw();
      };
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

/** Cuts a line to a number of terminal cells; keeps its colours. */
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
