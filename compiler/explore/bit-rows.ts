/** A bit matrix: one set of small numbers for each row. */
export interface BitRows {
  has(row: number, bit: number): boolean;
  add(row: number, bit: number): void;
  /** All rows, one after the other, of `words` words each. */
  readonly all: Int32Array;
  readonly words: number;
}

export function createBitRows(rows: number, bits: number): BitRows {
  const words = (bits + 31) >> 5;
  const all = new Int32Array(rows * words);
  return {
    all,
    words,
    has: (row, bit) => (all[row * words + (bit >> 5)]! & (1 << (bit & 31))) !== 0,
    add(row, bit) {
      all[row * words + (bit >> 5)]! |= 1 << (bit & 31);
    },
  };
}
