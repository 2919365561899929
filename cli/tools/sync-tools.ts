/** `ngc tools sync`: writes the tools of MCP servers to the lock files that the compiler reads. */
import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { parseToolLock, TOOL_LOCK, TOOL_LOCK_VERSION, type LockedTool } from "../../compiler/load/tool-lock.ts";
import { canonicalJson } from "../../compiler/table/canonical-json.ts";
import { listNames } from "../../diagnostics/similar.ts";
import { escapeJson } from "../output/json-text.ts";
import { refuseLinksOut } from "../output/link-out.ts";
import type { Output } from "../output/output.ts";
import { writeAtomically } from "../output/write-atomically.ts";
import { CommandError } from "../process/command-error.ts";
import { EXIT, type ExitCode } from "../process/exit-codes.ts";
import { withInterruption } from "../process/interruption.ts";
import { allowedEffects } from "../run/allowed-effects.ts";
import { importOptional } from "../run/import-optional.ts";
import { projectSettings } from "../run/project-settings.ts";
import { readSource } from "../sources/source-files.ts";
import { listTools, type ListOptions, type ServerTools } from "./list-tools.ts";

export interface SyncOptions {
  readonly check?: boolean;
  /** Seconds. */
  readonly timeout: number;
}

type Tools = Readonly<Record<string, LockedTool>>;
type Project = ReturnType<typeof projectSettings>[number];

/** The result for one server. */
interface ServerReport {
  readonly name: string;
  /** The number of its tools in the lock file; `null` if it has none there. */
  readonly tools: number | null;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly problem: string | null;
}

/** The result for one lock file. */
interface LockReport {
  readonly path: string;
  readonly status: "unchanged" | "written" | "stale" | "missing";
  readonly ok: boolean;
  readonly servers: readonly ServerReport[];
  /** Servers that `ngraph.json` does not name any more. */
  readonly removed: readonly string[];
}

/**
 * Writes a lock file beside each `ngraph.json` with servers, in the directory and above it. A server that fails keeps the tools that the
 * file has. With `check`, nothing is written. Exit code 1 if a server fails or, with `check`, a file is stale.
 */
export async function syncTools(directory: string, options: SyncOptions, output: Output): Promise<ExitCode> {
  const start = resolve(directory);
  if (!existsSync(start)) throw new CommandError(`cannot read ${directory}: no such file or directory`);
  const file = join(start, TOOL_LOCK);
  const isAbove = ({ path }: Project): boolean => `${start}${sep}`.startsWith(withSeparator(dirname(path)));
  const projects = projectSettings(file).filter((project) => isAbove(project) && hasServers(project));
  if (projects.length === 0) {
    throw new CommandError(`no ngraph.json with \`servers\` in ${directory} or above it`, {
      help: 'add {"servers": {"docs": {"url": "https://…"}}}',
    });
  }
  const allow = allowedEffects(undefined, file);
  const reports = await withInterruption(async (signal) => {
    const all = {
      load: importOptional(file),
      allow,
      environment: process.env,
      timeout: options.timeout * 1000,
      signal,
    };
    const done = [];
    for (const project of projects) {
      const found = await listServers(project, all);
      if (signal.aborted) return undefined;
      done.push(writeLock(project, found, options, output));
    }
    return done;
  });
  if (reports === undefined) return EXIT.interrupted;
  output.document({ version: 1, ok: reports.every(({ ok }) => ok), files: reports });
  return reports.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
}

function hasServers({ servers = {} }: Project): boolean {
  return Object.keys(servers).length > 0;
}

function withSeparator(path: string): string {
  return path.endsWith(sep) ? path : `${path}${sep}`;
}

/** One server after the other: a server that prints without end would keep others from answering in time. */
async function listServers({ servers = {} }: Project, options: ListOptions): Promise<ReadonlyMap<string, ServerTools>> {
  const found = new Map<string, ServerTools>();
  for (const [name, server] of Object.entries(servers)) {
    if (options.signal.aborted) break;
    found.set(name, await listTools(name, server, options));
  }
  return found;
}

