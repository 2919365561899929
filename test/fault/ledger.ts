/**
 * Maps each stored checkpoint to the position of a reference run, and compares both: values, next nodes, barriers,
 * failures, results and pauses of every checkpoint of the outermost graph, when it is stored and again at the end.
 */
import type { Checkpoint, CheckpointHeader, CheckpointId, PauseItem } from "../../runtime/interface/checkpoint.ts";
import { resumesAt } from "./faulty-store.ts";
import { CHANNELS, type Model, type Written } from "./model.ts";
import type { Outcome, Position, Step } from "./position.ts";
import { allows, begin, edit, ending, isItemOf, leads, moveTo, routeAs, step, writeByHand } from "./reference.ts";
import { withDigests, withoutDigests } from "./task-names.ts";
import { gateKey, type FailureSeen } from "./watched-body.ts";
import type { Before, Life, World } from "./world.ts";

/** Maximum number of steps of a run. */
const MAX_STEPS = 9;
/** Number of tasks of the reference interpreter for all acts. */
const TASKS_AT_FIRST = 40;
const TASKS_MORE = 12;

export class Ledger {
  readonly model: Model;
  readonly #world: World;
  readonly #positions = new Map<CheckpointId, Position>();
  readonly #steps = new Map<Position, Step>();
  readonly #runs = new Set<string>();
  #tasks = 0;
  #mostTasks = TASKS_AT_FIRST;

  constructor(model: Model, world: World) {
    this.model = model;
    this.#world = world;
    world.onSaved = (header, life, before) => this.#record(header, life, before);
  }

  at(id: CheckpointId): Position | undefined {
    return this.#positions.get(id);
  }

  /** Whether the step fails in the reference interpreter. */
  isFault(id: CheckpointId): boolean {
    return this.#faulted.has(id);
  }
  readonly #faulted = new Set<CheckpointId>();

  step(at: Position): Step {
    let known = this.#steps.get(at);
    if (known === undefined) {
      known = step(this.model, at);
      this.#steps.set(at, known);
      for (const { leaves } of known.tasks) this.#tasks += 1 + leaves.length;
    }
    return known;
  }

