type Write = typeof process.stdout.write;

/** What `interceptWrites` gives back. */
export interface Intercepted {
  /** Writes to stderr past the interception. */
  write(text: string): void;
  restore(): void;
}

/**
 * Sees what goes to the terminal through stdout and stderr, by whomever it is written.
 *
 * @param before called before something is written
 * @param after told the last character that was written
 */
export function interceptWrites(before: () => void, after: (last: string) => void): Intercepted {
  const past = process.stderr.write.bind(process.stderr);
  const streams = [process.stdout, process.stderr].filter((stream) => stream.isTTY);
  const restores = streams.map((stream) => {
    const own = stream.write;
    const write = function (this: unknown, ...args: unknown[]): boolean {
      before();
      const done: boolean = Reflect.apply(own, stream, args);
      after(lastOf(args[0]));
      return done;
    } as Write;
    stream.write = write;
    // Who has put something else in its place since keeps it.
    return () => void (stream.write === write && (stream.write = own));
  });
  return { write: (text) => void past(text), restore: () => restores.forEach((restore) => restore()) };
}

function lastOf(chunk: unknown): string {
  if (typeof chunk === "string") return chunk.slice(-1);
  if (chunk instanceof Uint8Array && chunk.length > 0) return String.fromCharCode(chunk[chunk.length - 1] ?? 0);
  return "";
}
