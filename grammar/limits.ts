/** Limits of both spellings. */

/** The maximum size of a file in bytes of UTF-8. A larger file is not read. */
export const LARGEST_FILE = 4 * 1024 * 1024;

/** The maximum number of declarations of a file: each graph has a fixed cost besides that of its statements. */
export const MOST_DECLARATIONS = 10_000;
