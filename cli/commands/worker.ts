import { printable } from "../../diagnostics/render/index.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT } from "../process/exit-codes.ts";
import { EFFECT_NAMES } from "../run/parse-effect.ts";
import { collect, parseEffects } from "../run/execution-options.ts";
import { parseCount } from "../run/parse-values.ts";
import { loadServedGraphs } from "../sources/load-served-graphs.ts";
import { defineCommand } from "../start/define-command.ts";
import { parseStore } from "../threads/open-store.ts";
import { HOST_FLAG, HOST_HELP, parseHost } from "../hosts/open-host.ts";
import type { WorkerOptions } from "../hosts/serve-worker.ts";

export const workerCommand = defineCommand<Partial<WorkerOptions> & Pick<WorkerOptions, "port" | "address">>({
  usage: "worker <file...>",
  summary: "execute the runs of a host: drive threads, and run nodes for other workers",
  configure: (command) => {
    command
      .option(HOST_FLAG, HOST_HELP)
      .option("--port <n>", "the port; 0 chooses a free one", parseCount("--port", 0), 9080)
      .option("--address <address>", "the address to listen on", "127.0.0.1")
      .option("--identity-key <key>", "a public key of Restate, which must sign requests; may be repeated", collect)
      .option("--allow <effects>", `allow only these effects: ${EFFECT_NAMES} or none`, parseEffects)
      .option("--builtins <file>", "a module whose exports supply built-in nodes, such as `llm`")
      .option("--copy-to <store>", "copy all checkpoints into this store, for tools: postgres:URL or sqlite:PATH")
      .option(
        "--drain <seconds>",
        "on SIGTERM, wait at most this long for running nodes before the worker ends (default 25)",
        parseCount("--drain", 0),
      );
  },
  examples: [
    "ngc worker support.ngraph --host restate:http://localhost:8080",
    "ngc worker support.ngraph refunds.ngraph --host restate:http://restate:8080 --address 0.0.0.0 --port 9081",
  ],
  run: async (files, { host, ...options }, output) => {
    if (host === undefined) {
      throw new CommandError("a worker needs --host", {
        help: "name the host: `--host restate:http://localhost:8080`",
      });
    }
    parseHost(host);
    const wrong = options.identityKey?.find((key) => !/^publickeyv1_\w+$/.test(key));
    if (wrong !== undefined) {
      throw new CommandError(`--identity-key takes a key of the form publickeyv1_…, not \`${printable(wrong)}\``, {
        help: "the server of Restate prints its public key when it starts with a key of requests",
      });
    }
    if (options.copyTo !== undefined && parseStore(options.copyTo, "--copy-to").kind === "memory") {
      throw new CommandError("--copy-to takes a store that other programs read: postgres:URL or sqlite:PATH");
    }
    const graphs = await loadServedGraphs(files, output);
    if (graphs === undefined) return EXIT.invalid;
    const { serveWorker } = await import("../hosts/serve-worker.ts");
    return serveWorker(graphs, { ...options, host }, output);
  },
});
