/**
 * A durable store as another author would write it with the helpers of `ngraph/stores/contract`: each change is a line of a
 * file with a checksum, and opening the file replays the lines into a `MemoryStore`.
 */
import { appendFileSync, existsSync, readFileSync, truncateSync } from "node:fs";
import type { CheckpointId, PendingWrite } from "../../runtime/interface/checkpoint.ts";
import type { Claim, ListOptions, PrunePolicy, Runner, SaveRequest, Store } from "../../runtime/interface/store.ts";
import { jsonText } from "../../runtime/stores/contract/json-text.ts";
import { addChecksum, type Row, type Table, verifyRow } from "../../runtime/stores/contract/rows.ts";
import { corruptRecord } from "../../runtime/stores/contract/store-error.ts";
import { MemoryStore } from "../../runtime/stores/memory.ts";

interface Line extends Row {
  readonly number: number;
  /** JSON: `[time, method, ...arguments]`. */
  readonly call: string;
}

const LINES: Table<Line> = {
  name: "lines",
  version: 1,
  values: ({ number }) => [number],
  bulk: ({ call }) => call,
  describe: ({ number }) => `line ${number}`,
};

/** Methods that change the content. */
const CHANGES = [
  "claim",
  "renew",
  "release",
  "save",
  "deleteThread",
  "putWrites",
  "clearWrites",
  "label",
  "prune",
] as const;
type Change = (typeof CHANGES)[number];

/** What opening does with a last line that has no end; the first is correct, the others are mistakes for tests. */
export type IncompleteLine = "remove" | "parse" | "keep";

export class JsonLinesStore implements Store {
  readonly #path: string;
  readonly #incomplete: IncompleteLine;
  #now = 0;
  readonly #memory = new MemoryStore({ now: () => this.#now });
  #lines = 0;

  /** @throws StoreError NG_CORRUPT_RECORD when a line is damaged */
  constructor(path: string, incomplete: IncompleteLine = "remove") {
    this.#path = path;
    this.#incomplete = incomplete;
    for (const line of this.#read()) {
      if (line.number !== ++this.#lines) throw corruptRecord(`line ${this.#lines}`, "it is missing");
      const [now, method, ...given] = JSON.parse(line.call) as [number, Change, ...unknown[]];
      this.#now = now;
      this.#apply(method, given);
    }
  }

  claim(threadId: string, runner: Runner): Claim {
    return this.#change("claim", [threadId, runner]) as Claim;
  }

  renew(claim: Claim, leaseMs: number): void {
    this.#change("renew", [claim, leaseMs]);
  }

  release(claim: Claim): void {
    this.#change("release", [claim]);
  }

  save(claim: Claim, { snapshot, ...request }: SaveRequest): void {
    // A snapshot is written where a chain starts: O(what changed) elsewhere.
    const { expectedHead, header } = request;
    const all = expectedHead !== null && expectedHead === header.parentId ? null : snapshot();
    this.#change("save", [claim, request, all]);
  }

  loadLatest(threadId: string, namespace?: string) {
    return this.#memory.loadLatest(threadId, namespace);
  }

  loadById(threadId: string, id: CheckpointId) {
    return this.#memory.loadById(threadId, id);
  }

  list(threadId: string, options?: ListOptions) {
    return this.#memory.list(threadId, options);
  }

  deleteThread(threadId: string): void {
    this.#change("deleteThread", [threadId]);
  }

  putWrites(claim: Claim, id: CheckpointId, writes: readonly PendingWrite[]): void {
    this.#change("putWrites", [claim, id, writes]);
  }

  getWrites(threadId: string, id: CheckpointId): readonly PendingWrite[] {
    return this.#memory.getWrites(threadId, id);
  }

  clearWrites(claim: Claim, id: CheckpointId, taskIds?: readonly string[]): void {
    this.#change("clearWrites", taskIds === undefined ? [claim, id] : [claim, id, taskIds]);
  }

  label(threadId: string, id: CheckpointId, label: string): void {
    this.#change("label", [threadId, id, label]);
  }

  loadByLabel(threadId: string, label: string) {
    return this.#memory.loadByLabel(threadId, label);
  }

  threads(options?: { readonly limit?: number }) {
    return this.#memory.threads(options);
  }

  prune(threadId: string, policy: PrunePolicy): number {
    return this.#change("prune", [threadId, policy]) as number;
  }

  close(): void {
    this.#memory.close();
  }

  /** Applies a change in memory, which checks it, then appends its line. */
  #change(method: Change, given: readonly unknown[]): unknown {
    this.#now = Date.now();
    const result = this.#apply(method, given);
    const call = jsonText([this.#now, method, ...given], () => `the arguments of ${method}`);
    const { number, v, sum } = addChecksum(LINES, { number: ++this.#lines, call });
    appendFileSync(this.#path, `${number} ${v} ${sum} ${call}\n`);
    return result;
  }

  #apply(method: Change, given: readonly unknown[]): unknown {
    if (method !== "save") return Reflect.apply(this.#memory[method], this.#memory, given);
    const [claim, request, all] = given as [Claim, SaveRequest, ReturnType<SaveRequest["snapshot"]> | null];
    return this.#memory.save(claim, { ...request, snapshot: () => all! });
  }

  #read(): Line[] {
    if (!existsSync(this.#path)) return [];
    const bytes = readFileSync(this.#path);
    const end = bytes.lastIndexOf("\n") + 1;
    // The process died within its last append. The call had not returned, so its line is removed.
    if (this.#incomplete === "remove" && end < bytes.length) truncateSync(this.#path, end);
    const text = bytes.subarray(0, this.#incomplete === "parse" ? bytes.length : end).toString();
    const lines = text.split("\n").filter((line) => line !== "");
    if (this.#incomplete === "parse") return lines.map(splitLine);
    return lines.map((line) => verifyRow(LINES, splitLine(line)));
  }
}

function splitLine(line: string): Line {
  const [number, v, sum] = line.split(" ", 3).map(Number);
  return { number: number!, v: v!, sum: sum!, call: line.split(" ").slice(3).join(" ") };
}
