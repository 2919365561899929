/** What the recorded kind of a reason means. `{}` stands for the details behind the colon: names of tasks, or paths. */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ["ancestor_failed", "not run, because of a failure: {}"],
  ["no_failure", "not needed, because nothing has failed: {}"],
  ["dependency_skipped", "skipped together with {}"],
  ["when", "its condition is not true"],
  ["when_failed", "its condition cannot be evaluated"],
  ["stopped_by_failure", "ended because of a failure: {}"],
  ["interrupted", "ended with the run"],
  ["left_out", "not selected"],
  ["restored", "done by an earlier run"],
  ["undeclared_touches", "changed paths that it does not declare: {}"],
  ["merge_conflict", "its changes conflict with those of the tree: {}"],
  ["max_tries_reached", "failed after its last attempt"],
  ["timeout", "took longer than its time limit"],
  ["bad_result", "its result does not fit"],
  ["reducer_failed", "its result cannot be combined with those of other tasks"],
  ["task_failed", "failed"],
]);

/** The reason of a task's status in words. A kind that is not known is shown as it is. */
export function reasonText(reason: string): string {
  const colon = reason.indexOf(":");
  const kind = colon === -1 ? reason : reason.slice(0, colon);
  const details = colon === -1 ? "" : reason.slice(colon + 1).replaceAll(",", ", ");
  const sentence = SENTENCES.get(kind);
  return sentence === undefined ? reason : sentence.replace("{}", () => details).replace(/: $/, "");
}
