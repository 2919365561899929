/** One set of small numbers for each of many rows: bits in one array. */
export interface BitRows {
  has(row: number, bit: number): boolean;
  add(row: number, bit: number): void;
  /** Words of a row: read them, or change them in place. */
  row(index: number): Int32Array;
  /** Words in a row. */
  readonly words: number;
}

export function createBitRows(rows: number, bits: number): BitRows {
  const words = (bits + 31) >> 5;
  const all = new Int32Array(rows * words);
  return {
    words,
    has: (row, bit) => (all[row * words + (bit >> 5)]! & (1 << (bit & 31))) !== 0,
    add(row, bit) {
      all[row * words + (bit >> 5)]! |= 1 << (bit & 31);
    },
    row: (index) => all.subarray(index * words, (index + 1) * words),
  };
}
