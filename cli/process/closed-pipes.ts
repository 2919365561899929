/** Errors of a stream whose reader has closed, or that a node has ended (see `writeTo`). */
const IGNORED: ReadonlySet<string> = new Set(["EPIPE", "ERR_STREAM_WRITE_AFTER_END", "ERR_STREAM_DESTROYED"]);

/** `ngc … | head` is not an error: the rest of the output is dropped, and the command runs to its end. */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (!IGNORED.has(error.code ?? "")) throw error;
    });
  }
}

/** Replaces `end()` of both streams: a node that calls `process.stdout.end()` does not end the output of this program. */
export function keepStreamsOpen(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.end = ((...args: readonly unknown[]) => {
      const [chunk = ""] = args;
      const done = args.find((arg) => typeof arg === "function");
      // Writes even an empty chunk, so that the callback is called after everything before it is flushed.
      stream.write(typeof chunk === "string" || chunk instanceof Uint8Array ? chunk : "", () => done?.());
      return stream;
    }) as typeof stream.end;
  }
}
