/** Mistakes about edited threads that an engine could make. `edits-simulation.ts` finds each of them. */
import { mutation, swap } from "../support/mutate.ts";
import type { PlantedBug } from "./planted-bugs.ts";

const DRIFT = "checkpoint/drift.ts";
const ANSWERS = "thread/answers.ts";

/** `seed` is the first one that finds the mistake: the test does not search for it. */
export const EDIT_BUGS: readonly (PlantedBug & { readonly seed: number })[] = [
  {
    name: "another graph resumes a thread",
    seed: 0,
    edits: [mutation(DRIFT, "other-graph", "false", "test")],
  },
  {
    name: "stored results of items are matched by index alone",
    seed: 411,
    edits: [mutation("step/stored-outcome.ts", "item-result", "stored !== undefined", "test")],
  },
  {
    name: "an item that an edit has moved runs again",
    seed: 43,
    edits: [mutation("step/item-numbers.ts", "moved-item", "number === -1", "test")],
  },
  {
    name: "an item that is new takes the number of one that has moved",
    seed: 43,
    edits: [mutation("step/item-numbers.ts", "displaced-item", "const displaced: Task[] = [];")],
  },
  {
    name: "a changed reducer is not noticed",
    seed: 1,
    edits: [mutation(DRIFT, "changed-reducer", "true", "test")],
  },
  {
    name: "a new channel without a value is not noticed",
    seed: 42,
    edits: [mutation(DRIFT, "new-channel", "true", "test")],
  },
  {
    name: "memory that no longer fits is reset",
    seed: 39,
    edits: [mutation("run/follow-run.ts", "lost-memory", "lost.length > 99", "test")],
  },
  {
    name: "an answer is not checked against its type",
    seed: 8,
    edits: [mutation(ANSWERS, "answer-type", "expects === undefined || value !== undefined", "test")],
  },
  {
    name: "a question keeps the type of a former version",
    seed: 385,
    edits: [mutation(DRIFT, "present-pauses", "const pauses = present.head.pauses;")],
  },
  {
    name: "a result written by hand drops those of its siblings",
    seed: 2,
    edits: [mutation("thread/update-thread.ts", "results-beside", "results.clear();")],
  },
  {
    name: "an edit of values hides that a step is unfinished",
    seed: 62,
    edits: [mutation("checkpoint/checkpoint-writer.ts", "edited-step", "const isEditedStep = false;")],
  },
  {
    name: "a migration leaves stored results unconverted",
    seed: 196,
    edits: [
      mutation(
        "thread/migrate-checkpoint.ts",
        "converted-updates",
        "const updates = result.updates.map((update) => update);",
      ),
    ],
  },
  {
    name: "a run that died beside a pause is not recovered",
    seed: 16,
    edits: [mutation("checkpoint/restore-run.ts", "open-work", "return false;")],
  },
  {
    name: "an answer to a renamed node is not taken up after a crash",
    seed: 617,
    edits: [
      mutation("thread/resume-thread.ts", "stored-names", "const asStored = (pause: PauseItem): PauseItem => pause;"),
      mutation("thread/list-threads.ts", "listed-names", "const isOwn = false;"),
    ],
  },
  {
    name: "a task that took a signal before a crash is waited for again",
    seed: 173,
    edits: [
      mutation(
        "step/continue-run.ts",
        "finished-pause",
        "const unanswered = head.pauses.filter(({ id }) => !run.shared.answers.has(id) && !run.woken.has(id));",
      ),
    ],
  },
  {
    name: "items that were added to the list of a waiting node do not run",
    seed: 1739,
    edits: [mutation("step/continue-run.ts", "added-item", "false", "test")],
  },
  {
    name: "a drained run is stored as cancelled",
    seed: 1,
    edits: [mutation("run/run-end.ts", "drained-status", swap("continues || end.drained === true", "continues"))],
  },
  {
    name: "a sleep begins again when its node is renamed",
    seed: 75,
    edits: [mutation("checkpoint/rename-checkpoint.ts", "renamed-dues", "...(dues && { dues })")],
  },
  {
    name: "a sleep begins again in the next process",
    seed: 11,
    edits: [mutation("checkpoint/restore-run.ts", "restored-dues", "const dues = new Map<string, number>();")],
  },
];
