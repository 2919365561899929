import { displayWidth, printable } from "../../diagnostics/render/index.ts";
import type { Json, JsonObject } from "../../runtime/value/json.ts";

/**
 * Formats a record for people: one line for each field, texts without quotes, further lines indented.
 *
 * ```text
 * score: 0.9
 * reply:
 *   Dear customer,
 *   please restart it.
 * ```
 */
export function formatRecord(record: JsonObject): string {
  return Object.entries(record)
    .map(([name, value]) => {
      const lines = formatValue(value).split("\n");
      return lines.length === 1
        ? `${name}: ${lines[0]}`
        : [`${name}:`, ...lines.map((line) => `  ${line}`.trimEnd())].join("\n");
    })
    .join("\n");
}

/** Formats a text without quotes and any other value as JSON, over several lines if it is long. */
export function formatValue(value: Json): string {
  if (typeof value === "string") return value.split("\n").map(printable).join("\n");
  const short = JSON.stringify(value);
  return short.length <= 80 ? short : JSON.stringify(value, null, 2);
}

/** Formats a table with headings; each column is as wide as its widest cell. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headings, ...rows].map((row) => row.map(printable));
  const widths = headings.map((_, column) =>
    cells.reduce((most, row) => Math.max(most, displayWidth(row[column] ?? "")), 0),
  );
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - displayWidth(cell)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Local time to the second; for display, not for sorting. */
export function formatTime(milliseconds: number): string {
  const date = new Date(milliseconds);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
