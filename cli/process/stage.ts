/** The stage of this process. It decides the message if user code ends the process. */
export type Stage =
  | { readonly name: "idle" }
  /** Modules of the user are being imported. */
  | { readonly name: "loading" }
  | ({ readonly name: "running" } & ActiveRun)
  /** The run has ended in order: nothing that user code does afterwards changes its result. */
  | { readonly name: "over" };

/** Where the current run is stored; both fields are absent before it is stored, and with a store in memory. */
export interface ActiveRun {
  readonly thread?: string;
  /** The command that resumes the run. */
  readonly command?: string;
  /** Absent while the store is opened and the thread claimed: nothing has run yet. */
  readonly isStarted?: true;
}

let stage: Stage = { name: "idle" };

export function enterStage(next: Stage): void {
  stage = next;
}

export function currentStage(): Stage {
  return stage;
}

/** The current run, if there is one. */
export function activeRun(): ActiveRun | undefined {
  return stage.name === "running" ? stage : undefined;
}
