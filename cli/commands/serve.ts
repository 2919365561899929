import type { Command } from "commander";
import { printable } from "../../diagnostics/render/index.ts";
import { CommandError } from "../process/command-error.ts";
import type { Output } from "../output/output.ts";
import { defineCommand } from "../start/define-command.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { addLimitOptions, collect, type ExecutionOptions } from "../run/execution-options.ts";
import { parseCount } from "../run/parse-values.ts";
import { loadServedGraphs, type ServedGraph } from "../sources/load-served-graphs.ts";
import { withStore } from "../threads/open-store.ts";

/** Options of `ngc serve`. */
export interface ServeOptions extends ExecutionOptions {
  readonly port: number;
  readonly host: string;
  readonly tokens?: string;
  readonly origin?: readonly string[];
  readonly rate?: number;
  readonly maxRuns?: number;
  readonly studio?: boolean;
  readonly webhook?: readonly string[];
  readonly webhookPrivate?: boolean;
}

export const serveCommand = defineCommand<ServeOptions>({
  usage: "serve <file...>",
  summary: "serve graphs over HTTP: runs, answers, signals, threads and events",
  configure: (command: Command) => {
    configureServer(command, 8080);
    command.option("--studio", "serve a page at /studio to watch, answer and repair runs");
  },
  examples: [
    "ngc serve support.ngraph --studio",
    "ngc serve support.ngraph refunds.ngraph --port 3000 --store postgres:postgres://localhost/runs",
    "ngc serve support.ngraph --host 0.0.0.0 --tokens tokens.json",
  ],
  run: async (files, options, output) => serveGraphs(await loadServedGraphs(files, output), options, output),
});

/** The options of `ngc serve` and `ngc studio`. */
export function configureServer(command: Command, port: number): void {
  addLimitOptions(command);
  command
    .option("--port <n>", "the port; 0 chooses a free one", parseCount("--port", 0), port)
    .option("--host <address>", "the address to listen on; others than loopback need tokens", "127.0.0.1")
    .option(
      "--tokens <file>",
      "a JSON file with bearer tokens by the name of their owner; NGRAPH_TOKEN gives one token",
    )
    .option("--origin <url>", "a site whose pages may call the service; may be repeated", collectOrigin)
    .option("--rate <n>", "requests of one owner of a token in a minute", parseCount("--rate", 1))
    .option("--max-runs <n>", "runs under way at once (default 1000)", parseCount("--max-runs", 1))
    .option(
      "--webhook <url>",
      "send each pause and each end of a run here, signed with the key NGRAPH_WEBHOOK_SECRET; may be repeated",
      collect,
    )
    .option("--webhook-private", "permit webhooks at private addresses");
}

/** Serves graphs until a signal arrives; those of an invalid file are `undefined`. */
export async function serveGraphs(
  graphs: readonly ServedGraph[] | undefined,
  options: ServeOptions,
  output: Output,
): Promise<ExitCode> {
  if (graphs === undefined) return EXIT.invalid;
  const { serveHttp } = await import("../serve/serve-http.ts");
  return withStore(options.store, { mustExist: false }, (store) => serveHttp(graphs, { store, options, output }));
}

/** Browsers send an origin without a path. Another text would never match. */
function collectOrigin(text: string, earlier: readonly string[] | undefined): readonly string[] {
  const origin = URL.canParse(text) ? new URL(text).origin : "null";
  if (origin !== text) {
    throw new CommandError(`--origin takes the origin of a site, not \`${printable(text)}\``, {
      help: origin === "null" ? "an example: https://app.example.com" : `write ${origin}`,
    });
  }
  return collect(text, earlier);
}
