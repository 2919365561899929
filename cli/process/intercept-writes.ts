/** Where a program writes: `process`, but for tests. */
export interface Streams {
  readonly stdout: Terminal;
  readonly stderr: Terminal;
}

export interface Terminal {
  write(text: string): boolean;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

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
export function interceptWrites(
  { stdout, stderr }: Streams,
  before: () => void,
  after: (last: string) => void,
): Intercepted {
  const past = stderr.write.bind(stderr);
  const streams = [stdout, stderr].filter((stream) => stream.isTTY === true);
  const restores = streams.map((stream) => {
    const own = stream.write;
    const write = function (this: unknown, ...args: unknown[]): boolean {
      before();
      const done: boolean = Reflect.apply(own, stream, args);
      after(lastOf(args[0]));
      return done;
    };
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
