import type { Engine, ExecuteOptions, RunResult } from "../../runtime/interface/engine-options.ts";
import type { Table } from "../../runtime/table/table.ts";
import { resolve } from "node:path";
import type { RestateHost } from "../../hosts/restate/restate.ts";
import { printable } from "../../diagnostics/render/index.ts";
import { quietly, type Output } from "../output/output.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { RunError } from "../../runtime/interface/errors.ts";
import { withInterruption } from "../process/interruption.ts";
import type { ExecutionOptions } from "../run/execution-options.ts";
import { givenLimits, type LimitFlags } from "../run/parse-values.ts";
import { createProgress, eventLines } from "../run/progress.ts";
import { reportResult } from "../run/report-result.ts";
import { hostFlag, type HostFlags } from "./open-host.ts";

interface HostExecution {
  readonly table: Table;
  readonly file: string;
  readonly host: RestateHost;
  readonly options: ExecutionOptions & HostFlags;
  readonly start: (engine: Engine, options: ExecuteOptions) => Promise<RunResult>;
}

/** Runs a graph on a host, whose workers have its code, and prints progress and result. */
export async function runOnHost(
  { table, file, host, options, start }: HostExecution,
  output: Output,
): Promise<ExitCode> {
  refuseFlags(options);
  const { createEngine } = await import("../../runtime/index.ts");
  const engine = createEngine(table, { host });
  const progress = options.events === true ? eventLines() : createProgress(output);
  const say = options.events === true ? quietly(output) : output;
  const limit = (flags: LimitFlags | undefined) => (flags === undefined ? undefined : givenLimits(flags, table.name));
  const all = {
    maxSteps: limit(options.maxSteps),
    maxTokens: limit(options.maxTokens),
    maxCost: limit(options.maxCost),
    maxParallel: options.maxParallel,
    pauseBefore: options.pauseBefore,
    pauseAfter: options.pauseAfter,
  };
  const given: ExecuteOptions = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const metadata = { file: resolve(file), graph: table.name };
  let hasBegun = false;
  const waiting = setTimeout(() => say.note(NO_WORKER), NO_WORKER_MS);
  try {
    const result = await withInterruption((signal) => {
      signal.addEventListener("abort", () => {
        if (!hasBegun) say.note(MAY_BEGIN);
      });
      return start(engine, {
        ...given,
        metadata,
        signal,
        onEvent(event) {
          clearTimeout(waiting);
          hasBegun = true;
          progress.onEvent(event);
          if (event.type !== "run" || event.phase !== "start" || event.namespace.length > 0) return;
          say.note(`${event.resumed ? "resuming" : "running as"} thread ${printable(event.thread ?? "")}`);
        },
      });
    });
    progress.stop();
    const flags = `${hostFlag(options.host!)} --file ${quoteArgument(file)}`;
    const signalFlags = `${hostFlag(options.host!)} --graph ${quoteArgument(table.name)}`;
    return reportResult(result, { flags, signalFlags, isMemory: false }, say);
  } catch (error) {
    throw error instanceof RunError && error.code === "NG_OTHER_VERSION" ? otherVersion(error, file, options) : error;
  } finally {
    clearTimeout(waiting);
    progress.stop();
  }
}

const MAY_BEGIN =
  "asks the host to cancel; a second Ctrl-C ends this command, and the host may still begin the run when a worker answers";
const NO_WORKER_MS = 15_000;
const NO_WORKER =
  "no worker has begun yet: the host keeps the call until one answers at the deployed address (`ngc worker`), or until the thread is free";

function otherVersion(cause: RunError, file: string, { host = "" }: HostFlags): CommandError {
  const [flag, name] = [hostFlag(host), quoteArgument(file)];
  return new CommandError(`nothing was started: ${cause.message} [${cause.code}]`, {
    exitCode: EXIT.failed,
    code: cause.code,
    help: `deploy ${name}: \`ngc worker ${name}${flag}\`, then \`ngc deploy ${name}${flag} --worker URL\`; --deployed uses the deployed version instead`,
    cause,
  });
}

/** Flags of the process that executes nodes: the worker. */
function refuseFlags({ store, allow, builtins, drain }: ExecutionOptions): void {
  for (const [flag, value] of Object.entries({ store, allow, builtins, drain })) {
    if (value === undefined) continue;
    throw new CommandError(`--${flag} has no effect with --host`, {
      help: flag === "store" ? "the host stores the runs" : `workers execute the nodes: \`ngc worker --${flag} …\``,
    });
  }
}
