/** After any sequence of operations a store returns what the simple model returns. */
import fc from "fast-check";
import { expect } from "vitest";
import type { ChannelChange, CheckpointHeader } from "../../runtime/interface/checkpoint.ts";
import type { Json, MaybePromise } from "../../runtime/value/json.ts";
import type { Claim, Store } from "../../runtime/interface/store.ts";
import { sampleHeader } from "../../runtime/stores/conformance/sample-run.ts";
import { ModelStore } from "./model-store.ts";

/** An empty store with the given number of connections. */
export interface StoresUnderTest {
  /** Closes the connections and opens them again on the same data. */
  reopen(): MaybePromise<readonly Store[]>;
  dispose(): MaybePromise<void>;
}

export async function expectToAnswerAsModel(
  makeStores: () => MaybePromise<StoresUnderTest>,
  runs: number,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 120, size: "max" }), async (operations) => {
      const { reopen, dispose } = await makeStores();
      try {
        const stores = await reopen();
        const model = new ModelStore();
        const expected = new Actor(stores.map(() => model));
        const actual = new Actor(stores, reopen);
        // Threads are mostly claimed: a sequence without a claim tests little.
        const start = { ...operations[0]!, kind: "claim", thread: "one", expired: false } as const;
        for (const [index, operation] of [start, ...operations].entries()) {
          const outcome = plain(await actual.outcome(operation, index));
          const wanted = plain(await expected.outcome(operation, index));
          expect(outcome, `operation ${index}: ${operation.kind}`).toEqual(wanted);
        }
        expect(plain(await actual.everything())).toEqual(plain(await expected.everything()));
      } finally {
        await dispose();
      }
    }),
    { numRuns: runs, seed: 20_240_601 },
  );
}

const THREADS = ["one", "two"];
const NAMESPACES = ["", "sub"];
const LABELS = ["red", "blue"];

const json = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.string({ maxLength: 5 }),
  fc.array(fc.integer(), { maxLength: 3 }),
);
/** An index into the existing checkpoints, counted from the newest. */
const pick = fc.nat({ max: 12 });

