/** Vectors as text: base64 of 32-bit floats, a quarter of the length of JSON. No built-in modules of any host. */

export function vectorText(vector: readonly number[]): string {
  const bytes = new Uint8Array(Float32Array.from(vector).buffer);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

export function vectorOfText(text: string): Float32Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return new Float32Array(bytes.buffer);
}

/** The cosine of the angle between two vectors; -1 for vectors of different lengths, which come from different models. */
export function similarity(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length) return -1;
  let [product, left, right] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    product += a[index]! * b[index]!;
    left += a[index]! ** 2;
    right += b[index]! ** 2;
  }
  return left === 0 || right === 0 ? 0 : product / Math.sqrt(left * right);
}
