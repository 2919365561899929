/** The lock files of MCP tools that apply in a directory, compared with the servers that `ngraph.json` names beside them. */
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseToolLock, TOOL_LOCK, type ToolLock } from "../../compiler/load/tool-lock.ts";
import { listNames } from "../../diagnostics/similar.ts";
import { CommandError } from "../process/command-error.ts";
import { PROJECT_FILE, projectSettings } from "../run/project-settings.ts";
import { readSource } from "../sources/source-files.ts";

/** What is known of the tools of MCP servers. */
export interface ToolLocks {
  readonly files: readonly LockFile[];
  /** What lets the check of calls fail. */
  readonly problems: readonly string[];
  /** What leaves calls unchecked, or checks them against tools that no server of the project has. */
  readonly warnings: readonly string[];
}

interface LockFile {
  /** Relative to the directory. */
  readonly path: string;
  readonly status: "sound" | "missing" | "damaged" | "newer";
  readonly servers: readonly { readonly name: string; readonly tools: number }[];
}

type Report = Pick<ToolLocks, "problems" | "warnings">;

/** Reads the lock files of a directory and of all above it. Starts no server. */
export function readToolLocks(directory: string): ToolLocks {
  const start = resolve(directory);
  const { named, problems } = namedServers(start);
  const files: LockFile[] = [];
  const reports: Report[] = [{ problems, warnings: [] }];
  for (let at = start, above = ""; at !== above; above = at, at = dirname(at)) {
    const path = relative(start, join(at, TOOL_LOCK));
    const servers = named?.get(at) ?? [];
    if (!existsSync(join(at, TOOL_LOCK))) {
      if (servers.length === 0) continue;
      files.push({ path, status: "missing", servers: [] });
      reports.push(warn(`${path} is missing, so calls of tools of ${listNames(servers)} are not checked: ${SYNC}`));
      continue;
    }
    const lock = readLock(join(at, TOOL_LOCK));
    const known = [...(lock.servers ?? [])];
    files.push({
      path,
      status: lock.problem === undefined ? "sound" : lock.isNewer === true ? "newer" : "damaged",
      servers: known.map(([name, tools]) => ({ name, tools: tools.size })),
    });
    if (lock.problem !== undefined) reports.push(unusable(path, lock, servers));
    else if (named !== undefined) reports.push(compare(path, new Set(lock.servers?.keys()), servers));
  }
  return {
    files,
    problems: reports.flatMap((report) => report.problems),
    warnings: reports.flatMap((report) => report.warnings),
  };
}

const SYNC = "run `ngc tools sync`";

/** The servers that each directory names; none if a file `ngraph.json` cannot be read, which is a problem. */
function namedServers(start: string): {
  readonly named?: ReadonlyMap<string, readonly string[]>;
  readonly problems: readonly string[];
} {
  try {
    const projects = projectSettings(join(start, PROJECT_FILE));
    return {
      named: new Map(projects.map(({ path, servers = {} }) => [dirname(path), Object.keys(servers)])),
      problems: [],
    };
  } catch (error) {
    return { problems: [messageOf(error)] };
  }
}

type ReadLock = Omit<ToolLock, "path"> & {
  /** No text was read. */
  readonly isUnreadable?: true;
};

function readLock(path: string): ReadLock {
  try {
    return parseToolLock(readSource(path));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { problem: error.message, isUnreadable: true };
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof CommandError)) throw error;
  return error.help === undefined ? error.message : `${error.message}: ${error.help}`;
}

function unusable(path: string, { problem, isNewer, isUnreadable }: ReadLock, servers: readonly string[]): Report {
  const remedy =
    isNewer === true
      ? "a later version of ngraph has written it: update ngraph"
      : servers.length === 0
        ? "delete it, or restore it from version control"
        : isUnreadable === true
          ? `remove it, then ${SYNC}`
          : `${SYNC}, which writes it again`;
  return { problems: [`the tools of MCP servers cannot be read from ${path}: ${problem}; ${remedy}`], warnings: [] };
}

function compare(path: string, locked: ReadonlySet<string>, servers: readonly string[]): Report {
  const missing = servers.filter((name) => !locked.has(name));
  const gone = [...locked].filter((name) => !servers.includes(name));
  const warnings: string[] = [];
  if (missing.length > 0) {
    warnings.push(`${path} has no tools of ${listNames(missing)}, so calls of them are not checked: ${SYNC}`);
  }
  if (gone.length > 0) {
    const remedy =
      servers.length === 0 ? "delete the file, or name them there" : `${SYNC}, which removes them, or name them there`;
    warnings.push(`${path} has tools of ${listNames(gone)}, which ${PROJECT_FILE} beside it does not name: ${remedy}`);
  }
  return { problems: [], warnings };
}

function warn(text: string): Report {
  return { problems: [], warnings: [text] };
}
