import type { ChildProcess, SpawnOptions } from "node:child_process";
import { NodeFailure } from "../node-failure.ts";
import { collectOutput } from "./collect-output.ts";
import type { CommandCall } from "./command-call.ts";
import { endGroupMembers, signalGroup } from "./group-members.ts";
import { unwatchGroup, watchGroup } from "./live-processes.ts";
import { nodeProcesses } from "./node-processes.ts";
import type { RunningCommand, ShellOptions } from "./shell-options.ts";

/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 3000;
/** After the end of a command: how long its background processes may still write, such as a `tee` that it feeds. */
const LINGER_MS = 1_000;

export interface CommandOptions {
  readonly cwd?: string;
  /** `cwd` is in a git working tree of its own. */
  readonly isOwnTree?: true;
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string;
  /** The command reads from the terminal and prints to it. */
  readonly isInteractive?: true;
  readonly signal: AbortSignal;
  readonly node: string;
  readonly attempt: number;
  /** Whether all of a stream is needed. */
  readonly stores: (stream: "stdout" | "stderr") => boolean;
}

interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Variables with which git finds another tree than the one around the working directory. */
const TREE_VARIABLES = {
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
  GIT_PREFIX: undefined,
};

/**
 * Delays a command until a line arrives on file descriptor 3. If this process dies before it writes the line, the
 * descriptor closes and the command does not run. So `onStart` has returned for every command that runs.
 */
const GATE = "read -r NGRAPH_GATE <&3 || exit 125; exec 3<&-; unset NGRAPH_GATE; ";

/**
 * The arguments of the shell for a call behind the gate. A command line continues the line of the gate, so that one shell starts, and its
 * messages have the line numbers of the command.
 */
function behindGate({ program, args }: CommandCall): readonly string[] {
  return args === undefined ? ["-c", GATE + program] : ["-c", `${GATE}exec "$@"`, "sh", program, ...args];
}

/** Runs a command to its end, and resolves for every exit code. @throws NodeFailure, or the reason of the signal */
export function runCommand(call: CommandCall, options: CommandOptions, watch: ShellOptions): Promise<CommandResult> {
  const { spawn, exists, signals, posix } = nodeProcesses();
  const { signal, cwd, input, isInteractive = false } = options;
  // The shell of the user ends what reads from a terminal that is gone, so an interactive command needs no record.
  const isGated = posix && watch.onStart !== undefined && !isInteractive;
  // Only the process group in front may read from a terminal: an interactive command stays in the group of this process.
  const isGroup = posix && !isInteractive;
  signal.throwIfAborted();
  const spawnOptions: SpawnOptions = {
    shell: !isGated && call.args === undefined,
    // A process group of its own: ending the group ends all processes that the command has started.
    detached: isGroup,
    windowsHide: true,
    env: { ...process.env, ...(options.isOwnTree === true ? TREE_VARIABLES : {}), ...options.env },
    // Standard output of this process may be a file for the result of the run.
    stdio: isInteractive
      ? ["inherit", 2, 2]
      : [input === undefined ? "ignore" : "pipe", "pipe", "pipe", ...(isGated ? (["pipe"] as const) : [])],
    ...(cwd === undefined ? {} : { cwd }),
  };
  return new Promise((resolve, reject) => {
    const { program, args, shown: command } = call;
    const child = isGated ? spawn("/bin/sh", behindGate(call), spawnOptions) : spawn(program, args ?? [], spawnOptions);
    if (isGroup && child.pid !== undefined) watchGroup(child.pid);
    const { node, attempt, stores } = options;
    const running: RunningCommand | undefined =
      isGated && child.pid !== undefined
        ? { group: child.pid, command, key: options.env["NGRAPH_IDEMPOTENCY_KEY"] ?? "", node, attempt }
        : undefined;
    const observe = (stream: "stdout" | "stderr", chunk: Uint8Array): void => {
      if (running !== undefined) watch.onOutput?.(running, stream, chunk);
    };
    const ended = (): void => {
      signal.removeEventListener("abort", onAbort);
      if (child.pid !== undefined) unwatchGroup(child.pid);
      if (running !== undefined) watch.onEnd?.(running);
    };
    let failure: unknown;
    const end = (reason: unknown): void => {
      if (failure !== undefined) return;
      failure = reason;
      endGroup(child, isGroup, "SIGTERM");
      setTimeout(() => endGroup(child, isGroup, "SIGKILL"), GRACE_MS).unref();
    };
    const onAbort = (): void => end(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });

    const stdout = collectOutput(child, "stdout", { command, keepsAll: stores("stdout"), end, observe });
    const stderr = collectOutput(child, "stderr", { command, keepsAll: stores("stderr"), end, observe });
    child.once("error", (error) => {
      ended();
      const isMissing = "code" in error && error.code === "ENOENT";
      const noDirectory = isMissing && cwd !== undefined && !exists(cwd);
      const noProgram = isMissing && !noDirectory && args !== undefined;
      reject(
        new NodeFailure(
          noDirectory
            ? `the directory ${JSON.stringify(cwd)} does not exist`
            : noProgram
              ? `the program ${JSON.stringify(program)} does not exist`
              : `\`${command}\`: ${error.message}`,
          { retryable: !noDirectory && !noProgram, cause: error },
        ),
      );
    });
    // A background process that holds the output open would delay `close` until it ends.
    let lingering: ReturnType<typeof setTimeout> | undefined;
    let isClosed = false;
    let hasLeft = false;
    child.once("exit", () => {
      const { pid } = child;
      if (!isGroup || pid === undefined || isClosed) return;
      lingering = setTimeout(() => {
        void endGroupMembers(pid, GRACE_MS).then((hadMembers) => {
          hasLeft = hadMembers;
          if (isClosed) return;
          // One that has left the group goes on, and what it writes is no output of the command.
          lingering = setTimeout(() => {
            child.stdout?.destroy();
            child.stderr?.destroy();
          }, LINGER_MS);
        });
      }, LINGER_MS);
    });
    child.once("close", (code, name) => {
      isClosed = true;
      clearTimeout(lingering);
      const settle = (): void => {
        ended();
        if (failure !== undefined) reject(failure);
        else resolve({ code: code ?? 128 + (name === null ? 0 : signals[name]), stdout: stdout(), stderr: stderr() });
      };
      if (!isGroup || child.pid === undefined) return settle();
      // Its background processes would write beside the commands that come next.
      void endGroupMembers(child.pid, GRACE_MS).then((hadMembers) => {
        if ((hadMembers || hasLeft) && running !== undefined && failure === undefined) watch.onLeft?.(running);
        settle();
      });
    });
    if (running !== undefined) {
      const gate = child.stdio[3] as unknown as NodeJS.ReadWriteStream & { destroy(): void };
      gate.on("error", () => {});
      // The stream must be read to its end, or the command never emits `close`.
      gate.resume();
      const refuse = (error: unknown): void => {
        gate.destroy();
        end(error);
      };
      const open = (): void => void (failure === undefined ? gate.end("go\n") : gate.destroy());
      try {
        const recorded = watch.onStart?.(running);
        if (recorded instanceof Promise) recorded.then(open, refuse);
        else open();
      } catch (error) {
        refuse(error);
      }
    }
    if (input !== undefined) {
      // A command may end without reading its input.
      child.stdin?.on("error", () => {});
      child.stdin?.end(input);
    }
  });
}

function endGroup(child: ChildProcess, isGroup: boolean, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  if (isGroup) return signalGroup(child.pid, signal);
  try {
    child.kill(signal);
  } catch {
    // The command has already ended.
  }
}
