import { printable } from "../../diagnostics/render/index.ts";
import { resolve } from "node:path";
import { NgraphError } from "../../runtime/interface/errors.ts";
import type { Engine, MigrateOptions } from "../../runtime/interface/engine-options.ts";
import type { Store } from "../../runtime/interface/store.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { Output } from "../output/output.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { unrunnableBindings } from "../sources/bind-functions.ts";
import { loadGraph } from "../sources/load-graph.ts";
import { defineCommand } from "../start/define-command.ts";
import { addListedPlaceOptions, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { everyThread } from "../threads/every-thread.ts";
import { threadEngine } from "../threads/thread-engine.ts";
import { latestOf, refusePlanThread, sourceOf } from "../threads/thread-source.ts";

interface MigrateFlags extends ThreadsPlace {
  readonly rename?: Readonly<Record<string, string>>;
  readonly drop?: readonly string[];
  readonly keep?: readonly string[];
  readonly map?: Readonly<Record<string, string>>;
  readonly set?: Readonly<Record<string, Json>>;
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly file?: string;
}

/** The result of the migration for each thread. */
interface Report {
  readonly migrated: { readonly thread: string; readonly checkpoint: string }[];
  /** Threads that this version of the graph has written. */
  readonly unchanged: string[];
  readonly failed: { readonly thread: string; readonly code: string; readonly message: string }[];
  /** The errors of the threads among them whose options are wrong. */
  readonly refused: NgraphError[];
}

export const migrateCommand = defineCommand<MigrateFlags>({
  usage: "migrate [thread...]",
  summary: "move threads to an edited version of their graph; nothing runs until they are resumed",
  configure: (command) => {
    command
      .option("--rename <old=new>", "rename a node, channel or graph; may be repeated", collectRename)
      .option("--drop <channel>", "remove the value of a channel; may be repeated", collect)
      .option("--keep <channel>", "keep the value of a channel whose reducer changed; may be repeated", collect)
      .option(
        "--map <channel=expression>",
        "convert the value of a channel with an expression over `value`; may be repeated",
        collectExpression,
      )
      .option("--set <channel=json>", "set the value of a channel; may be repeated", collectValue)
      .option("--all", "migrate every thread of the graph in the store; needs --file")
      .option("--dry-run", "report what would happen, and change nothing")
      .option("--file <file>", "the graph's file (default: the file that the run recorded)")
      .option("--graph <name>", "the graph's name (default: the name that the run recorded)");
    addListedPlaceOptions(command);
  },
  examples: [
    "ngc migrate 42 --rename draft=write --drop score",
    "ngc migrate 42 --map 'cents=value * 100' --rename review.draft=write",
    "ngc migrate --all --file support.ngraph --rename draft=write --dry-run",
  ],
  run: (threads, flags, output) =>
    withThreads(flags, { mustExist: true }, ({ store }) => migrateThreads(threads, store, flags, output)),
});

async function migrateThreads(
  threads: readonly string[],
  store: Store,
  flags: MigrateFlags,
  output: Output,
): Promise<ExitCode> {
  if (threads.length > 0 === (flags.all === true)) {
    throw new CommandError("name the threads to migrate, or migrate every thread of a graph with --all");
  }
  if (flags.all === true && flags.file === undefined)
    throw new CommandError("--all needs the graph's file: --file FILE");
  const report: Report = { migrated: [], unchanged: [], failed: [], refused: [] };
  const map = await readMaps(flags);
  const engines = new Map<string, Engine | undefined>();
  const engineOf = async (file: string, graph: string | undefined): Promise<Engine | undefined> => {
    const key = JSON.stringify([file, graph]);
    if (!engines.has(key)) {
      const table = await loadGraph(file, graph, output);
      engines.set(key, table && (await threadEngine(table, store, unrunnableBindings(table))));
    }
    return engines.get(key);
  };
  if (flags.all === true) {
    const engine = await engineOf(flags.file!, flags.graph);
    if (engine === undefined) return EXIT.invalid;
    for await (const thread of ownThreads(store, engine, flags))
      await migrateThread(thread, store, engine, flags, map, report);
  } else {
    for (const thread of threads) await latestOf(store, thread);
    for (const thread of new Set(threads)) {
      const head = await latestOf(store, thread);
      refusePlanThread(head, "has no graph to migrate to");
      const { file, graph } = sourceOf(head, flags);
      const engine = await engineOf(file, newName(graph, flags));
      if (engine === undefined) return EXIT.invalid;
      await migrateThread(thread, store, engine, flags, map, report);
    }
  }
  refuseWrongOptions(report);
  printReport(report, flags, output);
  return report.failed.length === 0 ? EXIT.ok : EXIT.failed;
}

async function migrateThread(
  thread: string,
  store: Store,
  engine: Engine,
  { rename = {}, drop = [], set = {}, file, dryRun, all }: MigrateFlags,
  map: NonNullable<MigrateOptions["map"]>,
  report: Report,
): Promise<void> {
  const { metadata, digest, id } = await latestOf(store, thread);
  const { name } = engine.table;
  const options: MigrateOptions = {
    rename,
    drop,
    map,
    set,
    ...(dryRun === true ? { dryRun } : {}),
    metadata: {
      ...(typeof metadata["graph"] === "string" ? { graph: name } : {}),
      ...(file === undefined ? {} : { file: resolve(file) }),
    },
  };
  try {
    const { checkpointId } = await engine.migrate(thread, options);
    const isCurrent = digest === engine.table.digest && checkpointId === id;
    if (isCurrent) report.unchanged.push(thread);
    else report.migrated.push({ thread, checkpoint: checkpointId });
  } catch (error) {
    if (!(error instanceof NgraphError)) throw error;
    // An expression may fail for the value of one thread, and other threads of a graph may have the names of the options.
    if (error.code === "NG_BAD_INPUT" && error.cause === undefined) {
      if (all !== true) throw error;
      report.refused.push(error);
    }
    report.failed.push({ thread, code: error.code, message: error.message });
  }
}

/** Options that are wrong for every thread are wrong. */
function refuseWrongOptions({ migrated, unchanged, failed, refused: [first, ...others] }: Report): void {
  const isForAll = failed.length === others.length + 1 && migrated.length + unchanged.length === 0;
  if (first !== undefined && isForAll) throw first;
}

/** The functions of `--map` and `--keep`. */
async function readMaps({ keep = [], map = {} }: MigrateFlags): Promise<NonNullable<MigrateOptions["map"]>> {
  const { valueMapper } = await import("../threads/map-values.ts");
  const kept = keep.map((channel) => [channel, (value: Json) => value] as const);
  const mapped = Object.entries(map).map(
    ([channel, text]) => [channel, valueMapper(`--map ${channel}`, text)] as const,
  );
  return Object.fromEntries([...kept, ...mapped]);
}

/** All threads of the graph, by its present name and by its former one. */
async function* ownThreads(store: Store, { table }: Engine, flags: MigrateFlags): AsyncGenerator<string> {
  for await (const { thread, graph, metadata } of everyThread(store)) {
    const name = graph ?? metadata["graph"];
    if (metadata["plan"] !== undefined || typeof name !== "string") continue;
    if (newName(name, flags) === table.name || table.was?.includes(name) === true) yield thread;
  }
}

function newName(graph: string | undefined, { rename = {} }: MigrateFlags): string | undefined {
  return graph !== undefined && Object.hasOwn(rename, graph) ? rename[graph] : graph;
}

function printReport(
  { migrated, unchanged, failed }: Report,
  { dryRun, set = {} }: MigrateFlags,
  output: Output,
): void {
  output.document({ version: 1, dryRun: dryRun === true, migrated, unchanged, failed });
  for (const { thread, checkpoint } of migrated) {
    output.result(
      dryRun === true
        ? `thread ${printable(thread)}: can be migrated`
        : `thread ${printable(thread)}: migrated, checkpoint ${checkpoint}`,
    );
  }
  for (const thread of unchanged) output.result(`thread ${printable(thread)}: fits already`);
  if (unchanged.length > 0 && Object.keys(set).length > 0) {
    output.note("--set changes only threads that are migrated; edit the values of other threads with `ngc update`");
  }
  for (const { code, message } of failed) output.problem(`error: ${message} [${code}]`);
  if (migrated.length + unchanged.length + failed.length === 0) output.note("no threads");
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function collectRename(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, old, name] = /^(\w+(?:\.\w+)?)=(\w+)$/.exec(text) ?? [];
  if (old === undefined || name === undefined) throw new CommandError(`--rename takes OLD=NEW, not \`${text}\``);
  return { ...before, [old]: name };
}

function collectValue(text: string, before: Readonly<Record<string, Json>> = {}): Readonly<Record<string, Json>> {
  const [, channel, json] = ASSIGNMENT.exec(text) ?? [];
  if (channel === undefined || json === undefined) throw new CommandError(`--set takes CHANNEL=JSON, not \`${text}\``);
  try {
    return { ...before, [channel]: JSON.parse(json) as Json };
  } catch {
    throw new CommandError(`the value of --set ${channel} is not valid JSON: ${json}`, {
      help: `write a text in quotes: --set '${channel}="text"'`,
    });
  }
}

function collectExpression(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, channel, expression] = ASSIGNMENT.exec(text) ?? [];
  if (channel === undefined || expression === undefined)
    throw new CommandError(`--map takes CHANNEL=EXPRESSION, not \`${text}\``);
  return { ...before, [channel]: expression };
}

/** A channel, or a channel of a called graph (`review.score`), and what is assigned to it. */
const ASSIGNMENT = /^(\w+(?:\.\w+)?)=(.*)$/s;
