import { printable } from "../../diagnostics/render/index.ts";
import { realpathSync } from "node:fs";
import type { StoredItem } from "../../runtime/interface/memory.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { hasExited, thisProcess, type HolderProcess } from "../../runtime/stores/contract/holder-process.ts";
import type { Json, MaybePromise } from "../../runtime/value/json.ts";
import type { RunningCommand } from "../../stdlib/shell/shell-options.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { hasRestarted, thisMachine } from "./machine.ts";
import { endCommands, type RecordedCommand } from "./process-groups.ts";

/** Where the store has the records: a part of the long-term memory that runs neither read nor write. */
const PLACE = ["ngraph", "plan-runs"];
/** A run renews its record so often, in milliseconds. */
const HEARTBEAT_MS = 10_000;
/** A run whose record is younger counts as alive, if its machine is another one. */
const FRESH_MS = 60_000;
/** Records of dead runs that nothing asks for. */
const EXPIRY_MS = 30 * 24 * 3600 * 1000;
/** Records that are read at a time. */
const PAGE = 500;
/** Characters of a command. */
const SHOWN = 200;

/**
 * What the store knows of a run that has not ended: its process, its machine, its working tree, and the commands that run. `updated` of
 * the item is the heartbeat. So a later run finds the commands of a killed run without the run's directory, and knows on another
 * machine that they may still run.
 */
interface RunRecord {
  readonly run: string;
  readonly thread: string | null;
  /** Of the graph, if that is what runs. */
  readonly plan: string;
  readonly kind: "plan" | "graph";
  /** The name of the machine, for people. */
  readonly host: string;
  /** Identifies the machine beyond a restart; empty where it is not available. */
  readonly machine: string;
  readonly process: HolderProcess;
  /** The directory of the run. */
  readonly tree: string;
  readonly commands: readonly RecordedCommand[];
}

export interface RecordedRun {
  readonly run: string;
  readonly thread: string | null;
  /** Of the graph, if that is what runs. */
  readonly plan: string;
  readonly kind: "plan" | "graph";
}

type ItemStore = Required<Pick<Store, "putItem" | "deleteItem" | "listItems">>;

export interface RunRecordOptions {
  /** Names of machines whose commands no longer run, as the user says. */
  readonly gone: readonly string[];
  readonly redact: (text: string) => string;
  readonly onNote: (text: string) => void;
}

/** The record of one run in its store, and what it finds of runs before it. */
export class RunRecords {
  readonly #store: ItemStore;
  readonly #options: RunRecordOptions;
  readonly #tree = realpathSync(process.cwd());
  readonly #commands = new Map<number, RecordedCommand>();
  #own: RecordedRun | undefined;
  #writing: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #started: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(store: ItemStore, options: RunRecordOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** `undefined` for a store that ends with this process, or that has no items. */
  static of(store: Store, isMemory: boolean, options: RunRecordOptions): RunRecords | undefined {
    const { putItem, deleteItem, listItems } = store;
    if (isMemory || putItem === undefined || deleteItem === undefined || listItems === undefined) return undefined;
    return new RunRecords(store as ItemStore, options);
  }

  /**
   * Ends the commands of dead runs of the thread and of the tree, and records the own run. The tree and the thread must be claimed.
   *
   * @param covers whether the claim of the own run includes the runs of a directory
   * @throws CommandError NG_TREE_BUSY for a run that works or may work; NG_LEFTOVER for commands that may run on another machine
   */
  async begin(own: RecordedRun, covers: (directory: string) => boolean): Promise<void> {
    const now = Date.now();
    for (const item of await this.#list(now)) {
      const record = readRecord(item);
      if (record !== undefined && record.run !== own.run) await this.#settle(record, item, own.thread, covers, now);
    }
    this.#own = own;
    await this.#save();
    this.#timer = setInterval(() => void this.#beat(), HEARTBEAT_MS);
    this.#timer.unref();
  }

