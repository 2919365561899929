import type { CheckpointHeader, PendingWrite } from "../../runtime/interface/checkpoint.ts";
import type { Claim, SaveRequest, Store } from "../../runtime/interface/store.ts";
import { chance } from "./random.ts";
import { withoutDigests } from "./task-names.ts";
import { inPlainNames } from "./versions.ts";
import type { FaultKind, Life, World } from "./world.ts";

/**
 * The store as one process sees it. A call may fail, hang, be executed twice, return an old result, or end the process.
 * The store also verifies the order that promises 5.2 to 5.6 require.
 *
 * @param isSlow calls return at a time that the seed determines, not at once
 */
export function faultyStore(world: World, life: Life, isSlow: boolean, keepsWrites: boolean): Store {
  const { base, random } = world;
  const never = new Promise<never>(() => undefined);

  const call = <T>(name: string, effect: () => T, old?: () => T, quiet = false): T | Promise<T> => {
    if (life.dead) return never;
    const number = world.calls++;
    const fault = world.faults.get(number);
    if (world.trace !== undefined)
      world.note(`    store ${number} ${name}${fault === undefined ? "" : ` <- ${fault}`}`);
    if (fault !== undefined) world.cover(`store: ${fault}`);
    if (!isSlow && fault !== "hang") return deliver(fault, effect, old);
    return new Promise<T>((resolve, reject) => {
      world.later(
        fault === "hang" ? undefined : life,
        () => {
          if (fault === "hang") {
            // The call takes effect later, whether or not a caller still waits for it.
            if (chance(random, 0.5)) swallow(effect);
            return;
          }
          try {
            resolve(deliver(fault, effect, old));
          } catch (error) {
            reject(error as Error);
          }
        },
        quiet,
      );
      if (fault === "hang") life.hung = life.disturbed = world.isOutOfTime = true;
    });
  };

  const deliver = <T>(fault: FaultKind | undefined, effect: () => T, old?: () => T): T | Promise<never> => {
    if (fault === undefined || fault === "hang") return effect();
    if (fault === "stale read") {
      if (old === undefined) return effect();
      world.misled = true;
    }
    life.disturbed = true;
    switch (fault) {
      case "stale read":
        return old!();
      case "error before":
        throw new Error("the store is not there");
      case "error after":
        effect();
        throw new Error("the store has gone");
      case "delivered twice": {
        const first = effect();
        if (chance(random, 0.5)) return effect();
        swallow(effect);
        return first;
      }
      case "crash after":
        swallow(effect);
        life.dead = true;
        return never;
      case "crash before":
        life.dead = true;
        return never;
    }
  };

  const store: Store = {
    claim: (threadId, runner) => {
      const until = world.now + runner.leaseMs;
      return call("claim", () => {
        const claim = base.claim(threadId, runner);
        life.claimed = true;
        life.heldUntil = until;
        return claim;
      });
    },
    renew: (claim, leaseMs) => {
      const until = world.now + leaseMs;
      const renew = (): void => {
        life.lapsed ||= world.now >= life.heldUntil;
        base.renew(claim, leaseMs);
        life.heldUntil = Math.max(life.heldUntil, until);
      };
      return call("renew", renew, undefined, true);
    },
    release: (claim) => call("release", () => base.release(claim), undefined, true),
    save: (claim, request) =>
      call(`save ${shown(request.header)}`, () => save(world, life, claim, request, keepsWrites)),
    loadLatest: (threadId, namespace) =>
      call(
        "loadLatest",
        () => base.loadLatest(threadId, namespace),
        () => base.list(threadId, { limit: 2, ...(namespace === undefined ? {} : { namespace }) })[1],
      ),
    loadById: (threadId, id) => call("loadById", () => base.loadById(threadId, id)),
    list: (threadId, options) => call("list", () => base.list(threadId, options)),
    deleteThread: (threadId) => call("deleteThread", () => base.deleteThread(threadId)),
    label: (threadId, id, label) => call("label", () => base.label(threadId, id, label)),
    loadByLabel: (threadId, label) => call("loadByLabel", () => base.loadByLabel(threadId, label)),
  };
  if (!keepsWrites) return store;
  return {
    ...store,
    putWrites: (claim, id, writes) =>
      call(`putWrites ${writes.map(({ taskId }) => taskId).join(" ")}`, () => {
        base.putWrites(claim, id, writes);
        noteWrites(world, world.places.get(id)!, inPlainNames(writes));
      }),
    getWrites: (threadId, id) =>
      call(
        "getWrites",
        () => base.getWrites(threadId, id),
        () => [],
      ),
    clearWrites: (claim, id, taskIds) => call("clearWrites", () => base.clearWrites(claim, id, taskIds)),
  };
}

