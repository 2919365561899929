import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findProcess, groupMembers as members, signalGroup } from "../../stdlib/shell/group-members.ts";
import type { RunningCommand } from "../../stdlib/shell/shell-options.ts";
import { CommandError } from "../process/command-error.ts";
import { PROCESSES, readJsonLines, type RunDirectory } from "./run-directory.ts";

/**
 * Records the process groups of a run's commands, so that a later run can end the groups that outlive this process. Process ids are
 * reused; so a group is identified by the start time of its first process, and by the key in the environment of its commands.
 */
export function processRecorder(
  directory: Pick<RunDirectory, "appendProcess">,
  redact: (text: string) => string,
): {
  /** @param started of the first process of the group, see `startOf` */
  readonly onStart: (command: RunningCommand, started: string | undefined) => void;
  readonly onEnd: (command: RunningCommand) => void;
} {
  return {
    onStart: ({ group, command, key }, started) =>
      directory.appendProcess({ event: "start", group, started, key, command: redact(command) }),
    onEnd: ({ group }) => directory.appendProcess({ event: "end", group }),
  };
}

/** A command that a run has recorded. */
export interface RecordedCommand {
  readonly group: number;
  readonly started: string | undefined;
  readonly key: string;
  readonly command: string;
}

/** Time for a command to end after SIGTERM, in milliseconds. */
const GRACE_MS = 3000;
/** Time for a command to disappear after SIGKILL, in milliseconds. */
const KILL_MS = 5000;

/**
 * Ends the commands that a killed run left running, and waits until they are gone. Returns their command lines.
 * @throws CommandError when one cannot be ended
 */
export async function endLeftovers(runDirectory: string): Promise<readonly string[]> {
  return endCommands(recordedCommands(runDirectory));
}

function recordedCommands(runDirectory: string): readonly RecordedCommand[] {
  const open = new Map<number, RecordedCommand>();
  for (const line of readJsonLines(join(runDirectory, PROCESSES))) {
    const { event, group, started, key, command } = line;
    if (typeof group !== "number" || !Number.isSafeInteger(group) || group <= 1) continue;
    if (event === "end") open.delete(group);
    else {
      open.set(group, {
        group,
        started: typeof started === "string" ? started : undefined,
        key: typeof key === "string" ? key : "",
        command: String(command),
      });
    }
  }
  return [...open.values()];
}

/**
 * Ends those of the commands that still run on this machine, and waits until they are gone. Returns their command lines.
 * @throws CommandError when one cannot be ended
 */
export async function endCommands(commands: readonly RecordedCommand[]): Promise<readonly string[]> {
  const alive = commands.filter(isOurs);
  if (alive.length === 0) return [];
  for (const { group } of alive) signalGroup(group, "SIGTERM");
  if (!(await allGone(alive, GRACE_MS))) {
    for (const { group } of alive) if (members(group).length > 0) signalGroup(group, "SIGKILL");
    if (!(await allGone(alive, KILL_MS))) {
      const left = alive.filter(({ group }) => members(group).length > 0);
      throw new CommandError(
        `a command of an earlier run still runs and cannot be ended: ${left.map(({ command, group }) => `${command} (process group ${group})`).join(", ")}`,
        { help: "end it, then resume again", code: "NG_LEFTOVER" },
      );
    }
  }
  return alive.map(({ command }) => command);
}

async function allGone(groups: readonly RecordedCommand[], milliseconds: number): Promise<boolean> {
  for (const until = Date.now() + milliseconds; ;) {
    if (groups.every(({ group }) => members(group).length === 0)) return true;
    if (Date.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Whether a group belongs to the run. Its number alone is not enough, because the system reuses process ids. */
function isOurs({ group, started, key }: RecordedCommand): boolean {
  const present = members(group);
  if (present.length === 0) return false;
  if (present.includes(group)) return started !== undefined && startOf(group) === started;
  // The first process has ended, and its children still run.
  return key !== "" && present.some((pid) => environmentOf(pid).includes(`NGRAPH_IDEMPOTENCY_KEY=${key}`));
}

/** An opaque text for the start time of a process, used for comparison only; `undefined` if the process is gone. */
export function startOf(pid: number): string | undefined {
  const started = findProcess(pid)?.started;
  return started === undefined || process.platform !== "linux" ? started : `${bootId()}:${started}`;
}

let boot: string | undefined;

function bootId(): string {
  return (boot ??= readBootId());
}

function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
  } catch {
    return [];
  }
}
