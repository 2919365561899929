/** Records of killed processes besides the store: the bodies that ran, and the writes that the store confirmed. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Store } from "../../runtime/index.ts";

export type LedgerEntry = BodyEntry | SavedEntry | KeptEntry;

/** The start or the end of a body. */
export interface BodyEntry {
  readonly event: "start" | "end";
  readonly process: number;
  /** The task, by a name that is unique in the run. */
  readonly task: string;
  readonly key: string;
  /** The namespace of its graph. */
  readonly namespace: string;
  readonly step: number;
}

/** The store has confirmed a checkpoint. */
export interface SavedEntry {
  readonly event: "saved";
  readonly namespace: string;
  readonly id: string;
}

/** The store has confirmed pending writes of a checkpoint. */
export interface KeptEntry {
  readonly event: "kept";
  readonly checkpoint: string;
  readonly tasks: readonly string[];
}

/** Appends one line in one write: a killed process has written the line completely or not at all. */
export function note(ledger: string, entry: LedgerEntry): void {
  appendFileSync(ledger, `${JSON.stringify(entry)}\n`);
}

export function readLedger(ledger: string): readonly LedgerEntry[] {
  if (!existsSync(ledger)) return [];
  const lines = readFileSync(ledger, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as LedgerEntry);
}

/** A store that records what it confirms. */
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
        const putWrites: NonNullable<Store["putWrites"]> = (claim, checkpoint, writes, takenSignals) => {
          const tasks = writes.map(({ taskId }) => taskId);
          return then(target.putWrites!(claim, checkpoint, writes, takenSignals), { event: "kept", checkpoint, tasks });
        };
        return putWrites;
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
