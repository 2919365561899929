/** Mistakes about waiting that an engine could make. `waiting-simulation.ts` finds each of them. */
import { mutation, swap } from "../support/mutate.ts";
import type { PlantedBug } from "./planted-bugs.ts";

export const WAITING_BUGS: readonly PlantedBug[] = [
  {
    name: "signals of one name are taken from the newest on",
    edits: [mutation("checkpoint/inbox.ts", "signal-order", swap("signals.find(", "signals.findLast("))],
  },
  {
    name: "each look at a wait computes its due time again",
    edits: [mutation("run/run.ts", "stored-due", "void known;")],
  },
  {
    name: "a short sleep begins before its due time is stored",
    edits: [mutation("step/attempt.ts", "durable-due", "const stored = undefined as Promise<void> | undefined;")],
  },
  {
    name: "a deadline never passes",
    edits: [mutation("step/attempt.ts", "deadline", "false", "test")],
  },
  {
    name: "due times are lost in a crash",
    edits: [mutation("checkpoint/restore-run.ts", "restored-dues", "const dues = new Map<string, number>();")],
  },
  {
    name: "the signal of a dropped result is lost",
    edits: [mutation("step/commit-step.ts", "returned-signals", "void returnSignals;")],
  },
  {
    name: "a thread that was woken meanwhile is woken again",
    edits: [
      mutation("thread/resume-thread.ts", "due-under-claim", "const head = await loadHead(durable.store, threadId);"),
    ],
  },
];
