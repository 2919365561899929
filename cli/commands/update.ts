import { printable } from "../../diagnostics/render/index.ts";
import { resolve } from "node:path";
import type { Store } from "../../runtime/interface/store.ts";
import { refuseEffects } from "../../runtime/table/refuse-effects.ts";
import { allowedEffects } from "../run/allowed-effects.ts";
import { bindFunctions } from "../sources/bind-functions.ts";
import { CommandError } from "../process/command-error.ts";
import { addPlaceOptions, resumeFlags, resumeNote, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { loadGraph } from "../sources/load-graph.ts";
import { collect, CONFIG_FLAG, CONFIG_HELP } from "../run/execution-options.ts";
import { parseConfig } from "../run/parse-config.ts";
import { parseRecord } from "../run/parse-values.ts";
import { threadEngine } from "../threads/thread-engine.ts";
import { latestOf, refusePlanThread, sourceOf } from "../threads/thread-source.ts";

interface UpdateOptions extends ThreadsPlace {
  readonly as?: string;
  readonly in?: string;
  readonly replace?: boolean;
  readonly set?: readonly string[];
  readonly config?: readonly string[];
  readonly file?: string;
}

export const updateCommand = defineCommand<UpdateOptions>({
  usage: "update <thread> <values>",
  summary: "edit the state of a thread in a new checkpoint; nothing runs until it is resumed",
  configure: (command) => {
    command
      .option(
        "--as <node>",
        "resume as if this node had written the values; `start` may create the thread, `end` ends the run",
      )
      .option("--in <namespace>", "edit the state of an unfinished called graph, such as `review` or `each[3]`")
      .option("--replace", "replace the old values instead of calling the reducers")
      .option("--set <channels...>", "replace the old values of these channels instead of calling their reducers")
      .option(CONFIG_FLAG, CONFIG_HELP, collect)
      .option("--file <file>", "the graph's file (default: the file that the run recorded)")
      .option("--graph <name>", "the graph's name (default: the name that the run recorded)");
    addPlaceOptions(command);
  },
  examples: [`ngc update 42 '{"score": 1}'`, "ngc update 42 @values.json --as draft"],
  run: ([thread = "", given = ""], options, output) =>
    withThreads(
      options,
      { mustExist: options.as === undefined || options.file === undefined },
      async ({ store, flag }) => {
        const values = await parseRecord(given, "the argument `values`", "the graph's channels by name");
        const isEmpty = Object.keys(values).length === 0 && options.config === undefined;
        if (isEmpty && options.as === undefined) {
          throw new CommandError("no values are given, so there is nothing to change");
        }
        const isNew = options.as !== undefined && (await store.loadLatest(thread)) === undefined;
        const { file, graph } = isNew ? newSource(thread, options) : await storedSource(store, thread, options);
        const table = await loadGraph(file, graph, output);
        if (table === undefined) return EXIT.invalid;
        const config = parseConfig(options.config, table);
        // Reducers may be the user's own. No node runs.
        const effects = table.effects.filter((effect) => effect === "code");
        refuseEffects({ name: table.name, effects }, allowedEffects(undefined, file), "graph");
        const { bindings } = await bindFunctions(table, undefined);
        const engine = await threadEngine(table, store, bindings);
        const { checkpointId } = await engine.update(thread, values, {
          ...(options.as === undefined ? {} : { as: options.as }),
          ...(options.in === undefined ? {} : { in: options.in }),
          ...(options.replace === true ? { replace: true } : {}),
          ...(options.set === undefined ? {} : { set: options.set }),
          ...config,
          ...(isNew ? { metadata: { file: resolve(file), graph: table.name } } : {}),
        });
        output.document({ version: 1, thread, checkpoint: checkpointId });
        output.result(`updated: checkpoint ${checkpointId} of thread ${printable(thread)}`);
        if (options.as !== "end") {
          const otherwise = "with --as, it continues as if a node had written the values";
          output.note(await resumeNote(engine, thread, resumeFlags(options, flag, file), otherwise));
        }
        return EXIT.ok;
      },
    ),
});

type Source = ReturnType<typeof sourceOf>;

async function storedSource(store: Store, thread: string, options: UpdateOptions): Promise<Source> {
  const head = await latestOf(store, thread);
  refusePlanThread(head, "has no state to edit");
  return sourceOf(head, options);
}

/** @throws CommandError for a new thread without its graph's file */
function newSource(thread: string, { file, graph }: UpdateOptions): Source {
  if (file !== undefined) return { file, graph };
  throw new CommandError(`there is no thread \`${printable(thread)}\` in this store`, {
    code: "NG_UNKNOWN_THREAD",
    help: "to create it, name the graph's file with --file",
  });
}
