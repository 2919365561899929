/**
 * Values that checkpoints store as channels are stored, under names that no channel can have: `error`, and the undo log of a
 * run. In the state of a run they are behind the channels.
 */
export const ERROR_NAME = "error";
export const UNDO_NAME = "rollback";

interface HasChannels {
  readonly channels: readonly unknown[];
}

/** The position of `error` in the state of a run. */
export function errorChannel({ channels }: HasChannels): number {
  return channels.length;
}

/** The position of the undo log in the state of a run. */
export function undoChannel({ channels }: HasChannels): number {
  return channels.length + 1;
}

/** The position of a hidden value by its name; `undefined` for the name of a channel. */
export function hiddenChannel(program: HasChannels, name: string): number | undefined {
  if (name === ERROR_NAME) return errorChannel(program);
  return name === UNDO_NAME ? undoChannel(program) : undefined;
}

/** The name of a hidden value by its position. */
export function hiddenName(program: HasChannels, channel: number): string {
  return channel === errorChannel(program) ? ERROR_NAME : UNDO_NAME;
}