function writeLock(
  project: Project,
  found: ReadonlyMap<string, ServerTools>,
  { check = false }: SyncOptions,
  output: Output,
): LockReport {
  const path = join(dirname(project.path), TOOL_LOCK);
  const shown = relative(process.cwd(), path);
  if (!check) refuseLinksOut([path]);
  const { before, problem, isNewer } = readLock(path);
  if (isNewer === true) {
    throw new CommandError(`${shown} is of a later version of ngraph: ${problem}`, { help: "update ngraph" });
  }
  if (problem !== undefined) output.note(`${shown} is not a lock file: ${problem}`);
  const after = new Map<string, Tools>();
  const reports: ServerReport[] = [];
  for (const [name, listed] of found) {
    const former = before.get(name);
    const tools = listed.tools ?? former;
    if (tools !== undefined) after.set(name, tools);
    reports.push(reportServer(name, listed, former));
  }
  const gone = [...before.keys()].filter((name) => !found.has(name));
  const isStale = problem !== undefined || lockText(before) !== lockText(after);
  const isMissing = !existsSync(path);
  if (!check && (isStale || isMissing) && after.size > 0) writeAtomically(path, lockText(after));
  printReports(reports, gone, output);
  const status = !isStale && !isMissing ? "unchanged" : check ? (isMissing ? "missing" : "stale") : "written";
  if (check && status !== "unchanged") {
    output.problem(`${output.stderrStyles.error("error")}: ${shown} is ${status}: run \`ngc tools sync\``);
  } else if (after.size > 0) output.result(`${status === "written" ? "wrote" : "unchanged:"} ${shown}`);
  const ok = reports.every((report) => report.problem === null) && (!check || status === "unchanged");
  return {
    path: shown,
    status: after.size === 0 && !check ? "unchanged" : status,
    ok,
    servers: reports,
    removed: gone,
  };
}

/** The lock file as it is. A broken one counts as empty. */
function readLock(path: string): {
  readonly before: ReadonlyMap<string, Tools>;
  readonly problem?: string;
  readonly isNewer?: boolean;
} {
  if (!existsSync(path)) return { before: new Map() };
  const { servers, problem, isNewer = false } = parseToolLock(readSource(path));
  if (problem !== undefined) return { before: new Map(), problem, isNewer };
  return { before: new Map([...servers!].map(([name, tools]) => [name, Object.fromEntries(tools)])) };
}

/** The text of a lock file. Equal tools have equal texts. */
function lockText(servers: ReadonlyMap<string, Tools>): string {
  const content = {
    version: TOOL_LOCK_VERSION,
    servers: Object.fromEntries([...servers].map(([name, tools]) => [name, { tools }])),
  };
  return escapeJson(`${JSON.stringify(JSON.parse(canonicalJson(content)), null, 2)}\n`);
}

function reportServer(name: string, listed: ServerTools, former: Tools | undefined): ServerReport {
  const tools = listed.tools ?? former;
  const before = new Map(Object.entries(former ?? {}));
  const after = new Map(Object.entries(tools ?? {}));
  const isChanged = (tool: string): boolean => canonicalJson(before.get(tool)) !== canonicalJson(after.get(tool));
  return {
    name,
    tools: tools === undefined ? null : after.size,
    added: [...after.keys()].filter((tool) => !before.has(tool)).sort(),
    removed: [...before.keys()].filter((tool) => !after.has(tool)).sort(),
    changed: [...after.keys()].filter((tool) => before.has(tool) && isChanged(tool)).sort(),
    problem: listed.problem ?? null,
  };
}

/** A name that a server has chosen, in one line. */
function shownName(name: string): string {
  return JSON.stringify(name).slice(1, -1);
}

function printReports(reports: readonly ServerReport[], gone: readonly string[], output: Output): void {
  for (const { name, tools, added, removed, changed, problem } of reports) {
    if (problem !== null) {
      const named = problem.startsWith("the MCP server ") ? problem : `the MCP server \`${name}\`: ${problem}`;
      output.problem(`${output.stderrStyles.error("error")}: ${named}`);
      if (tools === null) continue;
    }
    const changes = [
      ...(added.length === 0 ? [] : [`new: ${listNames(added.map(shownName))}`]),
      ...(changed.length === 0 ? [] : [`changed: ${listNames(changed.map(shownName))}`]),
      ...(removed.length === 0 ? [] : [`removed: ${listNames(removed.map(shownName))}`]),
    ];
    output.note(
      `${name}: ${tools} tool${tools === 1 ? "" : "s"}${changes.length === 0 ? "" : `; ${changes.join("; ")}`}`,
    );
  }
  for (const name of gone) output.note(`${name}: removed, ngraph.json does not name it`);
}