/** The operations with their weights; each reads the fields that it needs. */
const KINDS = {
  save: 16,
  putWrites: 3,
  claim: 2,
  renew: 1,
  release: 1,
  clearWrites: 1,
  label: 1,
  list: 1,
  prune: 1,
  deleteThread: 0.3,
  reopen: 0.3,
};
const operation = fc.record({
  kind: fc.oneof(...weighted(KINDS)),
  /** Index of the connection that executes it. */
  connection: fc.nat({ max: 7 }),
  thread: fc.constantFrom(...THREADS),
  namespace: fc.constantFrom("", "", "", "sub"),
  owner: fc.constantFrom("a", "b"),
  expired: fc.boolean(),
  claim: fc.nat({ max: 2 }),
  checkpoint: pick,
  /**
   * A save continues from the head, forks from another checkpoint (also of another thread), starts a new chain, or is
   * late.
   */
  from: fc.oneof(...weighted({ head: 8, fork: 1.5, elsewhere: 0.5, nothing: 1, "stale head": 1 })),
  log: fc.option(fc.array(json, { maxLength: 2 })),
  /** Replaces items of the list in place of an append. */
  cut: fc.option(fc.tuple(fc.nat({ max: 5 }), fc.nat({ max: 3 }))),
  value: fc.option(fc.oneof(fc.record({ set: json }), fc.constant("reset" as const))),
  label: fc.constantFrom(...LABELS),
  labels: weightedBoolean(1, 8),
  clears: fc.boolean(),
  releases: weightedBoolean(1, 8),
  tasks: fc.array(fc.constantFrom("t1", "t2", "t3"), { maxLength: 3 }),
  result: json,
  keepLast: fc.integer({ min: 1, max: 4 }),
  keepLabelled: fc.option(fc.boolean()),
  /** The time in a header, or the limit of a retention policy. It does not need to increase. */
  time: fc.nat({ max: 5 }),
  ages: weightedBoolean(1, 2),
  /** A checkpoint of a called graph that a saved checkpoint continues from. */
  child: fc.option(pick, { freq: 2 }),
  pages: fc.boolean(),
  limit: fc.nat({ max: 5 }),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Executes the operations on a store. It reads what it needs (heads, claims) from the same store. */
class Actor {
  #stores: readonly Store[];
  readonly #reopen: (() => MaybePromise<readonly Store[]>) | undefined;
  readonly #claims: Claim[] = [];
  readonly #ids: string[] = [];

  constructor(stores: readonly Store[], reopen?: () => MaybePromise<readonly Store[]>) {
    this.#stores = stores;
    this.#reopen = reopen;
  }

  /** The outcome: what was returned, or the code of the error. */
  async outcome(operation: Operation, index: number): Promise<unknown> {
    try {
      return (await this.#act(operation, index)) ?? "done";
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (typeof code !== "string") throw error;
      return code;
    }
  }

  async everything(): Promise<unknown> {
    const answers: unknown[] = [];
    for (const store of this.#stores) {
      const threads = await store.threads!();
      // The model numbers positions and claims differently.
      answers.push(threads.map((info) => ({ ...info, position: 0, held: false })));
      for (const thread of THREADS) {
        for (const namespace of NAMESPACES) {
          answers.push(await store.loadLatest(thread, namespace), await store.list(thread, { namespace }));
        }
        for (const label of LABELS) answers.push(await store.loadByLabel!(thread, label));
        for (const id of this.#ids) answers.push(await store.loadById(thread, id), await store.getWrites!(thread, id));
      }
    }
    return answers;
  }

  async #act(operation: Operation, index: number): Promise<unknown> {
    const store = this.#store(operation);
    const { thread, namespace, label, tasks, limit } = operation;
    const claim = this.#pick(this.#claims, operation.claim) ?? { threadId: "one", owner: "a", epoch: 0 };
    const checkpoint = this.#pick(this.#ids, operation.checkpoint) ?? "none";
    const leaseMs = operation.expired ? 0 : 1e9;
    switch (operation.kind) {
      case "claim": {
        const made = await store.claim(thread, { owner: operation.owner, leaseMs });
        // Epochs increase. Numbers may be skipped, as sequences of a database do.
        const isNewest = this.#claims.every(({ epoch }) => epoch < made.epoch);
        this.#claims.push(made);
        return isNewest;
      }
      case "renew":
        return store.renew(claim, leaseMs);
      case "release":
        return store.release(claim);
      case "save":
        return this.#save(operation, claim, checkpoint, `c${index}`);
      case "putWrites":
        return store.putWrites!(
          claim,
          checkpoint,
          tasks.map((taskId) => ({ taskId, node: "n", result: operation.result })),
        );
      case "clearWrites":
        return store.clearWrites!(claim, checkpoint, operation.clears ? undefined : tasks);
      case "label":
        return store.label!(thread, checkpoint, label);
      case "prune":
        return store.prune!(thread, {
          keepLast: operation.keepLast,
          ...(operation.keepLabelled === null ? {} : { keepLabelled: operation.keepLabelled }),
          ...(operation.ages ? { olderThan: operation.time } : {}),
        });
      case "list":
        return store.list(thread, { namespace, limit, ...(operation.pages ? { before: checkpoint } : {}) });
      case "deleteThread":
        return store.deleteThread(thread);
      default:
        if (this.#reopen !== undefined) this.#stores = await this.#reopen();
        return undefined;
    }
  }

  async #save(operation: Operation, claim: Claim, checkpoint: string, id: string): Promise<unknown> {
    const store = this.#store(operation);
    const { namespace, log, value, cut } = operation;
    const head = await store.loadLatest(claim.threadId, namespace);
    const other = await store.loadById(claim.threadId, checkpoint);
    const elsewhere = await store.loadById(
      THREADS.find((thread) => thread !== claim.threadId)!,
      checkpoint,
    );
    const from = { head, "stale head": head, fork: other, elsewhere, nothing: undefined }[operation.from];
    const values: Record<string, Json> = { ...from?.values };
    const versions: Record<string, number> = { ...from?.versions };
    const changes: ChannelChange[] = [];
    if (log !== null) {
      const version = (versions["log"] = (versions["log"] ?? 0) + 1);
      const list = (values["log"] ?? []) as Json[];
      const at = cut === null ? list.length : Math.min(cut[0], list.length);
      const remove = cut === null ? 0 : Math.min(cut[1], list.length - at);
      const next = [...list.slice(0, at), ...log, ...list.slice(at + remove)];
      values["log"] = next;
      if (cut === null) changes.push({ channel: "log", version, kind: "append", items: log });
      else if (store.acceptsSplices === true)
        changes.push({ channel: "log", version, kind: "splice", edits: [{ at, remove, items: log }] });
      else changes.push({ channel: "log", version, kind: "set", value: next });
    }
    if (value !== null) {
      const version = (versions["value"] = (versions["value"] ?? 0) + 1);
      if (value === "reset") delete values["value"];
      else values["value"] = value.set;
      const change = value === "reset" ? ({ kind: "reset" } as const) : ({ kind: "set", value: value.set } as const);
      changes.push({ channel: "value", version, ...change });
    }
    const child = operation.child === null ? undefined : this.#pick(this.#ids, operation.child);
    const header = {
      ...{ ...sampleHeader(claim.threadId, id, from?.id ?? null), namespace, timestamp: operation.time },
      ...partsOfRun(operation),
      ...(child === undefined ? {} : { children: { sub: child, gone: "not there" } }),
    };
    await store.save(claim, {
      header: operation.labels ? { ...header, label: operation.label } : header,
      changes,
      snapshot: () => ({ values, versions }),
      expectedHead: operation.from === "stale head" ? "stale" : (head?.id ?? null),
      ...(operation.clears ? { clearWritesOf: checkpoint } : {}),
      releaseClaim: operation.releases,
    });
    this.#ids.push(id);
    return id;
  }

  #store({ connection }: Operation): Store {
    return this.#stores[connection % this.#stores.length]!;
  }

  #pick<T>(from: readonly T[], index: number): T | undefined {
    return from.length === 0 ? undefined : from.at(-1 - (index % from.length));
  }
}

/** The fields of a header that a run fills. The headers of a run share its empty lists and records, and its metadata. */
function partsOfRun({ owner, tasks, limit, pages }: Operation): Partial<CheckpointHeader> {
  return {
    runId: owner,
    step: limit,
    currentNodes: tasks,
    currentNode: tasks.at(-1) ?? null,
    nextNodes: tasks,
    graph: "g",
    ...{ pendingSends: NO_ITEMS, pauses: NO_ITEMS, answers: NO_ITEMS, barrierState: NO_FIELDS, errors: NO_FIELDS },
    metadata: pages ? METADATA : NO_FIELDS,
  };
}

const NO_ITEMS: readonly never[] = Object.freeze([]);
const NO_FIELDS = {};
const METADATA = { by: "a run" };

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? "null") as unknown;

/** Choices with their weights, in tenths. */
function weighted<T extends string>(weights: Readonly<Record<T, number>>) {
  const choices = Object.entries<number>(weights) as [T, number][];
  return choices.map(([choice, weight]) => ({ arbitrary: fc.constant(choice), weight: Math.round(weight * 10) }));
}

function weightedBoolean(yes: number, no: number) {
  return fc.oneof({ arbitrary: fc.constant(true), weight: yes }, { arbitrary: fc.constant(false), weight: no });
}
