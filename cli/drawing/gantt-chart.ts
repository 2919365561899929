/** What the Gantt charts share: the height of a row, and an axis of time. */
import { escape } from "./escape-xml.ts";

/** Pixels from one row to the next. */
export const ROW = 24;
/** Pixels of the time axis. */
const CHART = 720;
const TICKS = 6;

export interface TimeAxis {
  /** Pixels from the left edge of the drawing to the end of the axis. */
  readonly right: number;
  /** The place of a time, in pixels from the left edge of the drawing. */
  readonly x: (time: number) => number;
  /** For each tick: its grid line and its label, as SVG. `y`: the ends of the line, and the baseline of the label. */
  ticks(
    y: { readonly top: number; readonly bottom: number; readonly label: number },
    format: (time: number) => string,
  ): (readonly [line: string, label: string])[];
}

/** @param length of the time from 0 to the end of the axis */
export function createTimeAxis(left: number, length: number): TimeAxis {
  const x = (time: number): number => round(left + (length === 0 ? 0 : (time / length) * CHART));
  return {
    right: left + CHART,
    x,
    ticks: (y, format) =>
      Array.from({ length: TICKS + 1 }, (_, at) => {
        const time = (length * at) / TICKS;
        return [
          `<line class="grid" x1="${x(time)}" y1="${y.top}" x2="${x(time)}" y2="${y.bottom}"/>`,
          `<text class="small" x="${x(time)}" y="${y.label}" text-anchor="middle">${escape(format(time))}</text>`,
        ];
      }),
  };
}

/** The name in at most `most` characters. */
export function shortenName(name: string, most: number): string {
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

/** One decimal is enough for pixels. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
