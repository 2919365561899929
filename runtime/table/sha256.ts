/**
 * SHA-256 (FIPS 180-4) in plain TypeScript: compiler and runtime also run in editors and browsers, without Node's
 * built-in modules, and Web Crypto is asynchronous only.
 */

/** The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
const ROUND_CONSTANTS = Int32Array.from(roots(64, 1 / 3));
/** The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
export const INITIAL = Int32Array.from(roots(8, 1 / 2));

/** The hash of the UTF-8 encoding of a text, as 64 hexadecimal digits. */
export function sha256(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(((bytes.length + 8) >> 6) * 64 + 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 0x20000000));
  view.setUint32(padded.length - 4, (bytes.length << 3) >>> 0);
  // Signed words, as bit operations return them: unsigned words would leave V8's small-integer range.
  const hash = Int32Array.from(INITIAL);
  const words = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) compress(hash, words, view, at);
  return hexadecimal(hash);
}

export function hexadecimal(hash: Int32Array): string {
  return [...hash].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** Adds a block of 64 bytes to a hash. @param words scratch of 64 words */
export function compress(hash: Int32Array, words: Int32Array, view: DataView, at: number): void {
  for (let i = 0; i < 16; i++) words[i] = view.getInt32(at + i * 4);
  for (let i = 16; i < 64; i++) {
    const w15 = words[i - 15] as number;
    const w2 = words[i - 2] as number;
    const s0 = rotate(w15, 7) ^ rotate(w15, 18) ^ (w15 >>> 3);
    const s1 = rotate(w2, 17) ^ rotate(w2, 19) ^ (w2 >>> 10);
    words[i] = ((words[i - 16] as number) + s0 + (words[i - 7] as number) + s1) | 0;
  }
  let a = hash[0] as number;
  let b = hash[1] as number;
  let c = hash[2] as number;
  let d = hash[3] as number;
  let e = hash[4] as number;
  let f = hash[5] as number;
  let g = hash[6] as number;
  let h = hash[7] as number;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const t1 = (h + s1 + choice + (ROUND_CONSTANTS[i] as number) + (words[i] as number)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + s0 + majority) | 0;
  }
  const added = [a, b, c, d, e, f, g, h];
  for (let i = 0; i < 8; i++) hash[i] = (hash[i] as number) + (added[i] as number);
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function roots(count: number, exponent: number): readonly number[] {
  const result: number[] = [];
  for (let candidate = 2; result.length < count; candidate++) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) isPrime = false;
    if (isPrime) result.push(Math.floor((candidate ** exponent % 1) * 0x100000000));
  }
  return result;
}
