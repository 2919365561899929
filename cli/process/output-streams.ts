/** Errors of a stream whose reader has closed, or that a node has ended (see `writeTo`). */
const IGNORED: ReadonlySet<string> = new Set(["EPIPE", "ERR_STREAM_WRITE_AFTER_END", "ERR_STREAM_DESTROYED"]);

let failure: NodeJS.ErrnoException | undefined;

/**
 * Handles errors of stdout and stderr. `ngc … | head` is not an error: the rest of the output is dropped, and the command runs to its
 * end. After any other error of stdout, such as a full disk, the command ends with an error (see `stdoutFailure`). An error of stderr
 * cannot be reported.
 */
export function watchOutputStreams(): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (IGNORED.has(error.code ?? "")) return;
    failure ??= error;
    process.exitCode = 1;
  });
}

/** The first error of stdout that lost a part of the output. */
export function stdoutFailure(): Error | undefined {
  return failure;
}

/** Records an error of a synchronous write to stdout. */
export function reportStdoutFailure(error: unknown): void {
  if (error instanceof Error && !IGNORED.has((error as NodeJS.ErrnoException).code ?? "")) failure ??= error;
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
