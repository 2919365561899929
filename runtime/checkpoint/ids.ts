/** Ids of runs and checkpoints. */

/** Random bytes for the next ids: asking for many at once costs little more than asking for one. */
const POOL = new Uint8Array(16 * 512);
let used = POOL.length;

/** The characters of the id in progress: hexadecimal digits and hyphens. */
const CODES: number[] = Array.from({ length: 36 }, () => 0x2d);
const DIGITS: readonly number[] = [..."0123456789abcdef"].map((digit) => digit.charCodeAt(0));

/**
 * A random id (UUID v4) of a run or a checkpoint. Stores keep many ids. `crypto.randomUUID` of Node returns a chain of twenty
 * concatenated strings, which takes ten times the memory of this flat string.
 */
export function newId(): string {
  if (used === POOL.length) {
    globalThis.crypto.getRandomValues(POOL);
    used = 0;
  }
  let to = 0;
  for (let index = 0; index < 16; index++) {
    let byte = POOL[used++]!;
    // Version 4, variant 1 (RFC 9562).
    if (index === 6) byte = (byte & 0x0f) | 0x40;
    else if (index === 8) byte = (byte & 0x3f) | 0x80;
    if (index === 4 || index === 6 || index === 8 || index === 10) to++;
    CODES[to++] = DIGITS[byte >>> 4]!;
    CODES[to++] = DIGITS[byte & 0x0f]!;
  }
  return String.fromCharCode(...CODES);
}
