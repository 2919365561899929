import type { ChildProcess, SpawnOptions } from "node:child_process";
import type { BuiltinNode, ExpectedType } from "../../runtime/interface/context.ts";
import type { Json, JsonObject, MaybePromise } from "../../runtime/value/json.ts";
import { NodeFailure } from "../node-failure.ts";
import { endGroupMembers } from "./group-members.ts";

/** Maximum size of an output stream that is stored. More output fails the node, because checkpoints hold results. */
export const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;
/** Of a stream that is not stored, so much of its end is kept for messages and checks. */
const TAIL_BYTES = 256 * 1024;
/** Time between SIGTERM and SIGKILL. */
const GRACE_MS = 3000;
/** After the end of a command: how long its background processes may still write, such as a `tee` that it feeds. */
const LINGER_MS = 1_000;
/** Maximum length of a failed command's output in the error message, in characters. */
const EXCERPT = 2000;

/** Process groups that must not outlive this process. */
const liveGroups = new Set<number>();
let cleansUpOnExit = false;

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

/** A running command, with the data that is needed to end it after a crash of this process. */
export interface RunningCommand {
  /** The process group of the command, which is the id of its first process. */
  readonly group: number;
  readonly command: string;
  /** The value of `NGRAPH_IDEMPOTENCY_KEY` in the environment of the command. */
  readonly key: string;
  /** The node or task, with the names of its callers; a check of a task is `TASK check N`. */
  readonly node: string;
  /** 1-based. */
  readonly attempt: number;
}

export interface ShellOptions {
  /** The command starts when this function has returned and its promise is fulfilled. Not called on Windows, which has no process groups. */
  readonly onStart?: (command: RunningCommand) => MaybePromise<void>;
  /** Called when the command has ended and processes that it has left in its group were ended. */
  readonly onLeft?: (command: RunningCommand) => void;
  readonly onEnd?: (command: RunningCommand) => void;
  /** Called with each part of the output, in the order in which it arrives. */
  readonly onOutput?: (command: RunningCommand, stream: "stdout" | "stderr", chunk: Uint8Array) => void;
  /** The root directory of a command, if it is not the working directory of this process: a git working tree of its own. */
  readonly rootOf?: (node: string) => string | undefined;
  /**
   * Lends the terminal to a command of an `interactive` task, and returns how to take it back. `undefined` if there is no terminal.
   * Without this function such a command fails.
   */
  readonly lendTerminal?: () => (() => void) | undefined;
  /** Stores why the previous attempt of a task has failed, and returns the path of the file; `undefined` if there is none. */
  readonly storeFailure?: (
    task: { readonly node: string; readonly attempt: number },
    text: string,
  ) => string | undefined;
}

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
          ...failureEntries(context, watch),
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
  if (root !== undefined) return { cwd: nodeModules().resolve(root, cwd ?? "."), isOwnTree: true };
  return cwd === undefined ? {} : { cwd };
}

/** Variables with which git finds another tree than the one around the working directory. */
const TREE_VARIABLES = {
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
  GIT_PREFIX: undefined,
};

/** Whether the graph may store a field of the result. */
function mayStore(expects: ExpectedType | undefined, field: string): boolean {
  if (expects === undefined) return false;
  const { type } = expects;
  return type.kind !== "record" || type.fields.some(({ name }) => name === field);
}

/** A command line for the shell, or a program with its arguments. */
interface Call {
  readonly program: string;
  /** Absent for a command line. */
  readonly args?: readonly string[];
  /** For messages. */
  readonly shown: string;
}

function readCommand(command: Json | undefined, isQuoted: boolean): Call {
  const isPosix = typeof process === "undefined" || process.platform !== "win32";
  if (!Array.isArray(command)) {
    if (isQuoted && !isPosix) {
      throw new NodeFailure(
        "this command has values that are quoted for a POSIX shell, which `cmd.exe` does not read: " +
          'write it as a list (`shell(["git", "checkout", branch])`), or pass the values with `env`',
        { retryable: false },
      );
    }
    const line = String(command);
    return refuseNul({ program: line, shown: line });
  }
  const [program, ...args] = (command as readonly Json[]).map(String);
  if (program === undefined || program === "") {
    throw new NodeFailure("the list of a command begins with the name of a program", { retryable: false });
  }
  return refuseNul({ program, args, shown: [program, ...args].map(shownArgument).join(" ") });
}

function refuseNul(call: Call): Call {
  if (!call.shown.includes("\0")) return call;
  throw new NodeFailure("a command cannot contain a NUL character", { retryable: false });
}

