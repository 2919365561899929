/** The reader has gone; a node has ended the stream (see `writeTo`). */
const IGNORED: ReadonlySet<string> = new Set(["EPIPE", "ERR_STREAM_WRITE_AFTER_END", "ERR_STREAM_DESTROYED"]);

/** `ngc … | head` is no error: what is left is not written, and the command goes on to its end. */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!IGNORED.has(error.code ?? "")) throw error;
    });
  }
}

/** A node that calls `process.stdout.end()` ends its own output, not this program's. */
export function keepStreamsOpen(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.end = ((...args: readonly unknown[]) => {
      const [chunk = ""] = args;
      const done = args.find((arg) => typeof arg === "function");
      // Also with nothing to write: whoever waits for the end is told of it.
      stream.write(typeof chunk === "string" || chunk instanceof Uint8Array ? chunk : "", () => done?.());
      return stream;
    }) as typeof stream.end;
  }
}
