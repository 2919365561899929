/** One command in a directory of its own. */
export interface HostileInput {
  readonly name: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Shell commands that prepare the directory. `"$0" "$1"` is the program. */
  readonly setup?: string;
  readonly args: readonly string[];
  /** Redirections of the command, for `sh`. */
  readonly redirect?: string;
  /** Whether the message depends on timing, so that only the exit code is compared. */
  readonly hasTimedMessage?: boolean;
}
