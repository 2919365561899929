import { defineCommand } from "../define-command.ts";
import { EXIT } from "../exit-codes.ts";
import { unrunnableBindings } from "../bind-functions.ts";
import { loadGraph } from "../load-graph.ts";
import { openStore, quoteArgument, STORE_FLAG, STORE_HELP } from "../open-store.ts";
import { latestOf, sourceOf } from "../thread-source.ts";

interface ForkOptions {
  readonly from?: string;
  readonly as?: string;
  readonly at?: string;
  readonly file?: string;
  readonly graph?: string;
  readonly store?: string;
}

export const forkCommand = defineCommand<ForkOptions>({
  usage: "fork <thread>",
  summary: "start a new chain from an old checkpoint; nothing runs until it is resumed",
  configure: (command) => {
    command
      .option("--from <checkpoint>", "a checkpoint or label (default the newest)")
      .option("--as <thread>", "the new thread; without it the fork becomes the head of the same thread")
      .option("--at <node>", "the node that the fork goes on at")
      .option("--file <file>", "the graph's file, where it is not the one that the run recorded")
      .option("--graph <name>", "the graph's name, where it is not the one that the run recorded")
      .option(STORE_FLAG, STORE_HELP);
  },
  examples: ["ngc fork 42 --from after-validation --as 43", "ngc fork 42 --from after-validation --as 43 --at draft"],
  run: async ([thread = ""], options, output) => {
    const { store, flag } = await openStore(options.store, { mustExist: true });
    const head = await latestOf(store, thread);
    const { file, graph } = sourceOf(head, options);
    const table = await loadGraph(file, graph, output);
    if (table === undefined) return EXIT.invalid;
    const [{ createEngine }, { builtinNodes }] = await Promise.all([
      import("../../runtime/index.ts"),
      import("../../stdlib/builtin-nodes.ts"),
    ]);
    const unsupplied = Object.fromEntries(["llm", "tool"].map((name) => [name, () => null]));
    const engine = createEngine(table, {
      ...unrunnableBindings(table),
      builtins: { ...builtinNodes, ...unsupplied },
      secrets: () => "",
      store,
    });
    const fork = await engine.fork(thread, {
      ...(options.from === undefined ? {} : { from: options.from }),
      ...(options.as === undefined ? {} : { as: options.as }),
      ...(options.at === undefined ? {} : { at: options.at }),
    });
    await store.close?.();
    output.document({ version: 1, thread: fork.thread, checkpoint: fork.checkpointId });
    output.result(`forked to thread ${fork.thread}, checkpoint ${fork.checkpointId}`);
    output.note(`go on with: ngc resume ${quoteArgument(fork.thread)}${flag}`);
    return EXIT.ok;
  },
});