  /** The position of a new run of a thread. `before` is the thread's head. */
  begin(input: number, before: CheckpointId | undefined): Position {
    return this.#once(`${input} after ${before}`, () =>
      begin(this.model, input, before === undefined ? undefined : this.at(before)?.values),
    );
  }

  /** The position of a fork of a checkpoint. */
  forked(source: CheckpointId, at: number | undefined): Position | undefined {
    const origin = this.at(source);
    if (origin === undefined || at === undefined) return origin;
    return this.#once(`${source} at ${at}`, () => moveTo(origin, at));
  }

  readonly #begun = new Map<string, Position>();
  #once(key: string, make: () => Position): Position {
    const known = this.#begun.get(key) ?? make();
    this.#begun.set(key, known);
    return known;
  }

  /** More tasks run than first expected. */
  allowMore(): void {
    this.#mostTasks += TASKS_MORE;
  }

  /**
   * How far a run continues from a position, and how it ends: by itself, by a failure, or because of the limit of this
   * search.
   */
  end(from: Position): { readonly at: Position; readonly status: "over" | "failed" | "limit" } {
    let at = from;
    for (;;) {
      if (ending(at) !== undefined) return { at, status: "over" };
      if (at.step >= MAX_STEPS || (!this.#steps.has(at) && this.#tasks > this.#mostTasks))
        return { at, status: "limit" };
      const { next } = this.step(at);
      if (next === undefined) return { at, status: "failed" };
      at = next;
    }
  }

  /** History is never rewritten, and no branch sees another's values (5.9, 5.12). */
  recheck(): void {
    for (const [id, at] of this.#positions) {
      const { threadId } = this.#headers.get(id)!;
      const found = this.#world.store.loadById(threadId, id);
      if (found === undefined) this.#report(`5.9: checkpoint ${id} is gone`);
      else if (!this.#sameValues(found, at, "5.9: at the end")) return;
    }
  }

  readonly #headers = new Map<CheckpointId, CheckpointHeader>();

  #report(problem: string): void {
    this.#world.report(problem);
  }

  #record(header: CheckpointHeader, life: Life, had: Before | undefined): void {
    const { store } = this.#world;
    const found = store.loadById(header.threadId, header.id)!;
    const isNew = !this.#runs.has(header.runId);
    const before = header.parentId === null ? undefined : this.#positions.get(header.parentId);
    const root = this.#root(header, life, isNew, before, had);
    this.#runs.add(header.runId);
    const from = root ?? before;
    if (from === undefined) {
      this.#report(`a checkpoint of step ${header.step} follows ${header.parentId}, which does not exist`);
      return;
    }
    const steps = resumesAt(header) - from.step;
    if (steps < 0 || (root !== undefined && steps > 0) || (steps > 1 && !life.isExit)) {
      this.#report(`a checkpoint continues with step ${resumesAt(header)}, and its parent with ${from.step}`);
      return;
    }
    let at = from;
    let last: Step | undefined;
    for (let i = 0; i < steps; i++) {
      last = this.step(at);
      if (last.next === undefined) {
        this.#report(`step ${at.step} has come to its end, and was to fail with ${last.fault?.code}`);
        return;
      }
      at = last.next;
    }
    this.#headers.set(header.id, header);
    if (steps > 0) this.#checkOpenPauses(header);
    this.#check(found, at, last, life, root !== undefined);
    this.#positions.set(header.id, this.#withoutFaults(this.#withoutLostPauses(at, header), header));
  }

  /** The position of a checkpoint that starts or edits a chain; `undefined` for one that continues its parent. */
  #root(
    header: CheckpointHeader,
    { act, disturbed }: Life,
    isNew: boolean,
    before: Position | undefined,
    had: Before | undefined,
  ) {
    const world = this.#world;
    if (act.kind === "run" && isNew) {
      world.cover(before === undefined ? "a run" : act.abandon ? "an abandoned run" : "a further turn");
      return this.begin(act.input, header.parentId ?? undefined);
    }
    if (act.kind === "update" && header.phase === "updated") {
      if (before === undefined) return undefined;
      // A called graph starts again if the edit has changed its arguments, and the thread may continue elsewhere.
      this.#openPauses.delete(header.runId);
      const values = act.values as Partial<Record<Written, unknown>>;
      const tasks = act.as === undefined ? [] : this.#tasksByHand(header.parentId!, before, act.as, had);
      if (tasks.length > 0) {
        this.#keepsResults(header, header.parentId!, header.threadId, had, tasks);
        // The results of its items are replaced: after a fault of the step they run again.
        for (const id of Object.keys(this.step(before).leaves))
          if (isItemOf(id, tasks)) world.durable.delete(`${header.runId}:${id}@${before.step}`);
        world.cover("an edit as a task of an unfinished step");
        const written = writeByHand(before, tasks, values, act.replace, this.#stays(header, before));
        return this.#withoutOldCalls(header, before, written);
      }
      if (act.as === undefined) this.#keepsResults(header, header.parentId!, header.threadId, had);
      const kept = act.as === undefined ? this.#stays(header, before) : { kept: {}, given: {} };
      const edited = edit(before, values, act.replace, kept);
      world.cover(act.as === undefined ? "an edit" : "an edit as a node");
      return act.as === undefined ? this.#withoutOldCalls(header, before, edited) : routeAs(this.model, edited, act.as);
    }
    if ((act.kind !== "fork" && act.kind !== "resume from") || !isNew) return undefined;
    const elsewhere = header.metadata["forkedFrom"] as { thread: string; checkpoint: string } | undefined;
    const isElsewhere = header.parentId === null && elsewhere !== undefined;
    const source = isElsewhere ? elsewhere.checkpoint : header.parentId!;
    if (source !== act.source && !disturbed) this.#report(`5.9: a fork of ${source}, not of ${act.source}`);
    const origin = this.#positions.get(source);
    if (origin === undefined) return undefined;
    world.cover(`a fork${act.at === undefined ? "" : " at a node"}${isElsewhere ? " to another thread" : ""}`);
    if (act.at !== undefined) return this.forked(source, act.at);
    const from = this.#headers.get(source)!;
    this.#keepsResults(header, source, from.threadId, had);
    this.#takesAlong(from, header);
    if (act.kind === "resume from") for (const { id } of header.pauses) world.opened.add(gateKey(id));
    this.#openPauses.set(
      header.runId,
      header.pauses.filter(({ namespace }) => namespace.length > 0),
    );
    return this.#withoutLostCalls(origin, header);
  }

  /** Run of a fork -> pauses of called graphs that wait at its start. */
  readonly #openPauses = new Map<string, readonly PauseItem[]>();

  /**
   * A called graph of a fork continues at the checkpoint that its caller has recorded (5.9). It waits there for the answers that
   * another branch has received since.
   */
  #checkOpenPauses({ runId, step }: CheckpointHeader): void {
    const { answered, opened, hadRival, misled } = this.#world;
    if (hadRival || misled) return;
    for (const { id, kind } of this.#openPauses.get(runId) ?? []) {
      if (kind === "interrupt" ? !answered.has(id) : !opened.has(gateKey(id)))
        this.#report(`5.9: the fork has waited for ${id}, and finishes step ${step} without an answer`);
    }
    this.#openPauses.delete(runId);
  }

  /** A fork and an edited thread keep the stored results and answers of their source (5.9). */
  #keepsResults(
    header: CheckpointHeader,
    source: CheckpointId,
    thread: string,
    had: Before | undefined,
    replaced: readonly string[] = [],
  ): void {
    if (this.#world.misled) return;
    const { store } = this.#world;
    const from = this.#headers.get(source);
    const has = new Set(header.finished?.map(({ taskId }) => taskId));
    for (const { taskId } of [
      ...(from?.finished ?? []),
      ...(had?.head === source ? had.writes : store.getWrites(thread, source)),
    ]) {
      const isKnown = taskId.startsWith("answer:")
        ? header.answers.some(({ id }) => task(id) === task(taskId.slice(7)))
        : has.has(taskId);
      if (!isKnown && !isItemOf(storedTask(taskId), replaced))
        this.#report(`5.9: ${taskId} was stored, and is forgotten (${header.phase} of step ${header.step})`);
    }
    const next = from === undefined ? 0 : resumesAt(from);
    for (const { id } of from?.answers ?? []) {
      if (Number(/@(\d+)/.exec(id)?.[1]) >= next && !header.answers.some((answer) => task(answer.id) === task(id)))
        this.#report(`5.9: the answer to ${id} is forgotten`);
    }
  }

  /** A called graph that has started starts again if an edit has changed its arguments (7.2). */
  #withoutOldCalls(header: CheckpointHeader, before: Position, at: Position): Position {
    const argument = ({ values }: Position): number => values.input + (values.counter as number);
    if (argument(before) === argument(at)) return at;
    const done = new Set(header.finished?.map(({ taskId }) => taskId));
    const kept = Object.entries(at.kept).filter(([id]) => done.has(id) || !this.#isCall(id));
    return { ...at, kept: Object.fromEntries(kept) };
  }

  /**
   * The tasks of a node beside others in a step that has begun, which an edit as this node finishes: those without a result,
   * or all.
   */
  #tasksByHand(source: CheckpointId, at: Position, node: number, had: Before | undefined): readonly string[] {
    const from = this.#headers.get(source);
    if (from === undefined || ending(at) !== undefined) return [];
    const writes = had?.head === source ? had.writes : this.#world.store.getWrites(from.threadId, source);
    const results = [...(from.finished ?? []), ...writes].filter(({ taskId }) => !taskId.startsWith("answer:"));
    if (from.phase !== "interrupted" && results.length === 0) return [];
    if (at.ready.length + at.sends.length === 1) return [];
    const plain = at.ready.includes(node) ? [this.model.nodes[node]!.name] : [];
    const tasks = [...plain, ...at.sends.filter((leaf) => leaf.node === node).map(({ id }) => id)];
    const open = tasks.filter((id) => !results.some(({ taskId }) => taskId === id));
    return open.length === 0 ? tasks : open;
  }

  /** Pause ids of a fork: those of its source with the id of the new run. */
  #takesAlong(from: CheckpointHeader, to: CheckpointHeader): void {
    const { opened } = this.#world;
    const [before, after] = [suffix(from.runId), suffix(to.runId)];
    for (const id of [...opened]) if (id.endsWith(before)) opened.add(`${id.slice(0, -before.length)}${after}`);
  }

  /** What an edit keeps: stored results, answers, and unanswered pauses. */
  #stays(header: CheckpointHeader, before: Position): Pick<Position, "kept" | "given"> {
    const kept: Record<string, Outcome> = {};
    const given: Record<string, readonly unknown[]> = {};
    if (ending(before) !== undefined) return { kept, given };
    const { leaves } = this.step(before);
    const done = new Set(header.finished?.map(({ taskId }) => taskId));
    for (const [id, outcome] of Object.entries(leaves)) {
      // A called graph that has started continues with its original arguments.
      if (done.has(id) || (this.#isCall(id) && this.#hasBegun(header, id, before.step))) {
        kept[id] = outcome;
        continue;
      }
      const answered = header.answers.filter((answer) => task(answer.id) === `${id}@${before.step}`);
      const open = header.pauses.filter((pause) => pause.taskId === id && pause.namespace.length === 0);
      const values = [...answered.map(({ value }) => value)];
      if (values.length + open.length > 0)
        given[id] = [...values, ...open.map(({ payload }) => this.#answerTo(payload))];
    }
    return { kept, given };
  }

  /**
   * A pause that an edit has kept, but a checkpoint without pauses no longer contains, is repeated with the current
   * values.
   */
  #withoutLostPauses(at: Position, header: CheckpointHeader): Position {
    const done = new Set(header.finished?.map(({ taskId }) => taskId));
    const given: Record<string, readonly unknown[]> = { ...at.given };
    for (const [id, values] of Object.entries(at.given)) {
      const answered = header.answers.filter((answer) => task(answer.id) === `${id}@${at.step}`).length;
      const open = header.pauses.filter((pause) => pause.taskId === id && pause.namespace.length === 0).length;
      if (done.has(id) || answered + open >= values.length) continue;
      given[id] = values.slice(0, answered + open);
    }
    const isSame = Object.entries(given).every(([id, values]) => values === at.given[id]);
    return isSame ? at : { ...at, given };
  }

  /** Tasks at fault run again, even if an edit has kept their results (2.3). */
  #withoutFaults(at: Position, { id, failure }: CheckpointHeader): Position {
    if (failure === undefined || ending(at) !== undefined) return at;
    const { fault } = this.step(at);
    if (fault?.code === failure.code) this.#faulted.add(id);
    // A called graph continues where it failed.
    const again = fault?.again.filter((task) => !this.#isCall(task)) ?? [];
    if (fault?.code !== failure.code || !again.some((id) => at.kept[id] !== undefined)) return at;
    return { ...at, kept: Object.fromEntries(Object.entries(at.kept).filter(([id]) => !again.includes(id))) };
  }

  /** A called graph that an edit found in progress, and that the fork does not contain, starts again. */
  #withoutLostCalls(at: Position, header: CheckpointHeader): Position {
    const done = new Set(header.finished?.map(({ taskId }) => taskId));
    const kept = Object.entries(at.kept).filter(
      ([id]) => !this.#isCall(id) || done.has(id) || header.children?.[id] !== undefined,
    );
    return kept.length === Object.keys(at.kept).length ? at : { ...at, kept: Object.fromEntries(kept) };
  }

  #isCall(id: string): boolean {
    return this.model.nodes.some(({ name, graph }) => graph !== undefined && id.replace(/[[~].*/, "") === name);
  }

  #answerTo: (payload: unknown) => unknown = () => undefined;
  set answerTo(answer: (payload: unknown) => unknown) {
    this.#answerTo = answer;
  }

  #hasBegun({ threadId, runId }: CheckpointHeader, id: string, at: number): boolean {
    return this.#world.store.loadLatest(threadId, id)?.runId === withDigests(`${runId}/${id}@${at}`);
  }

  /** The step was not committed: which of its tasks run again although their results were stored (2.3). */
  #forget(header: CheckpointHeader, again: readonly string[]): void {
    for (const id of again) this.#world.durable.delete(`${header.runId}:${id}@${header.step}`);
  }

  #check(found: Checkpoint, at: Position, last: Step | undefined, life: Life, isRoot: boolean): void {
    if (!this.#sameValues(found, at, "a checkpoint")) return;
    const { nodes, barriers } = this.model;
    const name = (node: number): string => nodes[node]!.name;
    const where = `(${found.phase} of step ${found.step})`;
    const same = (what: string, given: unknown, wanted: unknown): void => {
      const [a, b] = [JSON.stringify(given), JSON.stringify(wanted)];
      if (a !== b) this.#report(`${what} ${a}, expected ${b} ${where}`);
    };
    const finished = new Set(found.finished?.map(({ taskId }) => taskId));
    const plain = nodes.filter(({ name: own }) => finished.has(own));
    same(
      "next is",
      [...new Set([...found.nextNodes, ...plain.map((node) => node.name)])].sort(),
      at.ready.map(name).sort(),
    );
    const sends = at.sends.map(({ id, node, item }) => ({ taskId: id, node: name(node), item }));
    same("sent is", found.pendingSends, sends);
    const came = at.came.flatMap((sources, index) =>
      sources.length === 0 ? [] : [[`${name(barriers[index]!.target)}#${index}`, sources.map(name).sort()] as const],
    );
    same("3.3: who has come is", sorted(Object.entries(found.barrierState)), sorted(came));
    const errors = Object.entries(found.errors).map(([node, error]) => [node, withIndexes(error)] as const);
    const error = Object.hasOwn(found.values, "error") ? found.values["error"]! : null;
    same("4.3: `error` is", error === null ? null : withIndexes(error), at.error);
    same(
      "4.3: what errors read as is",
      sorted(errors),
      sorted(Object.entries(at.errors).map(([node, error]) => [name(Number(node)), error])),
    );
    if (last !== undefined && found.phase !== "interrupted") {
      same(
        "what ran is",
        found.currentNodes,
        last.tasks.map(({ node }) => name(node)),
      );
      for (const outcome of last.outcomes)
        if (outcome.failed !== undefined)
          this.#world.cover(outcome.updates.length > 0 ? "an allowed failure" : "an error edge");
      if (came.length > 0) this.#world.cover("a barrier that waits");
      if (this.model.barriers.some(({ settles }, barrier) => settles && at.came[barrier]!.length > 0))
        this.#world.cover("a settled barrier that waits");
    }
    if (found.phase === "interrupted") this.#checkInterrupted(found, at, life, finished, isRoot);
    else if (found.phase !== "updated" && !isRoot) this.#checkStanding(found, at, last, life);
    else if (isRoot && life.act.kind === "run") this.#checkStanding(found, at, last, life);
    for (const pause of found.pauses) this.#world.cover(`a pause: ${pause.kind}`);
    if (found.pauses.length > 1) this.#world.cover("several waiting items");
  }

  #sameValues(found: Checkpoint, at: Position, what: string): boolean {
    const values = { input: found.values["input"] } as Record<string, unknown>;
    for (const [channel, { initial }] of Object.entries(CHANNELS)) {
      values[channel] = Object.hasOwn(found.values, channel) ? found.values[channel] : initial;
    }
    for (const [channel, wanted] of Object.entries(at.values)) {
      const [a, b] = [JSON.stringify(values[channel]), JSON.stringify(wanted)];
      if (a === b) continue;
      this.#report(`${what}: ${channel} is ${a}, expected ${b} (${found.phase} of step ${found.step})`);
      return false;
    }
    return true;
  }

  /** The state of a run between two steps: ended, stopped by a gate or its limit, or running (2.7, 2.8, 6.1, 6.3). */
  #checkStanding(found: Checkpoint, at: Position, last: Step | undefined, life: Life): void {
    const { nodes } = this.model;
    const gates = (kind: PauseItem["kind"]): string[] =>
      found.pauses.filter((pause) => pause.kind === kind).map(({ node }) => node);
    const after = (last?.tasks ?? []).filter(
      (task, index) =>
        nodes[task.node]!.pauseAfter &&
        (last!.outcomes[index]!.failed === undefined ||
          (allows(this.model, task) && !leads(this.model, task.node, at.values))),
    );
    const held = [...new Set(after.map(({ node }) => nodes[node]!.name))];
    const next = [...at.ready, ...at.sends.map(({ node }) => node)].filter((node) => nodes[node]!.pauseBefore);
    const before = [...new Set(next.map((node) => nodes[node]!.name))];
    const over = ending(at);
    let wanted: readonly [string, string, readonly string[]];
    if (held.length > 0) wanted = ["after", "paused", held];
    else if (over !== undefined) wanted = ["", over, []];
    else if (found.status === "cancelled" && life.cancelled) wanted = ["", "cancelled", []];
    // A run that is cancelled while its engine is drained is left for `recover`, which comes to its gates.
    else if (found.status === "running" && life.cancelled && life.drained) wanted = ["", "running", []];
    else if (at.step >= life.maxSteps) wanted = ["", "limit", []];
    else if (before.length > 0) wanted = ["before", "paused", before];
    else wanted = ["", "running", []];
    const [phase, status, names] = wanted;
    // Remaining gates of a partial answer have a checkpoint of their own.
    const isPartly = last === undefined && found.status === "paused" && life.act.kind === "resume";
    const all = phase === "after" ? held : before;
    const isFitting = isPartly
      ? [...gates("before"), ...gates("after")].length === found.pauses.length
      : found.status === status && JSON.stringify(found.pauses.map(({ node }) => node)) === JSON.stringify(names);
    if (
      !isFitting ||
      (phase !== "" && !isPartly && (found.phase !== phase || gates(phase as "before").length !== all.length))
    )
      this.#report(
        `6.1: after step ${found.step} it is ${found.phase}, ${found.status} for ${found.pauses.map(({ id }) => id).join(", ")}; expected ${status} ${phase} ${names.join(", ")}`,
      );
    this.#world.cover(`status: ${found.status}`);
  }

  /** An unfinished step: finished results are kept, and all waiting tasks are listed (2.3, 4.2, 4.3, 6.2, 6.3). */
  #checkInterrupted(found: Checkpoint, at: Position, life: Life, finished: ReadonlySet<string>, isRoot: boolean): void {
    const world = this.#world;
    const { leaves, fault, tasks } = this.step(at);
    const where = `(${found.status} in step ${found.step})`;
    world.cover(`status: ${found.status}`);
    for (const id of finished)
      if (leaves[storedTask(id)] === undefined) this.#report(`${id} has finished, and is no task ${where}`);
    const code = found.failure?.code;
    if (code !== undefined && code === fault?.code) {
      this.#forget(
        found,
        fault.again.filter((id) => !finished.has(id)),
      );
      world.cover(`fault: ${code}`);
    }
    if (code === "NG_CONCURRENT_WRITE" || code === "NG_REDUCER_FAILED") {
      const kept = fault?.again.filter((id) => finished.has(id)) ?? [];
      if (code !== fault?.code) this.#report(`2.3: ${code}, expected ${fault?.code} ${where}`);
      else if (kept.length > 0) this.#report(`2.3: results of ${kept.join(", ")} were at fault, and are kept ${where}`);
    }
    // A fork or an edit has the results of its source; a cancelled run has those that existed.
    if (isRoot || life.cancelled || life.drained || (found.status !== "paused" && found.status !== "failed")) return;
    if (found.status === "failed" && life.aborts) return;
    const own = found.pauses.filter(({ namespace }) => namespace.length === 0);
    const pauses = new Map(own.map((pause) => [pause.taskId, pause] as const));
    for (const { node, leaves: items } of tasks) {
      const { graph, onError } = this.model.nodes[node]!;
      for (const { id } of items) {
        const { questions, failed } = leaves[id]!;
        if (graph !== undefined || finished.has(id) || fault?.again.includes(id) === true) continue;
        if (life.broke.has(`${found.runId}:${id}@${found.step}`)) continue;
        const answered = found.answers.filter((answer) => task(answer.id) === `${id}@${found.step}`).length;
        const pause = pauses.get(id);
        const isAsking = answered < questions.length;
        if (isAsking && found.status === "failed") continue;
        if (isAsking !== (pause !== undefined)) {
          const isItem = failed !== undefined && id.endsWith("]");
          if (isAsking) this.#report(`6.2: ${id} waits for an answer that is not reported ${where}`);
          else if (!isItem && !(failed !== undefined && onError.length === 0))
            this.#report(`6.2: ${id} waits, and asks nothing any more ${where}`);
        } else if (isAsking && at.given[id] === undefined && pause!.payload !== questions[answered])
          this.#report(`6.2: ${id} asks ${JSON.stringify(pause!.payload)}, expected ${questions[answered]} ${where}`);
        else if (!isAsking && failed === undefined)
          this.#report(`6.3: ${id} has finished, and its result is not kept ${where}`);
      }
    }
  }
}

/** `approve@3` of `approve@3+2.1a2b3c4d5e6f`. */
function task(pause: string): string {
  return withoutDigests(pause.slice(0, pause.lastIndexOf("."))).replace(/\+\d+$/, "");
}

/** A value of `error` as the model has it. */
function withIndexes(error: unknown): unknown {
  const { node, code, attempts, items = [] } = error as FailureSeen;
  return { node, code, attempts, items: items.map(({ index }) => index) };
}

function suffix(runId: string): string {
  return `.${runId.slice(-12)}`;
}

function sorted(entries: readonly (readonly [string, unknown])[]): unknown {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** The task of a stored result, or of the record that an item without a result has begun. */
function storedTask(id: string): string {
  return withoutDigests(id.replace(/^part:(.*)\/$/, "$1"));
}
