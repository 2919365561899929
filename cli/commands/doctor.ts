import { resolve } from "node:path";
import type { StoreReport } from "../../runtime/stores/contract/inspect-rows.ts";
import { defaultStoreProblems } from "../doctor/default-store.ts";
import { readEnvironment } from "../doctor/environment.ts";
import { readToolLocks } from "../doctor/tool-locks.ts";
import type { Output } from "../output/output.ts";
import { quoteArgument } from "../output/quote-argument.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { defineCommand } from "../start/define-command.ts";
import { DEFAULT_STORE, expectFile, parseStore, STORE_FLAG, storeFlag } from "../threads/open-store.ts";

interface DoctorOptions {
  readonly store?: string;
}

export const doctorCommand = defineCommand<DoctorOptions>({
  usage: "doctor",
  summary: "report the environment; with --store, check a whole store for damage",
  configure: (command) => {
    command.option(
      STORE_FLAG,
      `check this store: sqlite:PATH or postgres:URL, such as ${DEFAULT_STORE}; nothing is written to it`,
    );
  },
  examples: ["ngc doctor", `ngc doctor --store ${DEFAULT_STORE}`],
  run: (_, { store }, output) => (store === undefined ? reportEnvironment(output) : checkStore(store, output)),
});

/** Exit code 0 if graphs can run and be stored here, otherwise 1. */
function reportEnvironment(output: Output): ExitCode {
  const environment = readEnvironment();
  const locks = readToolLocks(".");
  const { problems: ownProblems, ...document } = environment;
  const problems = [...ownProblems, ...defaultStoreProblems(), ...locks.problems];
  const { files: toolLocks, warnings } = locks;
  output.document({ version: 1, ok: problems.length === 0, ...document, toolLocks, problems, warnings });
  const { node, platform, ngc, sqlite, packages, terminal } = environment;
  const { driver } = sqlite;
  output.result(
    [
      `ngc       ${ngc}`,
      `Node      ${node} (${platform})`,
      driver === null
        ? "SQLite    not available"
        : `SQLite    ${sqlite.version} through ${driver}, journal ${sqlite.journal}, synchronous ${sqlite.synchronous}`,
      ...packages.map(({ name, version, use }) => `package   ${name} ${version ?? "not installed"} (${use})`),
      ...toolLocks.map(({ path, status, servers }) => `tools     ${path} ${describeLock(status, servers)}`),
      `terminal  ${terminal.isTerminal ? `${terminal.columns} columns` : "none"}, colours ${terminal.colors ? "on" : "off"}`,
    ].join("\n"),
  );
  for (const problem of problems) output.problem(`${output.stderrStyles.error("error")}: ${problem}`);
  for (const warning of warnings) output.problem(`${output.stderrStyles.warning("warning")}: ${warning}`);
  output.result(
    problems.length === 0
      ? "ready: graphs run here, and their runs are stored"
      : `not ready: ${countOf(problems.length, "problem")}`,
  );
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}

function describeLock(status: string, servers: readonly { readonly name: string; readonly tools: number }[]): string {
  if (status !== "sound") return status;
  if (servers.length === 0) return "no servers";
  return servers.map(({ name, tools }) => `${name}: ${countOf(tools, "tool")}`).join(", ");
}

/** Exit code 0 if the store is sound, otherwise 1. */
async function checkStore(given: string, output: Output): Promise<ExitCode> {
  const { threads, checkpoints, problems } = await inspect(given);
  const flag = storeFlag(given);
  const reports = problems.map(({ thread, code, message }) => ({
    thread,
    code,
    message,
    help: thread === null ? null : `ngc delete ${quoteArgument(thread)}${flag}`,
  }));
  const ok = reports.length === 0;
  output.document({ version: 1, ok, threads, checkpoints, problems: reports });
  for (const { code, message, help } of reports) {
    output.problem(`${output.stderrStyles.error("error")}: ${message} [${code}]`);
    if (help !== null) output.problem(`  = help: without a backup, delete the thread: ${help}`);
  }
  const size = `${countOf(threads, "thread")}, ${countOf(checkpoints, "checkpoint")}`;
  output.result(`${size}: ${ok ? "sound" : countOf(reports.length, "problem")}`);
  return ok ? EXIT.ok : EXIT.failed;
}

async function inspect(given: string): Promise<StoreReport> {
  const name = parseStore(given);
  switch (name.kind) {
    case "memory":
      throw new CommandError("a store in memory is empty at the start of a command: name the store that the run used");
    case "sqlite": {
      expectFile(name.path);
      const { inspectSqlite } = await import("../../runtime/stores/sqlite/inspect.ts");
      return inspectSqlite(resolve(name.path));
    }
    case "postgres": {
      const { inspectPostgres } = await import("../../runtime/stores/postgres/inspect.ts");
      return inspectPostgres({ url: name.url });
    }
  }
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
