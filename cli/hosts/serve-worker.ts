/** The worker of `ngc worker`. */
import { printable } from "../../diagnostics/render/index.ts";
import type { Output } from "../output/output.ts";
import { printableText } from "../output/printable-text.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { markServer, withInterruption } from "../process/interruption.ts";
import { DRAIN_SECONDS } from "../run/execute-graph.ts";
import type { ExecutionOptions } from "../run/execution-options.ts";
import { eventLines } from "../run/progress.ts";
import { openRunSession, type RunSession } from "../run/run-session.ts";
import type { ServedGraph } from "../sources/load-served-graphs.ts";
import { reasonOf } from "../sources/source-files.ts";
import { openStore } from "../threads/open-store.ts";
import type { RestateWorker } from "../../hosts/restate/serve-restate.ts";
import { hostFlag, parseHost } from "./open-host.ts";

export interface WorkerOptions extends Pick<ExecutionOptions, "allow" | "builtins" | "drain"> {
  readonly host: string;
  readonly port: number;
  readonly address: string;
  readonly identityKey?: readonly string[];
  readonly copyTo?: string;
}

/** Works for a host until a signal arrives. After SIGTERM, runs end at their next step, and continue on another worker. */
export async function serveWorker(
  graphs: readonly ServedGraph[],
  options: WorkerOptions,
  output: Output,
): Promise<ExitCode> {
  const restate = parseHost(options.host);
  const sessions: RunSession[] = [];
  const store = await openStore("memory", { mustExist: false });
  for (const graph of graphs) {
    const { allow, builtins, drain } = options;
    const given = {
      ...(allow === undefined ? {} : { allow }),
      ...(builtins === undefined ? {} : { builtins }),
      ...(drain === undefined ? {} : { drain }),
    };
    sessions.push(await openRunSession({ ...graph, store, options: given, flags: "" }, eventLines(), output));
  }
  const { serveRestate } = await import("../../hosts/restate/serve-restate.ts");
  // Each graph has bindings of its own: two files may import different functions with one name.
  const tables = graphs.map(({ table }) => table);
  const code = Object.fromEntries(
    sessions.map(({ engineOptions }, index) => {
      const { functions = {}, graphs: called = {} } = engineOptions;
      return [tables[index]!.name, { functions, graphs: called }];
    }),
  );
  const { store: _store, functions: _functions, graphs: _graphs, ...common } = sessions[0]!.engineOptions;
  const copies = options.copyTo === undefined ? undefined : await openStore(options.copyTo, { mustExist: false });
  const worker = await serveRestate({
    ...common,
    ...(copies === undefined ? {} : { copyTo: copies.store }),
    tables,
    graphs: code,
    restate,
    ...(options.identityKey === undefined ? {} : { identityKeys: options.identityKey }),
    onLog: (level, message) => {
      if (level === "error") output.problem(printableText(message));
    },
  });
  const port = await listen(worker, options);
  const address = options.address.includes(":") ? `[${options.address}]` : options.address;
  const url = `http://${address}:${port}`;
  const names = tables.map(({ name }) => name);
  let isTerminated = false;
  markServer();
  await withInterruption(
    (signal) =>
      new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve(), { once: true });
        onTerminate = resolve;
        // Only now: a signal that arrives once the address is printed ends the worker in order.
        output.document({ version: 1, url, graphs: names });
        output.result(`listening on ${url}`);
        const deploy = `ngc deploy FILE…${hostFlag(options.host)} --worker ${url}`;
        output.note(`graphs: ${names.join(", ")}; make the worker known with: ${deploy}`);
      }),
    () => {
      isTerminated = true;
      onTerminate();
    },
  );
  const seconds = options.drain ?? DRAIN_SECONDS;
  await worker.close({ deadline: isTerminated ? seconds * 1000 : 0 });
  for (const session of sessions) await session.close();
  await copies?.store.close?.();
  return isTerminated ? EXIT.ok : EXIT.interrupted;
}

let onTerminate: () => void = () => undefined;

async function listen(worker: RestateWorker, { port, address }: WorkerOptions): Promise<number> {
  try {
    return await worker.listen(port, address);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const inUse = code === "EADDRINUSE";
    const isPort = code !== "ERR_SOCKET_BAD_PORT";
    const reason = inUse ? "the port is in use" : isPort ? reasonOf(cause) : "ports are numbers from 0 to 65535";
    throw new CommandError(`cannot listen on ${printable(address)}:${port}: ${reason}`, {
      help: inUse ? "choose another one with --port; 0 chooses a free one" : undefined,
      cause,
    });
  }
}
