/** Calls the program `git` in a working tree. The configuration of the repository is untrusted: it must not run a program. */
import { execFileSync } from "node:child_process";
import { CommandError } from "../process/command-error.ts";

/** What git prints for a command. @throws Error if git is missing or refuses the command */
type RunGit = (root: string, args: readonly string[], input?: string, environment?: NodeJS.ProcessEnv) => string;

/** Settings through which the configuration of a repository names programs. The command line overrides them. */
const SAFE_SETTINGS = [
  // An embedded bare repository is part of a checked-out tree, configuration included.
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.alternateRefsCommand=",
  "diff.external=",
  // A partial clone fetches missing objects with the programs that its configuration names.
  "protocol.allow=never",
].flatMap((setting) => ["-c", setting]);

const SAFE_ENVIRONMENT = { GIT_OPTIONAL_LOCKS: "0", GIT_NO_LAZY_FETCH: "1", GIT_TERMINAL_PROMPT: "0" };

/** In a hook, git sets variables that name the tree of the hook. They would also hold for its submodules and for other trees. */
const OTHER_TREE = { GIT_DIR: undefined, GIT_WORK_TREE: undefined, GIT_INDEX_FILE: undefined, GIT_PREFIX: undefined };

function callGit(root: string, args: readonly string[], input?: string, environment?: NodeJS.ProcessEnv): string {
  return execFileSync("git", ["--no-pager", ...args], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    env: { ...process.env, ...OTHER_TREE, ...SAFE_ENVIRONMENT, ...environment },
    ...(input === undefined ? {} : { input }),
  });
}

const execGit: RunGit = (root, args, input, environment) =>
  callGit(root, [...SAFE_SETTINGS, ...withoutFilters(root), ...args], input, environment);

const FILTER_PROGRAM = /^((?:filter|merge)\..*)\.(?:clean|smudge|process|required|driver)$/s;

/** Settings by root: a command calls git up to hundreds of times. */
const filterSettings = new Map<string, readonly string[]>();

/** Settings that disable the filter programs and merge programs of the repository's own configuration. Those of the user's, such as Git LFS, stay. */
function withoutFilters(root: string): readonly string[] {
  const known = filterSettings.get(root);
  if (known !== undefined) return known;
  const drivers = new Map<string, boolean>();
  for (const [scope, name] of filterNames(root)) {
    const driver = FILTER_PROGRAM.exec(name)?.[1];
    if (driver === undefined) continue;
    const isRepository = scope === "local" || scope === "worktree";
    drivers.set(driver, isRepository || (drivers.get(driver) ?? false));
  }
  const settings = [...drivers].flatMap(([driver, isRepository]) =>
    !isRepository
      ? []
      : driver.startsWith("merge.")
        ? // A merge program that fails reports a conflict.
          ["-c", `${driver}.driver=false`]
        : ["clean=", "smudge=", "process=", "required=false"].flatMap((setting) => ["-c", `${driver}.${setting}`]),
  );
  filterSettings.set(root, settings);
  return settings;
}

/** The scope and the name of each setting of a filter or merge program. */
function filterNames(root: string): (readonly [scope: string, name: string])[] {
  let text: string;
  try {
    text = callGit(root, [
      ...SAFE_SETTINGS,
      "config",
      "--show-scope",
      "--name-only",
      "-z",
      "--get-regexp",
      "^(filter|merge)[.]",
    ]);
  } catch {
    // Exit code 1 says that no setting matches. Outside of a repository, the command itself reports the error.
    return [];
  }
  const parts = text.split("\0");
  return parts.flatMap((name, index) => (index % 2 === 1 ? [[parts[index - 1] ?? "", name] as const] : []));
}

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
  return (root, args, input, environment) => {
    try {
      return execGit(root, args, input, environment);
    } catch (error) {
      const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
      const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : "";
      const detail = isMissing ? "no such program `git`" : stderr.trim().split("\n")[0];
      throw new CommandError(`${option} needs git, which failed: ${detail}`, {
        help: `run the plan inside a git working tree, or omit ${option}`,
        cause: error,
      });
    }
  };
}
