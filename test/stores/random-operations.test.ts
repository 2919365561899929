/** Any sequence of operations: the stores answer as the plain model does. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChannelChange, Checkpoint } from "../../runtime/checkpoint.ts";
import type { Json } from "../../runtime/json.ts";
import type { Claim, Store } from "../../runtime/store.ts";
import { sampleHeader } from "../../runtime/stores/conformance/sample-run.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { ModelStore } from "./model-store.ts";

const THREADS = ["one", "two"];
const NAMESPACES = ["", "sub"];
const LABELS = ["red", "blue"];

const json = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.string({ maxLength: 5 }),
  fc.array(fc.integer(), { maxLength: 3 }),
);
/** Picks one of what there is, counted from the newest. */
const pick = fc.nat({ max: 12 });

/** What may be done, and how often; each kind reads the fields that it needs. */
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
  /** Which of the store's connections does it. */
  connection: fc.nat({ max: 7 }),
  thread: fc.constantFrom(...THREADS),
  namespace: fc.constantFrom("", "", "", "sub"),
  owner: fc.constantFrom("a", "b"),
  expired: fc.boolean(),
  claim: fc.nat({ max: 2 }),
  checkpoint: pick,
  /** A save goes on from the head, forks from another checkpoint, starts anew, or is late. */
  from: fc.oneof(...weighted({ head: 8, fork: 1, nothing: 1, "stale head": 1 })),
  log: fc.option(fc.array(json, { maxLength: 2 })),
  value: fc.option(fc.oneof(fc.record({ set: json }), fc.constant("reset" as const))),
  label: fc.constantFrom(...LABELS),
  labels: weightedBoolean(1, 8),
  clears: fc.boolean(),
  releases: weightedBoolean(1, 8),
  tasks: fc.array(fc.constantFrom("t1", "t2", "t3"), { maxLength: 3 }),
  result: json,
  keepLast: fc.integer({ min: 1, max: 4 }),
  pages: fc.boolean(),
  limit: fc.nat({ max: 5 }),
});
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** Does to a store what the operations say. What it needs to know of the store, it asks the store. */
class Actor {
  #stores: readonly Store[];
  readonly #reopen: () => readonly Store[];
  readonly #claims: Claim[] = [];
  readonly #ids: string[] = [];

  constructor(reopen: () => readonly Store[]) {
    this.#stores = reopen();
    this.#reopen = reopen;
  }

  /** The outcome: what was returned, or the code of the error. */
  outcome(operation: Operation, index: number): unknown {
    try {
      return this.#act(operation, index) ?? "done";
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (typeof code !== "string") throw error;
      return code;
    }
  }

  everything(): unknown {
    return this.#stores.map((store) => [
      store.threads!(),
      ...THREADS.flatMap((thread) => [
        ...NAMESPACES.flatMap((namespace) => [store.loadLatest(thread, namespace), store.list(thread, { namespace })]),
        ...LABELS.map((label) => store.loadByLabel!(thread, label)),
        ...this.#ids.flatMap((id) => [store.loadById(thread, id), store.getWrites!(thread, id)]),
      ]),
    ]);
  }

  #act(operation: Operation, index: number): unknown {
    const store = this.#store(operation);
    const { thread, namespace, label, tasks, limit } = operation;
    const claim = this.#pick(this.#claims, operation.claim) ?? { threadId: "one", owner: "a", epoch: 0 };
    const checkpoint = this.#pick(this.#ids, operation.checkpoint) ?? "none";
    const leaseMs = operation.expired ? 0 : 1e9;
    switch (operation.kind) {
      case "claim": {
        const made = store.claim(thread, { owner: operation.owner, leaseMs }) as Claim;
        this.#claims.push(made);
        return made.epoch;
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
        return store.prune!(thread, operation);
      case "list":
        return store.list(thread, { namespace, limit, ...(operation.pages ? { before: checkpoint } : {}) });
      case "deleteThread":
        return store.deleteThread(thread);
      default:
        this.#stores = this.#reopen();
        return undefined;
    }
  }

  #save(operation: Operation, claim: Claim, checkpoint: string, id: string): unknown {
    const store = this.#store(operation);
    const { namespace, log, value } = operation;
    const head = store.loadLatest(claim.threadId, namespace) as Checkpoint | undefined;
    const other = store.loadById(claim.threadId, checkpoint) as Checkpoint | undefined;
    const from = { head, "stale head": head, fork: other, nothing: undefined }[operation.from];
    const values: Record<string, Json> = { ...from?.values };
    const versions: Record<string, number> = { ...from?.versions };
    const changes: ChannelChange[] = [];
    if (log !== null) {
      const version = (versions["log"] = (versions["log"] ?? 0) + 1);
      values["log"] = [...((values["log"] ?? []) as Json[]), ...log];
      changes.push({ channel: "log", version, kind: "append", items: log });
    }
    if (value !== null) {
      const version = (versions["value"] = (versions["value"] ?? 0) + 1);
      if (value === "reset") delete values["value"];
      else values["value"] = value.set;
      const change = value === "reset" ? ({ kind: "reset" } as const) : ({ kind: "set", value: value.set } as const);
      changes.push({ channel: "value", version, ...change });
    }
    const header = { ...sampleHeader(claim.threadId, id, from?.id ?? null), namespace };
    store.save(claim, {
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

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value) ?? "null") as unknown;

describe.each([
  { name: "MemoryStore", runs: 200, connections: 1 },
  { name: "SqliteStore", runs: 30, connections: 1 },
  { name: "SqliteStore through three connections", runs: 30, connections: 3 },
])("$name and any sequence of operations", ({ name, runs, connections }) => {
  it("answers as the model does", () => {
    fc.assert(
      fc.property(fc.array(operation, { minLength: 20, maxLength: 120, size: "max" }), (operations) => {
        const model = new ModelStore();
        const expected = new Actor(() => Array.from({ length: connections }, () => model));
        const { reopen, dispose } = name === "MemoryStore" ? inMemory() : inFile(connections);
        try {
          const actual = new Actor(reopen);
          // Threads are mostly held: a sequence that never gets a claim says little.
          const start = { ...operations[0]!, kind: "claim", thread: "one", expired: false } as const;
          for (const [index, operation] of [start, ...operations].entries()) {
            const outcome = plain(actual.outcome(operation, index));
            expect(outcome, `operation ${index}: ${operation.kind}`).toEqual(plain(expected.outcome(operation, index)));
          }
          expect(plain(actual.everything())).toEqual(plain(expected.everything()));
        } finally {
          dispose();
        }
      }),
      { numRuns: runs, seed: 20_240_601 },
    );
  });
});

function inMemory() {
  const stores = [new MemoryStore()];
  return { reopen: () => stores, dispose: () => {} };
}

function inFile(connections: number) {
  const directory = mkdtempSync(join(tmpdir(), "ngraph-random-"));
  const path = join(directory, "runs.db");
  let stores: readonly SqliteStore[] = [];
  const close = () => stores.forEach((store) => store.close());
  return {
    reopen: () => {
      close();
      return (stores = Array.from({ length: connections }, () => new SqliteStore(path)));
    },
    dispose: () => {
      close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Choices with their weights, in tenths. */
function weighted<T extends string>(weights: Readonly<Record<T, number>>) {
  const choices = Object.entries<number>(weights) as [T, number][];
  return choices.map(([choice, weight]) => ({ arbitrary: fc.constant(choice), weight: Math.round(weight * 10) }));
}

function weightedBoolean(yes: number, no: number) {
  return fc.oneof({ arbitrary: fc.constant(true), weight: yes }, { arbitrary: fc.constant(false), weight: no });
}
