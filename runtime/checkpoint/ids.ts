/** Ids of runs and checkpoints. */

/** Random bytes for the next ids: asking for many at once costs little more than asking for one. */
const POOL = new Uint8Array(16 * 512);
let used = POOL.length;

const DIGITS: readonly number[] = [..."0123456789abcdef"].map((digit) => digit.charCodeAt(0));
const HYPHEN = 0x2d;

/** The first digit of the next byte. */
const high = (): number => DIGITS[POOL[used]! >>> 4]!;
/** The second digit of the next byte, which is used then. */
const low = (): number => DIGITS[POOL[used++]! & 0x0f]!;

/**
 * A random id (UUID v4) of a run or a checkpoint. Stores keep many ids. `crypto.randomUUID` of Node returns a chain of twenty
 * concatenated strings, which takes ten times the memory of this flat string. A run over a store makes one for each step, and a
 * loop over the bytes takes twice as long.
 */
export function newId(): string {
  if (used === POOL.length) {
    globalThis.crypto.getRandomValues(POOL);
    used = 0;
  }
  // Version 4, variant 1 (RFC 9562).
  POOL[used + 6] = (POOL[used + 6]! & 0x0f) | 0x40;
  POOL[used + 8] = (POOL[used + 8]! & 0x3f) | 0x80;
  // prettier-ignore
  return String.fromCharCode(
    high(), low(), high(), low(), high(), low(), high(), low(), HYPHEN, high(), low(), high(), low(), HYPHEN,
    high(), low(), high(), low(), HYPHEN, high(), low(), high(), low(), HYPHEN,
    high(), low(), high(), low(), high(), low(), high(), low(), high(), low(), high(), low(),
  );
}
