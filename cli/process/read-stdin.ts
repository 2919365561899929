import { fstatSync } from "node:fs";
import { CommandError } from "./command-error.ts";
import { decodeSource, MAX_READ_BYTES, reasonOf } from "../sources/source-files.ts";

/** All of standard input as text. @throws CommandError when it is a terminal, too large, or cannot be read */
export async function readStdin(): Promise<string> {
  if (process.stdin.isTTY) throw new CommandError("nothing is piped into standard input");
  if (isDirectory()) throw new CommandError("cannot read standard input: it is a directory");
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of process.stdin as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_READ_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new CommandError(`cannot read standard input: ${reasonOf(error)}`, { cause: error });
  }
  if (bytes > MAX_READ_BYTES) throw new CommandError("cannot read standard input: it is too large");
  return decodeSource("standard input", Buffer.concat(chunks));
}

/** A directory would be read as an empty text. */
function isDirectory(): boolean {
  try {
    return fstatSync(0).isDirectory();
  } catch {
    return false;
  }
}
