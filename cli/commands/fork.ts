import { printable } from "../../diagnostics/render/index.ts";
import { randomUUID } from "node:crypto";
import { CommandError } from "../process/command-error.ts";
import { addPlaceOptions, resumeFlags, resumeNote, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { findOwnCheckpoint } from "../threads/find-checkpoint.ts";
import { unrunnableBindings } from "../sources/bind-functions.ts";
import { undoneNote, undoneSince } from "../threads/checkpoint-undos.ts";
import { loadGraph } from "../sources/load-graph.ts";
import { collect, CONFIG_FLAG, CONFIG_HELP } from "../run/execution-options.ts";
import { parseConfig } from "../run/parse-config.ts";
import { parseName } from "../run/parse-values.ts";
import { threadEngine } from "../threads/thread-engine.ts";
import { latestOf, refusePlanThread, sourceOf } from "../threads/thread-source.ts";

interface ForkOptions extends ThreadsPlace {
  readonly from?: string;
  readonly as?: string;
  readonly at?: string;
  readonly file?: string;
  readonly config?: readonly string[];
}

export const forkCommand = defineCommand<ForkOptions>({
  usage: "fork <thread>",
  summary: "start a new thread from a checkpoint; nothing runs until it is resumed",
  configure: (command) => {
    command
      .option("--from <checkpoint>", "a checkpoint or label (default: the newest checkpoint)")
      .option("--as <thread>", "id of the new thread (default: generated)", parseName("--as"))
      .option("--at <node>", "resume at this node (default: the nodes that are next at the checkpoint)")
      .option(CONFIG_FLAG, CONFIG_HELP, collect)
      .option("--file <file>", "the graph's file (default: the file that the run recorded)")
      .option("--graph <name>", "the graph's name (default: the name that the run recorded)");
    addPlaceOptions(command);
  },
  examples: ["ngc fork 42 --from after-validation --as 43", "ngc fork 42 --from after-validation --as 43 --at draft"],
  run: ([thread = ""], options, output) =>
    withThreads(options, { mustExist: true }, async ({ store, flag }) => {
      const head = await latestOf(store, thread);
      if (options.as !== undefined && (await store.loadLatest(options.as)) !== undefined) {
        throw new CommandError(`thread \`${printable(options.as)}\` already exists, and a fork creates a new thread`, {
          exitCode: EXIT.failed,
          code: "NG_THREAD_BUSY",
          help: "use another id with --as, or omit --as",
        });
      }
      refusePlanThread(head, "resumes with the tasks that are not done and cannot be forked");
      const { file, graph } = sourceOf(head, options);
      const table = await loadGraph(file, graph, output);
      if (table === undefined) return EXIT.invalid;
      const config = parseConfig(options.config, table);
      const engine = await threadEngine(table, store, unrunnableBindings(table));
      const from = options.from === undefined ? head : await findOwnCheckpoint(store, options.from, thread);
      const fork = await engine.fork(thread, {
        from: from.id,
        as: options.as ?? randomUUID(),
        ...(options.at === undefined ? {} : { at: options.at }),
        ...config,
      });
      const undone = await undoneSince(store, from, head);
      output.document({
        version: 1,
        thread: fork.thread,
        checkpoint: fork.checkpointId,
        ...(undone.length === 0 ? {} : { undone }),
      });
      output.result(`forked to thread ${printable(fork.thread)}, checkpoint ${fork.checkpointId}`);
      if (undone.length > 0) output.note(`warning: ${undoneNote(undone)}`);
      const otherwise = "with --at, a fork continues at a node";
      output.note(await resumeNote(engine, fork.thread, resumeFlags(options, flag, file), otherwise));
      return EXIT.ok;
    }),
});
