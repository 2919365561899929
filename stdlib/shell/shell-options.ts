/** The hooks with which a host observes the commands of `shell`. */
import type { MaybePromise } from "../../runtime/value/json.ts";

/** A running command, with the data that is needed to end it after a crash of this process. */
export interface RunningCommand {
  /** The process group of the command, which is the id of its first process. */
  readonly group: number;
  readonly command: string;
  /** The value of `NGRAPH_IDEMPOTENCY_KEY` in the environment of the command. */
  readonly key: string;
  /** The node or task, with the names of its callers; a check of a task is `TASK check N`. */
  readonly node: string;
  /** 1-based. */
  readonly attempt: number;
}

export interface ShellOptions {
  /** The command starts when this function has returned and its promise is fulfilled. Not called on Windows, which has no process groups. */
  readonly onStart?: (command: RunningCommand) => MaybePromise<void>;
  /** Called when the command has ended and processes that it has left in its group were ended. */
  readonly onLeft?: (command: RunningCommand) => void;
  readonly onEnd?: (command: RunningCommand) => void;
  /** Called with each part of the output, in the order in which it arrives. */
  readonly onOutput?: (command: RunningCommand, stream: "stdout" | "stderr", chunk: Uint8Array) => void;
  /** The root directory of a command, if it is not the working directory of this process: a git working tree of its own. */
  readonly rootOf?: (node: string) => string | undefined;
  /**
   * Lends the terminal to a command of an `interactive` task, and returns how to take it back. `undefined` if there is no terminal.
   * Without this function such a command fails.
   */
  readonly lendTerminal?: () => (() => void) | undefined;
  /** Stores why the previous attempt of a task has failed, and returns the path of the file; `undefined` if there is none. */
  readonly storeFailure?: (
    task: { readonly node: string; readonly attempt: number },
    text: string,
  ) => string | undefined;
}
