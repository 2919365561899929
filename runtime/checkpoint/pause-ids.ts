/** The parts of a pause's id. `Run.pauseId` builds pause ids. */

/** The last part of a pause id: enough of the run id to distinguish the runs of a thread. */
export function runSuffix(runId: string): string {
  return runId.slice(-12);
}

/** The super-step of the outermost run that a pause belongs to. Names of nodes and tasks contain no `@`. */
export function stepOfPause(id: string): number {
  return Number(/@(\d+)/.exec(id)?.[1] ?? Number.POSITIVE_INFINITY);
}
