/**
 * A project as a part of an address: `#code=` and its JSON, compressed (DEFLATE, RFC 1951) and in base64url. The part after `#` is not
 * sent to any server. An address may come from anyone, so that all of it is checked before a part of it is used.
 */
import { MAX_TEXT, readProject, type Project } from "./project.ts";

const PREFIX = "#code=";
/** Characters of an address. Compressed text of the largest project fits. */
const MAX_ADDRESS = 200_000;
/** Bytes of the JSON: four for each character, and its escapes. */
const MAX_BYTES = 4 * MAX_TEXT;

/** @throws Error with a sentence for the reader, for a project that is too large */
export async function toFragment({ files, main }: Project): Promise<string> {
  const shared = readProject({ files, main });
  const bytes = await through(
    new TextEncoder().encode(JSON.stringify({ v: 1, ...shared })),
    new CompressionStream("deflate-raw"),
    Infinity,
  );
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const fragment = PREFIX + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (fragment.length > MAX_ADDRESS) throw new Error("the address of it is too long");
  return fragment;
}

/**
 * The project of a fragment; `undefined` for a fragment that names none.
 *
 * @throws Error with a sentence for the reader, for a damaged or hostile fragment
 */
export async function fromFragment(fragment: string): Promise<Project | undefined> {
  if (!fragment.startsWith(PREFIX)) return undefined;
  if (fragment.length > MAX_ADDRESS) throw new Error("it is too long");
  const text = fragment.slice(PREFIX.length);
  if (!/^[\w-]+$/.test(text)) throw new Error("it is damaged");
  let json: string;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const plain = await through(bytes, new DecompressionStream("deflate-raw"), MAX_BYTES);
    json = new TextDecoder("utf-8", { fatal: true }).decode(plain);
  } catch (error) {
    if (error instanceof TooLarge) throw error;
    throw new Error("it is damaged, or was cut", { cause: error });
  }
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new Error("it is damaged", { cause: error });
  }
  const version = (value as { readonly v?: unknown } | null)?.v;
  if (typeof version === "number" && version > 1) throw new Error("a newer version of the page has written it");
  return readProject(value);
}

class TooLarge extends Error {}

/** The bytes behind a stream, which may become much more than they were: at most `most` of them are read. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
  most: number,
): Promise<Uint8Array> {
  const writer = stream.writable.getWriter();
  // A failure shows when the other end is read.
  writer.write(bytes).catch(() => {});
  writer.close().catch(() => {});
  const reader = (stream.readable as ReadableStream<Uint8Array>).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    size += part.value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new TooLarge("it is too large");
    }
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
