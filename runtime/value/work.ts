/** Work over a value that may be long, in parts: after each part it can stop, so that the caller gives others a turn. */
export type Work<T> = Generator<undefined, T, undefined>;

/** Number of items in a part. A power of two: loops test it with a mask. */
const PART = 256;

/** Whether a part ends after the item with this index. */
export function endsPart(index: number): boolean {
  return (index & (PART - 1)) === PART - 1;
}

/** Does all parts at once. */
export function toEnd<T>(work: Work<T>): T {
  for (;;) {
    const part = work.next();
    if (part.done === true) return part.value;
  }
}
