/** What this process is in the middle of: what is left to say when user code takes the process down with it. */
export type Stage =
  | { readonly name: "idle" }
  /** Modules of the user are imported. */
  | { readonly name: "loading" }
  | ({ readonly name: "running" } & RunUnderWay)
  /** The run has ended in order: nothing that user code still does changes that. */
  | { readonly name: "over" };

/** Where it is kept; nowhere before it has begun, and in memory. */
export interface RunUnderWay {
  readonly thread?: string;
  /** Goes on with it. */
  readonly command?: string;
}

let stage: Stage = { name: "idle" };

export function enterStage(next: Stage): void {
  stage = next;
}

export function currentStage(): Stage {
  return stage;
}

/** The run of this moment, if there is one. */
export function runUnderWay(): RunUnderWay | undefined {
  return stage.name === "running" ? stage : undefined;
}
