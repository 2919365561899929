import type { BuiltinNode, ExpectedType } from "../../runtime/interface/context.ts";
import type { Json } from "../../runtime/value/json.ts";
import { NodeFailure } from "../node-failure.ts";
import { readCommand } from "../shell/command-call.ts";
import { failureVariables } from "../shell/failure-variables.ts";
import { nodeProcesses } from "../shell/node-processes.ts";
import { runCommand, type CommandOptions } from "../shell/run-command.ts";
import type { ShellOptions } from "../shell/shell-options.ts";

/** Maximum length of a failed command's output in the error message, in characters. */
const EXCERPT = 2000;

/**
 * `shell("npm test", cwd: "app", env: { CI: "1" }, input: text)`: runs a command in the system's shell (`/bin/sh`, or
 * `cmd.exe`). `shell(["git", "commit", "-m", message])` runs a program with arguments, without a shell. The result is
 * `{ code, stdout, stderr }`; `stdout` comes without its last line break, `stderr` unchanged. An exit code other than 0
 * fails the node unless `check: false`; a command ended by signal N has code 128 + N. `env` is added to the environment,
 * where the command also finds `NGRAPH_THREAD`, `NGRAPH_IDEMPOTENCY_KEY` and `NGRAPH_ATTEMPT`, and in a task of a plan whose previous
 * attempt has failed `NGRAPH_FAILURE`, the reason, and `NGRAPH_FAILURE_FILE`, a file with the reason. On timeout and cancellation the command and
 * all processes it started are terminated. What the command leaves in the background ends with the command, unless it has left the process
 * group (`setsid`).
 *
 * The compiler quotes the values of a command for the POSIX shell and passes `quoted: true`. `cmd.exe` does not read this
 * quoting, so such a command fails on Windows.
 */
export const shell: BuiltinNode = createShell();

/** Makes the node `shell` with hooks that observe its commands. */
export function createShell(watch: ShellOptions = {}): BuiltinNode {
  return async ({ command, quoted, interactive, cwd, env, input, check = true }, context) => {
    const call = readCommand(command, quoted === true);
    const takeBack = interactive === true ? lend(watch) : undefined;
    const { code, stdout, stderr } = await runCommand(
      call,
      {
        ...placeOf(typeof cwd === "string" ? cwd : undefined, watch.rootOf?.(context.node ?? "")),
        env: {
          ...textEntries(env),
          NGRAPH_THREAD: context.thread,
          NGRAPH_IDEMPOTENCY_KEY: context.idempotencyKey,
          NGRAPH_ATTEMPT: String(context.attempt),
          ...failureVariables(context, watch),
        },
        ...(typeof input === "string" ? { input } : {}),
        ...(takeBack === undefined ? {} : { isInteractive: true }),
        signal: context.signal,
        node: context.node ?? "",
        attempt: context.attempt,
        stores: (stream) => mayStore(context.expects, stream),
      },
      watch,
    ).finally(() => takeBack?.());
    if (check !== false && code !== 0) {
      // Redacted before it is cut: a part of a secret is harder to find.
      const output = context.redact((stderr.trim() === "" ? stdout : stderr).trim());
      const excerpt = output.length > EXCERPT ? `…${output.slice(-EXCERPT)}` : output;
      throw new NodeFailure(`\`${call.shown}\` ended with exit code ${code}${excerpt === "" ? "" : `:\n${excerpt}`}`, {
        details: { code },
      });
    }
    return { code, stdout: stdout.replace(/\r?\n$/, ""), stderr };
  };
}

function lend({ lendTerminal }: ShellOptions): () => void {
  const takeBack = lendTerminal?.();
  if (takeBack !== undefined) return takeBack;
  throw new NodeFailure(
    "the task is `interactive`, and this run has no terminal: run the plan in a terminal, without redirected input",
    { retryable: false },
  );
}

/** The directory of a command, as an absolute path if it has a root of its own. */
function placeOf(cwd: string | undefined, root: string | undefined): Pick<CommandOptions, "cwd" | "isOwnTree"> {
  if (root !== undefined) return { cwd: nodeProcesses().resolve(root, cwd ?? "."), isOwnTree: true };
  return cwd === undefined ? {} : { cwd };
}

/** Whether the graph may store a field of the result. */
function mayStore(expects: ExpectedType | undefined, field: string): boolean {
  if (expects === undefined) return false;
  const { type } = expects;
  return type.kind !== "record" || type.fields.some(({ name }) => name === field);
}

function textEntries(value: Json | undefined): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}
