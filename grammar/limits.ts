/** Limits of both spellings. */

/** Bytes of the largest file that is read. */
export const LARGEST_FILE = 4 * 1024 * 1024;
