/** Ids of runs and checkpoints. */

/** Random bytes for the next ids: asking for many at once costs little more than asking for one. */
const POOL = new Uint8Array(16 * 512);
let used = POOL.length;

/** By byte: its two hexadecimal digits, as character codes. */
const [HIGH, LOW] = [0, 1].map((digit) =>
  Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0").charCodeAt(digit)),
) as [Uint8Array, Uint8Array];
const HYPHEN = 0x2d;

/**
 * A random id (UUID v4) of a run or a checkpoint. Stores keep many ids. `crypto.randomUUID` of Node returns a chain of twenty
 * concatenated strings, which takes ten times the memory of this flat string. A run over a store makes an id for each step: without a
 * loop, it takes half of the time.
 */
export function newId(): string {
  if (used === POOL.length) {
    globalThis.crypto.getRandomValues(POOL);
    used = 0;
  }
  const at = used;
  used += 16;
  const a = POOL[at]!;
  const b = POOL[at + 1]!;
  const c = POOL[at + 2]!;
  const d = POOL[at + 3]!;
  const e = POOL[at + 4]!;
  const f = POOL[at + 5]!;
  // Version 4, variant 1 (RFC 9562).
  const g = (POOL[at + 6]! & 0x0f) | 0x40;
  const h = POOL[at + 7]!;
  const i = (POOL[at + 8]! & 0x3f) | 0x80;
  const j = POOL[at + 9]!;
  const k = POOL[at + 10]!;
  const l = POOL[at + 11]!;
  const m = POOL[at + 12]!;
  const n = POOL[at + 13]!;
  const o = POOL[at + 14]!;
  const p = POOL[at + 15]!;
  // prettier-ignore
  return String.fromCharCode(
    HIGH[a]!, LOW[a]!, HIGH[b]!, LOW[b]!, HIGH[c]!, LOW[c]!, HIGH[d]!, LOW[d]!, HYPHEN,
    HIGH[e]!, LOW[e]!, HIGH[f]!, LOW[f]!, HYPHEN, HIGH[g]!, LOW[g]!, HIGH[h]!, LOW[h]!, HYPHEN,
    HIGH[i]!, LOW[i]!, HIGH[j]!, LOW[j]!, HYPHEN,
    HIGH[k]!, LOW[k]!, HIGH[l]!, LOW[l]!, HIGH[m]!, LOW[m]!, HIGH[n]!, LOW[n]!, HIGH[o]!, LOW[o]!, HIGH[p]!, LOW[p]!,
  );
}
