/**
 * The lock files of MCP tools: `ngc tools sync` writes the schemas of a project's tools beside its `ngraph.json`, and the compiler checks
 * calls against them. It does not read `ngraph.json` and contacts no server.
 */
import type { CompilerHost } from "./host.ts";
import { directoryOf, joinPath, relativeSpecifier } from "./paths.ts";
import { realPathOf } from "./project-root.ts";

/** The name of a lock file. */
export const TOOL_LOCK = "ngraph.lock.json";

/** The version of the file's form. */
export const TOOL_LOCK_VERSION = 1;

/** A tool in a lock file. The schemas come from its server. */
export interface LockedTool {
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
}

export interface ToolLock {
  /** Relative to the graph file. */
  readonly path: string;
  /** The tools of each server; absent where the file is broken. */
  readonly servers?: ReadonlyMap<string, ReadonlyMap<string, LockedTool>>;
  /** Why the file cannot be used. */
  readonly problem?: string;
  /** A later version of ngraph has written the file. */
  readonly isNewer?: boolean;
}

/** The lock files in the directory of a graph file and in all above it, the nearest first. */
export function readToolLocks(path: string, host: CompilerHost): readonly ToolLock[] {
  const locks: ToolLock[] = [];
  const start = realPathOf(directoryOf(path), host);
  for (let at = start, isLast = false; !isLast; at = directoryOf(at)) {
    const file = joinPath(at, TOOL_LOCK);
    const text = host.readFile(file);
    const shown = (): string => relativeSpecifier(start, file).replace(/^\.\//, "");
    if (text !== undefined) locks.push({ path: shown(), ...parseToolLock(text) });
    isLast = directoryOf(at) === at || at === "..";
  }
  return locks;
}

/** Reads a lock file. Never throws. */
export function parseToolLock(text: string): Omit<ToolLock, "path"> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "it is not valid JSON" };
  }
  if (!isObject(value) || !isObject(value["servers"])) return { problem: "it has no `servers`" };
  const { version } = value;
  if (version !== TOOL_LOCK_VERSION) {
    const found = typeof version === "number" ? `${version}` : version === undefined ? "missing" : "no number";
    const isNewer = typeof version === "number" && version > TOOL_LOCK_VERSION;
    return { problem: `its version is ${found}, not ${TOOL_LOCK_VERSION}`, ...(isNewer ? { isNewer } : {}) };
  }
  const servers = new Map<string, ReadonlyMap<string, LockedTool>>();
  for (const [server, settings] of Object.entries(value["servers"])) {
    const tools = isObject(settings) ? settings["tools"] : undefined;
    if (!isObject(tools)) return { problem: `its server ${JSON.stringify(server)} has no \`tools\`` };
    const broken = Object.keys(tools).find((name) => !isTool(tools[name]));
    if (broken !== undefined) {
      return { problem: `the tool ${JSON.stringify(broken)} of ${JSON.stringify(server)} has no \`inputSchema\`` };
    }
    servers.set(server, new Map(Object.entries(tools as Readonly<Record<string, LockedTool>>)));
  }
  return { servers };
}

function isTool(value: unknown): boolean {
  if (!isObject(value) || !isObject(value["inputSchema"])) return false;
  const { description, outputSchema } = value;
  return (
    (description === undefined || typeof description === "string") &&
    (outputSchema === undefined || isObject(outputSchema))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
