/** Limits of both spellings. */

/** The maximum size of a file in bytes of UTF-8. A larger file is not read. */
export const LARGEST_FILE = 4 * 1024 * 1024;
