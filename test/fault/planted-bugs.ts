/**
 * Mistakes that an engine could make, each a mutation of its source text (`test/support/mutate.ts`). A change to the code
 * moves the mutation point along.
 */
import { after, before, mutation, swap, type Mutation } from "../support/mutate.ts";

export interface PlantedBug {
  readonly name: string;
  /** Files are relative to `runtime/`. */
  readonly edits: readonly Mutation[];
}

const CHECKPOINT_WRITER = "checkpoint/checkpoint-writer.ts";
const COMMIT = "step/commit-step.ts";
const FORK = "thread/fork-thread.ts";
const JOURNAL = "checkpoint/journal.ts";
const MEMORY_STORE = "stores/memory.ts";
const PLAN_STEP = "routing/plan-step.ts";
const RESTORE = "checkpoint/restore-run.ts";
const RUN_LOOP = "step/run-loop.ts";
const UPDATE = "thread/update-thread.ts";
const UPDATES = "step/apply-updates.ts";

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "a pending write is dropped",
    edits: [mutation(CHECKPOINT_WRITER, "pending-write", `return undefined;`)],
  },
  {
    name: "a resume does not look at pending writes",
    edits: [mutation(RESTORE, "restored-results", `run.stored = undefined;`)],
  },
  {
    name: "the store does not compare before it sets the head",
    edits: [mutation(MEMORY_STORE, "expected-head", `request.expectedHead === ""`, "test")],
  },
  {
    name: "a barrier is cleared when only some of its members have signalled",
    edits: [
      mutation(
        PLAN_STEP,
        "barrier-signal",
        after(`else if (this.barriers.arrived(barrier).length > 1) this.barriers.clear(barrier);`),
      ),
    ],
  },
  {
    name: "a `settled` barrier fires with its first signal",
    edits: [mutation(PLAN_STEP, "settled-held", `void isHeld; for (const barrier of changed) fire(barrier);`)],
  },
  {
    name: "barriers are not restored",
    edits: [mutation(RESTORE, "restored-barriers", `void [names, barrier];`)],
  },
  {
    name: "updates are applied in the order of completion",
    edits: [
      mutation(
        "step/step-tasks.ts",
        "task-outcome",
        `outcomes[index] = { ...outcome, at: ((globalThis as { ended?: number }).ended = ((globalThis as { ended?: number }).ended ?? 0) + 1) } as Outcome;`,
      ),
      mutation(
        UPDATES,
        "update-order",
        before(`const at = (index: number): number => (outcomes[index] as { at?: number } | undefined)?.at ?? 0;
          const order = [...tasks.keys()].sort((a: number, b: number) => at(a) - at(b));
          [tasks, outcomes] = [order.map((index) => tasks[index]!), order.map((index) => outcomes[index]!)];`),
      ),
    ],
  },
  {
    name: "results of items are in the order of completion",
    edits: [mutation("step/step-tasks.ts", "item-outcome", `outcomes[outcomes.indexOf(CANCELLED_OUTCOME)] = done;`)],
  },
  {
    name: "the first node does not wait for the input to be durable",
    edits: [mutation(RUN_LOOP, "durable-input", `if (saved !== undefined) void saved.catch(() => undefined);`)],
  },
  {
    name: "results of siblings are lost at a pause",
    edits: [
      mutation(
        CHECKPOINT_WRITER,
        "finished-results",
        `const finished = unfinished === undefined || details.pauses !== undefined ? [] : [...this.results.values()];`,
      ),
    ],
  },
  {
    name: "a checkpoint lacks an item that was sent",
    edits: [mutation(CHECKPOINT_WRITER, "saved-sends", swap("run.sends", "run.sends.slice(1)"))],
  },
  {
    name: "an exclusive goto leaves the other edges of the step",
    edits: [mutation(PLAN_STEP, "routing-kind", `i !== winner`, "alternate.test")],
  },
  {
    name: "steps are counted from the step of the resume",
    edits: [mutation(RESTORE, "resume-step", `return Math.max(0, head.step);`)],
  },
  {
    name: "a failed write is forgotten",
    edits: [mutation(JOURNAL, "failed-write", `void storeFailure(error);`)],
  },
  {
    name: "a fork continues at the newest checkpoint of a called graph",
    edits: [mutation("checkpoint/load-checkpoint.ts", "recorded-checkpoint", "false", "test")],
  },
  {
    name: "every resume starts a called graph again",
    edits: [
      mutation(
        "step/stored-call.ts",
        "continued-call",
        swap("continuesCall(", `head.status === "completed" && continuesCall(`),
        "test",
      ),
    ],
  },
  {
    name: "the error of an error edge is lost in a crash",
    edits: [mutation(RESTORE, "restored-errors", `run.errors = undefined;`)],
  },
  {
    name: "the results beside a failed item are dropped",
    edits: [mutation("step/combine-items.ts", "allowed-updates", "false", "test")],
  },
  {
    name: "`error` is lost in a crash",
    edits: [mutation(RESTORE, "restored-error", `void value;`)],
  },
  {
    name: "`error` is not stored",
    edits: [mutation("run/run.ts", "stored-error", `void channel;`)],
  },
  {
    name: "of several failures, the last one is `error`",
    edits: [mutation(COMMIT, "first-error", swap("findIndex(", "findLastIndex("))],
  },
  {
    name: "bodies run before the thread is claimed",
    edits: [
      mutation("thread/claimed-thread.ts", "claim", `const answer: Claim = { threadId, owner: "nobody", epoch: 1 };`),
    ],
  },
  {
    name: "an answer is consumed by the second interrupt of the same body",
    edits: [
      mutation(
        "step/attempt.ts",
        "consumed-answer",
        `const answer = run.shared.answers.get(id) ?? run.shared.answers.get(run.pauseId(task.id, run.step, 0));`,
      ),
    ],
  },
  {
    name: "a fork forgets which answers were given",
    edits: [mutation(FORK, "forked-answers", `answers: new Map()`)],
  },
  {
    name: "a fork inside a thread continues with the values of the branch that it leaves",
    edits: [mutation(MEMORY_STORE, "continued-branch", `const continues = head !== undefined;`)],
  },
  {
    name: "a fork starts without the stored results",
    edits: [mutation(FORK, "forked-results", `restoreRun(run, source, []);`)],
  },
  {
    name: "a fork at another node keeps the items that were sent",
    edits: [
      mutation(FORK, "dropped-sends", ``),
      mutation(
        "checkpoint/drift.ts",
        "dropped-next",
        `return { ...kept, nextNodes: [], pauses: [], answers: [], errors: {}, barrierState };`,
      ),
    ],
  },
  {
    name: "every resume skips the gates",
    edits: [mutation("run/run-end.ts", "gate", `if (spec.pauseBefore !== true || run.passed !== undefined) return;`)],
  },
  {
    name: "a resume opens gates that were not reported",
    edits: [
      mutation(
        "step/continue-run.ts",
        "waiting-pauses",
        `const waiting = run.shared.openedGates.size >= 0 ? unanswered.filter(({ kind }) => kind === "interrupt") : unanswered;`,
      ),
    ],
  },
  {
    name: "an edit inside a step drops the finished results",
    edits: [mutation(UPDATE, "edited-results", after(`run.writer!.results.clear();`))],
  },
  {
    name: "an edit as a node keeps the previous next nodes",
    edits: [
      mutation(UPDATE, "edited-routes", `routeAs(run, [node], run.ready);`),
      mutation(
        "checkpoint/drift.ts",
        "dropped-next",
        `return { ...kept, pendingSends: [], pauses: [], answers: [], errors: {}, barrierState };`,
      ),
    ],
  },
  {
    name: "an edit as a node reuses the task ids of the previous run",
    edits: [mutation(UPDATE, "edited-run-id", `runId: options.as === undefined || newId() !== "" ? head.runId : ""`)],
  },
  {
    name: "memory is lost between turns",
    edits: [mutation("run/follow-run.ts", "memory-channel", `channel?.name === "nothing"`, "test.right")],
  },
  {
    name: "state survives its turn",
    edits: [mutation("run/follow-run.ts", "memory-channel", `channel?.spec.role !== "input"`, "test.left.right")],
  },
  {
    name: "another turn on an unfinished thread is not refused",
    edits: [mutation("engine/thread-operations.ts", "unfinished-run", `head.status !== "paused"`, "test")],
  },
  {
    name: "an error edge discards the updates of the siblings",
    edits: [
      mutation(
        COMMIT,
        "settled-updates",
        `if (hasFailures) undoUpdates(run, applied); else settleUpdates(run, tasks, applied);`,
      ),
    ],
  },
  {
    name: "an exclusive goto clears the barriers",
    edits: [
      mutation(
        PLAN_STEP,
        "exclusive-goto",
        after(`for (const barrier of barriers?.partlyFilled() ?? []) barriers!.clear(barrier);`),
      ),
    ],
  },
  {
    name: "a node has one try too many",
    edits: [mutation("step/run-task.ts", "attempts-left", swap("number >=", "number >"), "test")],
  },
  {
    name: "errors with `retryable: false` are retried",
    edits: [mutation("step/task-failure.ts", "retryable-error", `return true;`)],
  },
  {
    name: "the waits between attempts do not grow",
    edits: [mutation("step/backoff.ts", "backoff-growth", swap("(attempt - 1)", "Math.min(0, attempt)"))],
  },
  {
    name: "a timeout does not abort the body",
    edits: [mutation("step/attempt.ts", "abort-signal", ``)],
  },
  {
    name: "items of a list have each other's results after a crash",
    edits: [
      mutation("step/step-tasks.ts", "stored-result", `const known = run.stored?.get(task.id.replace("[1]", "[0]"));`),
    ],
  },
  {
    name: "a reducer that throws leaves the updates applied before it",
    edits: [
      mutation(UPDATES, "undone-updates", ``),
      mutation(
        CHECKPOINT_WRITER,
        "checkpoint-id",
        before(
          `for (const { index } of run.program.channels) if (phase === "interrupted") this.touch(index, null, false);`,
        ),
      ),
    ],
  },
  {
    name: "results that collided are kept",
    edits: [mutation(COMMIT, "dropped-results", ``), mutation(COMMIT, "step-at-fault", swap(", dropped)", ")"))],
  },
  {
    name: "the second writer of a channel wins",
    edits: [
      mutation(
        UPDATES,
        "concurrent-write",
        `const clash = tasks.length > 9 ? concurrentWrite(run, tasks, outcomes) : undefined;`,
      ),
    ],
  },
  {
    name: "another table is not refused",
    edits: [mutation("checkpoint/drift.ts", "drift", `problems.length < 9`, "test")],
  },
  {
    name: "the end is reported before it is durable",
    edits: [
      mutation(JOURNAL, "urgent-write", `this.#behind && this.#pending < MAX_BEHIND`, "test"),
      mutation(
        RUN_LOOP,
        "durable-end",
        `const written = run.shared.durable?.durability === "async" ? undefined : run.shared.durable?.journal.flush();`,
      ),
    ],
  },
];
