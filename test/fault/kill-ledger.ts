/** What processes that are killed leave behind beside the store: bodies that ran, and what the store said it had taken. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Store } from "../../runtime/index.ts";

export type LedgerEntry = BodyEntry | SavedEntry | KeptEntry;

/** A body began, or ended. */
export interface BodyEntry {
  readonly event: "start" | "end";
  readonly process: number;
  /** The task, by a name that no other task of the run has. */
  readonly task: string;
  readonly key: string;
  /** The namespace of its graph. */
  readonly namespace: string;
  readonly step: number;
}

/** A checkpoint is durable, says the store. */
export interface SavedEntry {
  readonly event: "saved";
  readonly namespace: string;
  readonly id: string;
}

/** Results are durable as pending writes of a checkpoint, says the store. */
export interface KeptEntry {
  readonly event: "kept";
  readonly checkpoint: string;
  readonly tasks: readonly string[];
}

/** One write a line, at the end of the file: a killed process has written a line or it has not. */
export function note(ledger: string, entry: LedgerEntry): void {
  appendFileSync(ledger, `${JSON.stringify(entry)}\n`);
}

export function readLedger(ledger: string): readonly LedgerEntry[] {
  if (!existsSync(ledger)) return [];
  const lines = readFileSync(ledger, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LedgerEntry);
}

/** The store, noting what it promises. */
export function noting(store: Store, ledger: string): Store {
  const then = (result: unknown, entry: LedgerEntry): void | Promise<void> => {
    if (!(result instanceof Promise)) return note(ledger, entry);
    return result.then(() => note(ledger, entry));
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "save") {
        const save: Store["save"] = (claim, request) => {
          const { id, namespace } = request.header;
          return then(target.save(claim, request), { event: "saved", namespace, id });
        };
        return save;
      }
      if (name === "putWrites") {
        const putWrites: NonNullable<Store["putWrites"]> = (claim, checkpoint, writes) => {
          const tasks = writes.map(({ taskId }) => taskId);
          return then(target.putWrites!(claim, checkpoint, writes), { event: "kept", checkpoint, tasks });
        };
        return putWrites;
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
