/** What the run of a graph that calls plans does for its working tree: the tasks of these plans write the same files as `ngc run` of a plan. */
import { randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Table } from "../../runtime/table/table.ts";
import type { MaybePromise } from "../../runtime/value/json.ts";
import type { RunningCommand } from "../../stdlib/shell/shell-options.ts";
import { PRIVATE, type OpenStore } from "../threads/open-store.ts";
import { processRecorder, startOf } from "./process-groups.ts";
import { PROCESSES, RUNS_DIRECTORY } from "./run-directory.ts";
import { RunRecords, type RunRecordOptions } from "./run-records.ts";
import { claimTree, type TreeClaim } from "./tree-claim.ts";

/** The claim of the working tree for one run of a graph, and the commands that it runs. */
export class GraphClaim {
  readonly #graph: string;
  readonly #options: RunRecordOptions;
  readonly #run = randomUUID();
  readonly #runs = resolve(RUNS_DIRECTORY);
  readonly #records: RunRecords | undefined;
  readonly #recorder: ReturnType<typeof processRecorder>;
  #claim: TreeClaim | undefined;

  constructor({ name }: Table, { store, isMemory }: OpenStore, options: RunRecordOptions) {
    this.#graph = name;
    this.#options = options;
    this.#records = RunRecords.of(store, isMemory, options);
    const path = join(this.#directory, PROCESSES);
    this.#recorder = processRecorder(
      { appendProcess: (line) => appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 }) },
      options.redact,
    );
  }

  get #directory(): string {
    return join(this.#runs, this.#run);
  }

  /**
   * Claims the tree, and ends what killed runs have left in it. Nothing of the run may start before.
   *
   * @throws CommandError NG_TREE_BUSY when another run works in the tree; NG_LEFTOVER for commands that cannot be ended
   */
  async begin(): Promise<void> {
    const { gone, onNote } = this.#options;
    const own = { run: this.#run, thread: null, plan: this.#graph, kind: "graph" as const };
    this.#claim = claimTree(this.#runs, { ...own, gone });
    for (const command of await this.#claim.endDeadRuns()) onNote(`ended a command of an earlier run: ${command}`);
    await this.#records?.begin(own, this.#claim.covers);
    mkdirSync(this.#directory, { mode: PRIVATE });
  }

  /** The command may run when the result is fulfilled. */
  onStart(command: RunningCommand): MaybePromise<void> {
    const started = startOf(command.group);
    this.#recorder.onStart(command, started);
    return this.#records?.onStart(command, started);
  }

  onEnd(command: RunningCommand): void {
    this.#records?.onEnd(command);
    this.#recorder.onEnd(command);
  }

  /** Before the store is closed. */
  async end(): Promise<void> {
    await this.#records?.end();
    rmSync(this.#directory, { recursive: true, force: true });
    this.#claim?.release();
  }
}
