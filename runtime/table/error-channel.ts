/** The name under which checkpoints store `error`. No channel can have it. */
export const ERROR_NAME = "error";

/** The position of `error` in the state of a run: behind the channels. */
export function errorChannel({ channels }: { readonly channels: readonly unknown[] }): number {
  return channels.length;
}