function shown({ namespace, phase, step, status }: CheckpointHeader): string {
  return `${namespace === "" ? "" : `${namespace} `}step ${step} ${phase} ${status}`;
}

/** A step of a run. */
interface Place {
  readonly runId: string;
  readonly step: number;
}

function swallow(effect: () => unknown): void {
  try {
    effect();
  } catch {
    // The result is ignored.
  }
}

/** The step that a resume of the checkpoint continues with. */
export function resumesAt({ phase, step }: Pick<CheckpointHeader, "phase" | "step">): number {
  return phase === "interrupted" ? step : step + 1;
}

/** Prefix of the task ids of stored answers. */
export const ANSWER = "answer:";

function noteWrites(world: World, { runId, step }: Place, writes: readonly PendingWrite[]): void {
  world.moment++;
  for (const { taskId } of writes) {
    if (taskId.startsWith(ANSWER)) {
      world.answered.add(taskId.slice(ANSWER.length));
      continue;
    }
    const key = withoutDigests(`${runId}:${taskId}@${step}`);
    if (!world.durable.has(key)) world.durable.set(key, world.moment);
  }
}

/** Results of tasks at fault must run again (2.3, 4.3); in a called graph, those that are not kept. */
function forgetFaults(world: World, { step, failure, finished, ...header }: CheckpointHeader): void {
  if (failure === undefined) return;
  const runId = withoutDigests(header.runId);
  const kept = new Set(finished?.map(({ taskId }) => `${runId}:${taskId}@${step}`));
  for (const name of world.durable.keys()) {
    if (name.startsWith(`${runId}:`) && name.endsWith(`@${step}`) && !kept.has(name)) world.durable.delete(name);
  }
}

function save(world: World, life: Life, claim: Claim, request: SaveRequest, keepsWrites: boolean): void {
  const header = inPlainNames(request.header);
  const place = `${header.threadId}|${header.namespace}`;
  const head = world.heads.get(place);
  const runId = withoutDigests(header.runId);
  const isDone = header.phase === "completed" || header.phase === "after" || header.phase === "before";
  const inTime = [...(world.returned.get(`${runId}@${header.step}`) ?? [])].filter(
    (key) => life.returned.has(key) && !world.durable.has(key),
  );
  const isEdit = life.act.kind === "fork" || life.act.kind === "update" || life.act.kind === "resume from";
  const pending = isEdit && head !== undefined ? world.store.getWrites(header.threadId, head) : [];
  world.base.save(claim, request);
  world.moment++;
  const at = { runId, step: resumesAt(header) };
  world.heads.set(place, header.id);
  world.places.set(header.id, at);
  if ((head ?? null) !== request.expectedHead) world.report("5.6: a save went through that followed another head");
  if (!life.claimed) world.report("5.6: a save without a claim");
  if (isDone) {
    const steps = world.committed.get(runId) ?? [];
    world.committed.set(runId, steps);
    const isFirst = !steps.some(({ step }) => step === header.step);
    steps.push({ step: header.step, since: world.moment });
    const all = world.returned.get(`${runId}@${header.step}`)?.size ?? 0;
    if (isFirst && keepsWrites && !life.isExit && all > 1 && inTime.length > 0) {
      world.report(`5.3: the step was superseded before the results of ${inTime.join(", ")} were durable`);
    }
  }
  noteWrites(world, at, header.finished ?? []);
  for (const { id } of header.answers) world.answered.add(id);
  for (const { id } of header.pauses) {
    const isThere = header.answers.some((answer) => answer.id === id);
    if (world.answered.has(id) && !isThere && !world.misled)
      world.report(`6.2: ${id} has been answered, and waits again`);
  }
  if (header.namespace !== "") {
    world.callRuns.add(runId);
    forgetFaults(world, header);
    return;
  }
  world.runs.set(header.threadId, { root: at.runId, from: at.step });
  world.onSaved(header, life, head === undefined ? undefined : { head, writes: pending });
}
