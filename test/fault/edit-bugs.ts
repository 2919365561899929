/** Mistakes about edited threads that an engine could make. `edits-simulation.ts` finds each of them. */
import { mutation } from "../support/mutate.ts";
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
    seed: 130,
    edits: [mutation("step/stored-outcome.ts", "item-result", "stored !== undefined", "test")],
  },
  {
    name: "a changed reducer is not noticed",
    seed: 1,
    edits: [mutation(DRIFT, "changed-reducer", "true", "test")],
  },
  {
    name: "a new channel without a value is not noticed",
    seed: 31,
    edits: [mutation(DRIFT, "new-channel", "true", "test")],
  },
  {
    name: "memory that no longer fits is reset",
    seed: 27,
    edits: [mutation("run/follow-run.ts", "lost-memory", "lost.length > 99", "test")],
  },
  {
    name: "an answer is not checked against its type",
    seed: 0,
    edits: [mutation(ANSWERS, "answer-type", "expects === undefined || value !== undefined", "test")],
  },
  {
    name: "a question keeps the type of a former version",
    seed: 297,
    edits: [mutation(DRIFT, "present-pauses", "const pauses = present.head.pauses;")],
  },
  {
    name: "a result written by hand drops those of its siblings",
    seed: 0,
    edits: [mutation("thread/update-thread.ts", "results-beside", "results.clear();")],
  },
  {
    name: "an edit of values hides that a step is unfinished",
    seed: 43,
    edits: [mutation("checkpoint/checkpoint-writer.ts", "edited-step", "const isEditedStep = false;")],
  },
  {
    name: "a migration leaves stored results unconverted",
    seed: 164,
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
    seed: 12,
    edits: [mutation("checkpoint/restore-run.ts", "open-work", "return false;")],
  },
  {
    name: "an answer to a renamed node is not taken up after a crash",
    seed: 435,
    edits: [
      mutation("thread/resume-thread.ts", "stored-names", "const asStored = (pause: PauseItem): PauseItem => pause;"),
      mutation("thread/list-threads.ts", "listed-names", "const isOwn = false;"),
    ],
  },
  {
    name: "a task that took a signal before a crash is waited for again",
    seed: 82,
    edits: [
      mutation(
        "step/continue-run.ts",
        "finished-pause",
        "const unanswered = head.pauses.filter(({ id }) => !run.shared.answers.has(id) && !run.woken.has(id));",
      ),
    ],
  },
];