/** An argument as it could be written in a POSIX shell. */
function shownArgument(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

interface CommandOptions {
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

/**
 * Delays a command until a line arrives on file descriptor 3. If this process dies before it writes the line, the
 * descriptor closes and the command does not run. So `onStart` has returned for every command that runs.
 */
const GATE = 'read -r go <&3 || exit 125; exec 3<&-; exec "$@"';

function runCommand(call: Call, options: CommandOptions, watch: ShellOptions): Promise<CommandResult> {
  const { spawn, exists, signals, posix } = nodeModules();
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
    const gated = args === undefined ? ["/bin/sh", "-c", program] : [program, ...args];
    const child = isGated
      ? spawn("/bin/sh", ["-c", GATE, "sh", ...gated], spawnOptions)
      : spawn(program, args ?? [], spawnOptions);
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
      if (child.pid !== undefined) liveGroups.delete(child.pid);
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

    const stdout = collect(child, "stdout", { command, keepsAll: stores("stdout"), end, observe });
    const stderr = collect(child, "stderr", { command, keepsAll: stores("stderr"), end, observe });
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

interface Collecting {
  readonly command: string;
  /** Otherwise only the end of the stream is kept. */
  readonly keepsAll: boolean;
  readonly end: (reason: unknown) => void;
  readonly observe: (stream: "stdout" | "stderr", chunk: Uint8Array) => void;
}

/** Collects a stream; the returned function returns its text after the command has ended. */
function collect(
  child: ChildProcess,
  name: "stdout" | "stderr",
  { command, keepsAll, end, observe }: Collecting,
): () => string {
  let chunks: Uint8Array[] = [];
  let bytes = 0;
  const trim = (): void => {
    let first = 0;
    for (; bytes - (chunks[first]?.byteLength ?? 0) >= TAIL_BYTES; first++) bytes -= chunks[first]?.byteLength ?? 0;
    chunks = chunks.slice(first);
  };
  child[name]?.on("data", (chunk: Uint8Array) => {
    observe(name, chunk);
    bytes += chunk.byteLength;
    if (!keepsAll) {
      chunks.push(chunk);
      // Twice the size, so that the list is not copied for each chunk.
      if (bytes > 2 * TAIL_BYTES) trim();
    } else if (bytes <= MAX_OUTPUT_BYTES) chunks.push(chunk);
    else {
      const limit = `${MAX_OUTPUT_BYTES / 1024 / 1024} MiB`;
      end(
        new NodeFailure(`\`${command}\` wrote more than ${limit} to ${name}, which the graph stores`, {
          retryable: false,
        }),
      );
    }
  });
  return () => {
    const decoder = new TextDecoder();
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  };
}

function endGroup(child: ChildProcess, isGroup: boolean, signal: "SIGTERM" | "SIGKILL"): void {
  if (child.pid === undefined) return;
  try {
    if (isGroup) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // The command has already ended.
  }
}

/** Ends running commands when this process exits. */
function watchGroup(pid: number): void {
  liveGroups.add(pid);
  if (cleansUpOnExit) return;
  cleansUpOnExit = true;
  process.once("exit", () => {
    for (const group of liveGroups) {
      try {
        process.kill(-group, "SIGKILL");
      } catch {
        // The command has already ended.
      }
    }
  });
}

/** The variables that report to a command why the previous attempt of its task has failed. */
function failureEntries(context: Parameters<BuiltinNode>[1], watch: ShellOptions): Record<string, string> {
  if (context.failure === undefined) return {};
  const text = failureText(context.failure);
  const file = watch.storeFailure?.({ node: context.node ?? "", attempt: context.attempt }, text);
  // The longest variable that Linux accepts has 128 KiB.
  const cut = text.length > LONGEST_VARIABLE ? text.slice(0, LONGEST_VARIABLE) : text;
  // An environment cannot contain NUL characters.
  return {
    NGRAPH_FAILURE: cut.replaceAll("\0", "\uFFFD"),
    ...(file === undefined ? {} : { NGRAPH_FAILURE_FILE: file }),
  };
}

/** In characters of at most three bytes. */
const LONGEST_VARIABLE = 32 * 1024;

/** The message, then each failed check with the end of its output. */
function failureText({ message, checks }: JsonObject): string {
  const parts = (Array.isArray(checks) ? checks : []).map((check) => {
    const { command, output } = check as { readonly command: string; readonly output: string };
    return `\n$ ${command}\n${output}${output === "" || output.endsWith("\n") ? "" : "\n"}`;
  });
  return `${String(message)}\n${parts.join("")}`;
}

function textEntries(value: Json | undefined): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)]));
}

/** Loads Node modules when a command is run, so that this module can be imported outside of Node. */
function nodeModules(): {
  spawn: typeof import("node:child_process").spawn;
  exists: typeof import("node:fs").existsSync;
  signals: typeof import("node:os").constants.signals;
  resolve: typeof import("node:path").resolve;
  posix: boolean;
} {
  const load = typeof process === "undefined" ? undefined : process.getBuiltinModule;
  if (typeof load !== "function") {
    throw new NodeFailure("`shell` runs on Node only", { retryable: false });
  }
  return {
    spawn: load("node:child_process").spawn,
    exists: load("node:fs").existsSync,
    resolve: load("node:path").resolve,
    signals: load("node:os").constants.signals,
    posix: process.platform !== "win32",
  };
}
