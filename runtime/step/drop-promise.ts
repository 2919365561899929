/** A promise that nobody takes: its rejection must not end the process. Anything else is left alone. */
export function dropPromise(value: unknown): void {
  if (value instanceof Promise) value.catch(() => undefined);
}
