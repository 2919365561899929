import type { ChildProcess } from "node:child_process";
import { NodeFailure } from "../node-failure.ts";

/** Maximum size of an output stream that is stored. More output fails the node, because checkpoints hold results. */
const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
/** Of a stream that is not stored, so much of its end is kept for messages and checks. */
const TAIL_BYTES = 256 * 1024;

interface Collecting {
  readonly command: string;
  /** Otherwise only the end of the stream is kept. */
  readonly keepsAll: boolean;
  readonly end: (reason: unknown) => void;
  readonly observe: (stream: "stdout" | "stderr", chunk: Uint8Array) => void;
}

/** Collects a stream; the returned function returns its text after the command has ended. */
export function collectOutput(
  child: ChildProcess,
  name: "stdout" | "stderr",
  { command, keepsAll, end, observe }: Collecting,
): () => string {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  const trim = (): void => {
    let first = 0;
    for (; bytes - (chunks[first]?.byteLength ?? 0) >= TAIL_BYTES; first++) bytes -= chunks[first]?.byteLength ?? 0;
    chunks = chunks.slice(first);
  };
  child[name]?.on("data", (chunk: Uint8Array) => {
    observe(name, chunk);
    bytes += chunk.byteLength;
    if (!keepsAll) {
      chunks.push(chunk);
      // Twice the size, so that the list is not copied for each chunk.
      if (bytes > 2 * TAIL_BYTES) trim();
    } else if (bytes <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    else {
      const limit = `${MAX_OUTPUT_BYTES / 1024 / 1024} MiB`;
      end(
        new NodeFailure(`\`${command}\` wrote more than ${limit} to ${name}, which the graph stores`, {
          retryable: false,
        }),
      );
    }
  });
  return () => {
    const decoder = new TextDecoder();
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  };
}
