/** The exit codes of `ngc`. Scripts rely on them. */
export const EXIT = {
  /** Done; the graph is valid. */
  ok: 0,
  /** The run failed, was incomplete or reached its step limit; `--check` found a stale file. */
  failed: 1,
  /** The graph is invalid. */
  invalid: 2,
  /** The run is paused and waits for an answer. */
  paused: 3,
  /** Wrong usage, unreadable input. */
  usage: 64,
  /** A bug in this program. */
  bug: 70,
  /** Interrupted; the thread can be resumed. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