  /**
   * The command may run when the result is fulfilled. Commands that start in one turn of the event loop are written at once.
   *
   * @param started of the first process of the group, see `startOf`
   */
  onStart({ group, command, key }: RunningCommand, started: string | undefined): Promise<void> {
    const shown = this.#options.redact(command);
    this.#commands.set(group, {
      group,
      started,
      key,
      command: shown.length > SHOWN ? `${shown.slice(0, SHOWN)}…` : shown,
    });
    this.#started ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#started = undefined;
      return this.#save();
    });
    return this.#started;
  }

  /** Written with the next command, or with the next heartbeat: a later run verifies that a command still runs. */
  onEnd({ group }: RunningCommand): void {
    this.#commands.delete(group);
  }

  /** Removes the record: nothing of the run is left. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    const own = this.#own;
    if (own === undefined) return;
    this.#own = undefined;
    try {
      await this.#writing;
      await this.#next;
      await this.#store.deleteItem(PLACE, own.run);
    } catch {
      // The next run finds a record of a process that has ended.
    }
  }

  async #list(now: number): Promise<readonly StoredItem[]> {
    const found: StoredItem[] = [];
    for (let page: readonly StoredItem[] = []; ;) {
      const last = page.at(-1);
      page = await this.#store.listItems(PLACE, { limit: PAGE, now, ...(last === undefined ? {} : { after: last }) });
      found.push(...page);
      if (page.length < PAGE) return found;
    }
  }

  async #settle(
    record: RunRecord,
    item: StoredItem,
    thread: string | null,
    covers: (directory: string) => boolean,
    now: number,
  ): Promise<void> {
    const { onNote, gone } = this.#options;
    const isHere = record.process.host === thisProcess().host;
    const isSameThread = thread !== null && record.thread === thread;
    if (!isSameThread && !(isHere && covers(record.tree))) return;
    if (isHere) {
      if (!hasExited(record.process)) throw busy(record);
      for (const command of await endCommands(record.commands)) onNote(`ended a command of an earlier run: ${command}`);
    } else if (!hasRestarted({ ...record, processes: record.process.host })) {
      const age = now - item.updated;
      // The clock of the other machine is ahead, so the age says nothing.
      const isAhead = age < -FRESH_MS;
      if (!isAhead && age < FRESH_MS) throw fresh(record, age);
      if (isAhead || record.commands.length > 0) {
        if (!gone.includes(record.host)) throw left(record, item.updated, isAhead);
        onNote(
          `run ${printable(record.run)} on ${printable(record.host)} ${record.commands.length === 0 ? "counts as ended" : `left commands, which count as ended: ${list(record.commands)}`}`,
        );
      }
    }
    await this.#store.deleteItem(PLACE, item.key);
  }

  async #beat(): Promise<void> {
    try {
      await this.#save();
    } catch {
      // The claim on the thread notices a store that does not answer.
    }
  }

  /** Writes one record at a time. Changes during a write are in the next one. */
  #save(): MaybePromise<void> {
    if (this.#own === undefined) return undefined;
    if (this.#writing !== undefined) {
      this.#next ??= this.#writing
        .catch(() => undefined)
        .then(() => {
          this.#next = undefined;
          return this.#save();
        });
      return this.#next;
    }
    const saved = this.#store.putItem(this.#item(this.#own));
    if (!(saved instanceof Promise)) return undefined;
    this.#writing = saved.finally(() => (this.#writing = undefined));
    return this.#writing;
  }

  #item(own: RecordedRun): StoredItem {
    const now = Date.now();
    const { host, machine } = thisMachine();
    const record: RunRecord = {
      ...own,
      host,
      machine,
      process: thisProcess(),
      tree: this.#tree,
      commands: [...this.#commands.values()],
    };
    return {
      namespace: PLACE,
      key: own.run,
      value: JSON.parse(JSON.stringify(record)) as Json,
      created: now,
      updated: now,
      expires: now + EXPIRY_MS,
      vector: null,
    };
  }
}

function busy(record: RunRecord): CommandError {
  return new CommandError(`${nameOf(record)} works in ${printable(record.tree)}: process ${record.process.pid}`, {
    code: "NG_TREE_BUSY",
    exitCode: EXIT.failed,
    help: "wait until it ends, or run in another working tree (`git worktree add`)",
  });
}

function fresh(record: RunRecord, age: number): CommandError {
  return new CommandError(
    `${nameOf(record)} worked on ${printable(record.host)} ${Math.max(0, Math.round(age / 1000))} s ago: process ${record.process.pid}`,
    {
      code: "NG_TREE_BUSY",
      exitCode: EXIT.failed,
      help: `wait until it ends; it counts as dead when it has not renewed its record for ${FRESH_MS / 1000} s`,
    },
  );
}

function left(record: RunRecord, updated: number, isAhead: boolean): CommandError {
  const { commands } = record;
  const what = commands.length === 0 ? "it may still run there" : `its commands may still run there: ${list(commands)}`;
  const clock = isAhead ? " (by a clock that is ahead of this one)" : "";
  return new CommandError(
    `${nameOf(record)} was last seen on ${printable(record.host)} at ${new Date(updated).toISOString()}${clock}, and ${what}`,
    {
      code: "NG_LEFTOVER",
      exitCode: EXIT.failed,
      help: `resume it on ${printable(record.host)}, or end them there; if they have ended, add \`--host-gone ${quoteArgument(record.host)}\``,
    },
  );
}

function nameOf({ kind, plan, thread, run }: RunRecord): string {
  return `${kind} \`${printable(plan)}\` (${thread === null ? `run ${printable(run)}` : `thread ${printable(thread)}`})`;
}

function list(commands: readonly RecordedCommand[]): string {
  return commands.map(({ command, group }) => `${printable(command)} (process group ${group})`).join(", ");
}

/** `undefined` for a record that another version has written in another form. */
function readRecord({ value }: StoredItem): RunRecord | undefined {
  const { run, thread, plan, kind, host, machine, process: holder, tree, commands } = objectOf(value);
  const { host: boot, pid, started } = objectOf(holder);
  if (typeof run !== "string" || typeof boot !== "string" || !isId(pid, 1)) return undefined;
  return {
    run,
    thread: typeof thread === "string" ? thread : null,
    plan: String(plan),
    kind: kind === "graph" ? kind : "plan",
    host: String(host),
    machine: typeof machine === "string" ? machine : "",
    process: { host: boot, pid, started: typeof started === "string" ? started : "" },
    tree: String(tree),
    commands: (Array.isArray(commands) ? (commands as readonly Json[]) : []).flatMap((each) => {
      const { group, started: since, key, command } = objectOf(each);
      // A signal to group 1 or 0 would end other processes.
      if (!isId(group, 2)) return [];
      return [
        {
          group,
          started: typeof since === "string" ? since : undefined,
          key: typeof key === "string" ? key : "",
          command: String(command),
        },
      ];
    }),
  };
}

function isId(value: Json | undefined, least: number): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= least;
}

function objectOf(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : {};
}
