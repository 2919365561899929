/** The run that this process is in the middle of: what is left to say when a node takes the process down with it. */
export interface RunUnderWay {
  readonly thread: string;
  /** Goes on with it. */
  readonly command: string;
}

let underWay: RunUnderWay | undefined;

/** Kept while a run goes on; `undefined` when it has ended in order. */
export function setRunUnderWay(run: RunUnderWay | undefined): void {
  underWay = run;
}

export function runUnderWay(): RunUnderWay | undefined {
  return underWay;
}
