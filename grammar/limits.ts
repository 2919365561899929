/** Limits of both spellings. */

/** The maximum size of a file in bytes of UTF-8. A larger file is not read. */
export const LARGEST_FILE = 4 * 1024 * 1024;

/** The size of a text in bytes of UTF-8. Counted only near the limit; else the number of its UTF-16 units, which is on the same side. */
export function fileSize(text: string): number {
  if (text.length > LARGEST_FILE) return text.length;
  if (text.length * 3 <= LARGEST_FILE) return text.length;
  return new TextEncoder().encode(text).length;
}

/** The maximum number of declarations of a file: each graph has a fixed cost besides that of its statements. */
export const MOST_DECLARATIONS = 10_000;
