/** The output streams of a program: `process`, or a fake in tests. */
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

/** The result of `interceptWrites`. */
export interface Intercepted {
  /** Writes to stderr without being intercepted. */
  write(text: string): void;
  restore(): void;
}

/**
 * Observes every write to stdout and stderr that goes to a terminal, including writes of user code.
 *
 * @param before called before each write
 * @param after called after each write with its last character
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
    // A replacement that user code has installed since is kept.
    return () => void (stream.write === write && (stream.write = own));
  });
  return { write: (text) => void past(text), restore: () => restores.forEach((restore) => restore()) };
}

function lastOf(chunk: unknown): string {
  if (typeof chunk === "string") return chunk.slice(-1);
  if (chunk instanceof Uint8Array && chunk.length > 0) return String.fromCharCode(chunk[chunk.length - 1] ?? 0);
  return "";
}
