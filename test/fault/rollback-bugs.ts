/** Mistakes about undos that an engine could make. `rollback-simulation.ts` finds each of them. */
import { mutation, swap } from "../support/mutate.ts";
import type { PlantedBug } from "./planted-bugs.ts";

const COMMIT = "step/commit-step.ts";
const RESTORE = "checkpoint/restore-run.ts";
const ROLL_BACK = "step/roll-back.ts";
const ENTRY = "step/undo-entry.ts";

export const ROLLBACK_BUGS: readonly PlantedBug[] = [
  {
    name: "undos run in the order of the steps",
    edits: [mutation(ROLL_BACK, "undo-order", swap("open.toReversed()", "open"))],
  },
  {
    name: "an undo that is done is not stored before the next one",
    edits: [mutation(ROLL_BACK, "stored-undone", "void storeUndone;")],
  },
  {
    name: "a resume runs undos again that were stored as done",
    edits: [mutation(RESTORE, "restored-undone", "void undoneKeys;")],
  },
  {
    name: "a resume of a rollback continues the graph",
    edits: [mutation(RESTORE, "restored-rollback", "run.rollsBack = false;")],
  },
  {
    name: "a completed called graph hands no undos to its caller",
    edits: [mutation("step/call-graph.ts", "handed-undos", "attempt.called = NO_ENTRIES;")],
  },
  {
    name: "a rollback keeps what its step has sent",
    edits: [mutation(COMMIT, "dropped-sends", "run.sends = sendsOf(run, tasks, outcomes, plan.winner);")],
  },
  {
    name: "a step that is applied loses its undos",
    edits: [mutation(COMMIT, "applied-undos", "void undosOfAll;")],
  },
  {
    name: "results that are dropped lose their undos",
    edits: [mutation(COMMIT, "dropped-undos", "run.unapplied = NO_SENDS;")],
  },
  {
    name: "a stored result lacks its undo",
    edits: [mutation("step/stored-outcome.ts", "stored-undo", "...{}")],
  },
  {
    name: "the arguments of an undo do not see what its task has written",
    edits: [mutation(ENTRY, "undo-arguments", "void updates;")],
  },
  {
    name: "a secret in the arguments of an undo is stored by its value",
    edits: [mutation(ENTRY, "secret-by-name", "true", "test")],
  },
  {
    name: "a fork forgets what other branches have done",
    edits: [mutation("thread/fork-thread.ts", "forked-log", "false", "test")],
  },
  {
    name: "the first undo runs before the rollback is stored",
    edits: [
      mutation(
        "thread/rollback-thread.ts",
        "durable-rollback",
        "const saved = undefined as Promise<void> | undefined; void saveBetweenSteps;",
      ),
    ],
  },
  {
    name: "a version of the graph without an undo is not reported",
    edits: [
      mutation("checkpoint/drift.ts", "undo-drift", "return [...problems, ...channelProblems(program, head, shapes)];"),
    ],
  },
];
