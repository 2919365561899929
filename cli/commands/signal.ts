import { printable } from "../../diagnostics/render/index.ts";
import type { Json } from "../../runtime/value/json.ts";
import type { Checkpoint } from "../../runtime/interface/checkpoint.ts";
import { signalStore } from "../../runtime/thread/signal-thread.ts";
import { addPlaceOptions, withThreads, type ThreadsPlace } from "../hosts/with-threads.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT } from "../process/exit-codes.ts";
import { parseValue } from "../threads/parse-answers.ts";
import { latestOf } from "../threads/thread-source.ts";

interface SignalOptions extends ThreadsPlace {
  readonly id?: string;
}

export const signalCommand = defineCommand<SignalOptions>({
  usage: "signal <thread> <name> [value]",
  summary: "send a signal to a thread, for a node that receives it",
  configure: (command) => {
    command.option("--id <id>", "a second signal with the same id is ignored (default: a generated id)");
    addPlaceOptions(command);
  },
  examples: [`ngc signal 42 picked_up '{"weight": 3}'`, "ngc resume --due"],
  run: ([thread = "", name = "", value], options, output) =>
    withThreads(options, { mustExist: true }, async ({ store }) => {
      const head = await latestOf(store, thread);
      const given: Json = value === undefined ? null : parseValue(value);
      const id = options.id === undefined ? {} : { id: options.id };
      const sent = await signalStore(store, thread, name, given, id);
      output.document({ version: 1, thread, name, id: sent.id, added: sent.added, awaited: sent.isAwaited });
      if (!sent.added) output.result(`thread ${printable(thread)} has had the signal ${printable(sent.id)} already`);
      else {
        output.result(`signal ${printable(name)} to thread ${printable(thread)}`);
        const next = options.host === undefined ? "a node waits for it: ngc resume --due" : "a node waits for it";
        output.note(sent.isAwaited ? next : `no node waits for it yet${otherSignals(head)}`);
      }
      return EXIT.ok;
    }),
});

/** The signals that the thread waits for. The name that was sent may be misspelled. */
function otherSignals({ pauses }: Checkpoint): string {
  const names = pauses.flatMap(({ kind, payload }) =>
    kind === "signal" && typeof payload === "string" ? [`\`${printable(payload)}\``] : [],
  );
  return names.length === 0 ? "" : `; the thread waits for ${[...new Set(names)].join(", ")}`;
}
