/**
 * Mistakes that an engine could make, each a change of its source text. An edit that finds no place any more is an error:
 * whoever rewrites the code moves the mistake along.
 */
export interface PlantedBug {
  readonly name: string;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}

export const edit = (file: string, from: string, to: string): PlantedBug["edits"][number] => ({ file, from, to });

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: "a pending write is dropped",
    edits: [
      edit(
        "thread/checkpoint-writer.ts",
        `return journal.write(() => store.putWrites!(claim, headId, [write]));`,
        `return undefined;`,
      ),
    ],
  },
  {
    name: "a resume does not look at pending writes",
    edits: [
      edit("thread/restore-run.ts", `run.stored = stored.size === 0 ? undefined : stored;`, `run.stored = undefined;`),
    ],
  },
  {
    name: "the store does not compare before it sets the head",
    edits: [
      edit(
        "stores/memory.ts",
        `if ((head?.header.id ?? null) !== request.expectedHead) {`,
        `if (request.expectedHead === "") {`,
      ),
    ],
  },
  {
    name: "a barrier is cleared when only some have come",
    edits: [
      edit(
        "routing/plan-step.ts",
        `if (this.barriers.signal(barrier, source)) (this.complete ??= []).push(barrier);`,
        `if (this.barriers.signal(barrier, source)) (this.complete ??= []).push(barrier); else if (this.barriers.arrived(barrier).length > 1) this.barriers.clear(barrier);`,
      ),
    ],
  },
  {
    name: "barriers are not restored",
    edits: [
      edit(
        "thread/restore-run.ts",
        `for (const name of names) run.barriers.signal(barrier, node(name));`,
        `void [names, barrier];`,
      ),
    ],
  },
  {
    name: "updates are applied in the order of completion",
    edits: [
      edit(
        "step/step-tasks.ts",
        `    outcomes[index] = outcome;\n    if (--open === 0) resolve(outcomes);`,
        `    outcomes[index] = { ...outcome, at: ((globalThis as { ended?: number }).ended = ((globalThis as { ended?: number }).ended ?? 0) + 1) } as Outcome;\n    if (--open === 0) resolve(outcomes);`,
      ),
      edit(
        "step/apply-updates.ts",
        `  for (let index = 0; index < tasks.length; index++) {\n    for (const { channel, value } of outcomes[index]!.updates) {\n      const code`,
        `  const at = (index: number): number => (outcomes[index] as { at?: number } | undefined)?.at ?? 0;\n  for (const index of [...tasks.keys()].sort((a, b) => at(a) - at(b))) {\n    for (const { channel, value } of outcomes[index]!.updates) {\n      const code`,
      ),
    ],
  },
  {
    name: "results of items come in the order of completion",
    edits: [
      edit(
        "step/step-tasks.ts",
        `          outcomes[index] = done;\n          return work();`,
        `          outcomes[outcomes.indexOf(CANCELLED_OUTCOME)] = done;\n          return work();`,
      ),
    ],
  },
  {
    name: "the first node does not wait for the input to be durable",
    edits: [
      edit(
        "step/run-loop.ts",
        `if (saved !== undefined) return saved.then(() => (end === undefined ? loop(run) : finish(run, end)));`,
        `if (saved !== undefined) void saved.catch(() => undefined);`,
      ),
    ],
  },
  {
    name: "results of siblings do not outlive a pause",
    edits: [
      edit(
        "thread/checkpoint-writer.ts",
        `const finished = unfinished === undefined ? [] : [...this.results.values()];`,
        `const finished = unfinished === undefined || details.pauses !== undefined ? [] : [...this.results.values()];`,
      ),
    ],
  },
  {
    name: "what was sent is not in the checkpoint",
    edits: [
      edit("thread/checkpoint-writer.ts", `pendingSends: run.sends.map(`, `pendingSends: run.sends.slice(1).map(`),
    ],
  },
  {
    name: "an exclusive jump leaves the other edges of the step",
    edits: [edit("routing/plan-step.ts", `} else if (winner === -1) {`, `} else if (i !== winner) {`)],
  },
  {
    name: "steps are counted from where the resume began",
    edits: [
      edit(
        "thread/restore-run.ts",
        `return head.phase === "interrupted" ? head.step : head.step + 1;`,
        `return Math.max(0, head.step);`,
      ),
    ],
  },
  {
    name: "a failed write is forgotten",
    edits: [edit("thread/journal.ts", `this.#error ??= storeFailure(error);`, `void storeFailure(error);`)],
  },
  {
    name: "a called graph begins anew on every resume",
    edits: [
      edit(
        "step/call-graph.ts",
        `goesOn(attempt, child, head)) {`,
        `head.status === "completed" && goesOn(attempt, child, head)) {`,
      ),
    ],
  },
  {
    name: "what an error edge carries is lost in a crash",
    edits: [
      edit(
        "thread/restore-run.ts",
        `run.errors = errors.length === 0 ? undefined : new Map(`,
        `run.errors = errors.length >= 0 ? undefined : new Map(`,
      ),
    ],
  },
  {
    name: "bodies run before the thread is claimed",
    edits: [
      edit(
        "thread/claimed-thread.ts",
        `const claim = await asStoreError(() => store.claim(threadId, { owner: globalThis.crypto.randomUUID(), leaseMs }));`,
        `const claim: Claim = { threadId, owner: "nobody", epoch: 1 };`,
      ),
    ],
  },
  {
    name: "an answer is consumed by a second question of the same body",
    edits: [
      edit(
        "step/task-context.ts",
        `const answer = run.shared.answers.get(id);`,
        `const answer = run.shared.answers.get(id) ?? run.shared.answers.get(run.pauseId(task.id, run.step, 0));`,
      ),
    ],
  },
  {
    name: "a fork forgets which answers were given",
    edits: [
      edit(
        "thread/fork-thread.ts",
        `answers: new Map(source.answers.map(({ id, value }) => [renew(id), { id: renew(id), value }])),`,
        `answers: new Map(),`,
      ),
    ],
  },
  {
    name: "a fork in the thread goes on with the values of the branch it leaves",
    edits: [
      edit(
        "stores/memory.ts",
        `const continues = head !== undefined && header.parentId === head.header.id;`,
        `const continues = head !== undefined;`,
      ),
    ],
  },
  {
    name: "a fork begins without the results that were stored",
    edits: [
      edit(
        "thread/fork-thread.ts",
        `  restoreRun(run, source, writes);\n  const chain = run.chain!;\n  chain.headId = head?.id ?? null;\n  chain.parentId = isSameThread ? source.id : null;`,
        `  restoreRun(run, source, []);\n  const chain = run.chain!;\n  chain.headId = head?.id ?? null;\n  chain.parentId = isSameThread ? source.id : null;`,
      ),
    ],
  },
  {
    name: "a jump of the user leaves what was sent",
    edits: [edit("thread/fork-thread.ts", `  run.ready = [node];\n  run.sends = [];`, `  run.ready = [node];`)],
  },
  {
    name: "a gate is skipped by every resume",
    edits: [
      edit(
        "step/run-loop.ts",
        `if (spec.pauseBefore !== true || run.passed?.has(spec.name) === true) return;`,
        `if (spec.pauseBefore !== true || run.passed !== undefined) return;`,
      ),
    ],
  },
  {
    name: "a resume opens gates that nobody was told of",
    edits: [
      edit(
        "step/run-loop.ts",
        `const held = open.filter(({ id }) => !run.shared.openedGates.has(id));`,
        `const held = run.shared.openedGates.size >= 0 ? open.filter(({ kind }) => kind === "interrupt") : open;`,
      ),
    ],
  },
  {
    name: "an edit in the middle of a step drops what had finished",
    edits: [
      edit(
        "thread/update-thread.ts",
        `  restoreRun(run, head, writes);\n`,
        `  restoreRun(run, head, writes);\n  run.chain!.results.clear();\n`,
      ),
    ],
  },
  {
    name: "an edit as a node leaves what was next",
    edits: [edit("thread/update-thread.ts", `routeAs(run, [node], []);`, `routeAs(run, [node], run.ready);`)],
  },
  {
    name: "an edit as a node gives its tasks the names of others",
    edits: [
      edit(
        "thread/update-thread.ts",
        `runId: options.as === undefined ? head.runId : newId(),`,
        `runId: options.as === undefined || newId() !== "" ? head.runId : "",`,
      ),
    ],
  },
  {
    name: "memory is lost between turns",
    edits: [edit("engine/run-input.ts", `channel?.spec.role === "memory"`, `channel?.name === "nothing"`)],
  },
  {
    name: "state outlives its turn",
    edits: [edit("engine/run-input.ts", `channel?.spec.role === "memory"`, `channel?.spec.role !== "input"`)],
  },
  {
    name: "a further turn on an unfinished thread is not refused",
    edits: [
      edit(
        "engine/create-engine.ts",
        `if (head.status === "completed" || head.status === "incomplete") return;`,
        `if (head.status !== "paused") return;`,
      ),
    ],
  },
  {
    name: "an error edge discards what the siblings wrote",
    edits: [
      edit(
        "step/commit-step.ts",
        `  settleUpdates(run, tasks, applied);`,
        `  if (hasFailures) undoUpdates(run, applied);\n  else settleUpdates(run, tasks, applied);`,
      ),
    ],
  },
  {
    name: "an exclusive jump clears the barriers",
    edits: [
      edit(
        "routing/plan-step.ts",
        `      for (const target of routing.goto!) plan.run(target);`,
        `      for (const target of routing.goto!) plan.run(target);\n      for (const barrier of barriers?.partlyFilled() ?? []) barriers!.clear(barrier);`,
      ),
    ],
  },
  {
    name: "tries are counted from none",
    edits: [edit("step/run-task.ts", `number >= tries.attempts`, `number > tries.attempts`)],
  },
  {
    name: "errors that say it is no use are tried again",
    edits: [edit("step/run-task.ts", `"retryable" in error && error.retryable === false`, `error === attemptTask`)],
  },
  {
    name: "waits between attempts do not grow",
    edits: [edit("step/backoff.ts", `min * 2 ** (attempt - 1)`, `min * 2 ** Math.min(0, attempt)`)],
  },
  {
    name: "a timeout says nothing to the body",
    edits: [
      edit(
        "step/task-context.ts",
        `    this.#controller?.abort(this.#reason);\n    this.onGivenUp`,
        `    this.onGivenUp`,
      ),
    ],
  },
  {
    name: "items of a list have each other's results after a crash",
    edits: [
      edit(
        "step/step-tasks.ts",
        `const known = run.stored?.get(task.id);`,
        `const known = run.stored?.get(task.id.replace("[1]", "[0]"));`,
      ),
    ],
  },
  {
    name: "a reducer that throws leaves what was applied before it",
    edits: [
      edit("step/apply-updates.ts", `        undoUpdates(run, writes);\n`, ``),
      edit(
        "thread/checkpoint-writer.ts",
        `    const id = newId();\n`,
        `    for (const { index } of run.program.channels) if (phase === "interrupted") this.touch(index, null, false);\n    const id = newId();\n`,
      ),
    ],
  },
  {
    name: "results that clashed are kept",
    edits: [
      edit(
        "step/commit-step.ts",
        `for (const task of applied.atFault) for (const { id } of task.items ?? [task]) run.chain?.results.delete(id);\n    return leaveStep(run, tasks, outcomes, stopped("failed", applied.error), applied.error, applied.atFault);`,
        `return leaveStep(run, tasks, outcomes, stopped("failed", applied.error), applied.error);`,
      ),
    ],
  },
  {
    name: "the second writer of a channel wins",
    edits: [
      edit(
        "step/apply-updates.ts",
        `const clash = tasks.length > 1 ? concurrentWrite(run, tasks, outcomes) : undefined;`,
        `const clash = tasks.length > 9 ? concurrentWrite(run, tasks, outcomes) : undefined;`,
      ),
    ],
  },
  {
    name: "another table is not refused",
    edits: [edit("thread/drift.ts", `if (problems.length === 0) return;`, `if (problems.length < 9) return;`)],
  },
  {
    name: "the end is told before it is durable",
    edits: [
      edit(
        "thread/journal.ts",
        `if (this.#behind && !urgent && this.#pending < MAX_BEHIND) return undefined;`,
        `if (this.#behind && this.#pending < MAX_BEHIND) return undefined;`,
      ),
      edit(
        "step/run-loop.ts",
        `const written = run.shared.durable?.journal.flush();`,
        `const written = run.shared.durable?.durability === "async" ? undefined : run.shared.durable?.journal.flush();`,
      ),
    ],
  },
];
