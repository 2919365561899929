import { compress, hexadecimal, INITIAL } from "../../runtime/table/sha256.ts";

/** `sha256` of a text in parts, none of which ends inside a surrogate pair: the whole text need not fit into the memory at once. */
export function sha256Of(parts: Iterable<string>): string {
  const hash = Int32Array.from(INITIAL);
  const words = new Int32Array(64);
  const encoder = new TextEncoder();
  /** What is left of the parts so far: less than a block. */
  let rest = new Uint8Array(0);
  let length = 0;
  const add = (bytes: Uint8Array): void => {
    const all = new Uint8Array(rest.length + bytes.length);
    all.set(rest);
    all.set(bytes, rest.length);
    const view = new DataView(all.buffer);
    const end = all.length - (all.length % 64);
    for (let at = 0; at < end; at += 64) compress(hash, words, view, at);
    rest = all.slice(end);
  };
  for (const part of parts) {
    const bytes = encoder.encode(part);
    length += bytes.length;
    add(bytes);
  }
  const padding = new Uint8Array(((rest.length + 8) >> 6) * 64 + 64 - rest.length);
  padding[0] = 0x80;
  const view = new DataView(padding.buffer);
  view.setUint32(padding.length - 8, Math.floor(length / 0x20000000));
  view.setUint32(padding.length - 4, (length << 3) >>> 0);
  add(padding);
  return hexadecimal(hash);
}
