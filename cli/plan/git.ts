/** Calls the program `git` in a working tree. */
import { execFileSync } from "node:child_process";
import { CommandError } from "../process/command-error.ts";

/** What git prints for a command. @throws Error if git is missing or refuses the command */
type RunGit = (root: string, args: readonly string[], input?: string) => string;

const execGit: RunGit = (root, args, input) =>
  execFileSync("git", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    env: { ...process.env, GIT_OPTIONAL_LOCKS: "0" },
    ...(input === undefined ? {} : { input }),
  });

/** What git prints for a command; the fallback if git is missing or refuses the command. */
export function gitOr<T extends string | undefined>(
  fallback: T,
  root: string,
  args: readonly string[],
  input?: string,
): string | T {
  try {
    return execGit(root, args, input);
  } catch {
    return fallback;
  }
}

/** Makes the function that calls git for an option of the command line. It throws a CommandError that names the option. */
export function gitFor(option: string): RunGit {
  return (root, args, input) => {
    try {
      return execGit(root, args, input);
    } catch (error) {
      const detail = error instanceof Error && "stderr" in error ? String(error.stderr).trim().split("\n")[0] : "";
      throw new CommandError(`${option} needs git, which failed: ${detail}`, {
        help: `run the plan inside a git working tree, or omit ${option}`,
        cause: error,
      });
    }
  };
}
