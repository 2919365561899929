/** The settings of a project: the files `ngraph.json` above the graph and above the working directory. */
import { statSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { printable } from "../../diagnostics/render/index.ts";
import { findSimilar } from "../../diagnostics/similar.ts";
import type { Effect } from "../../runtime/table/effects.ts";
import { problemOfSettings, type ModelSettings } from "../../stdlib/llm/model-settings.ts";
import { problemOfServer, type ServerSettings } from "../../stdlib/mcp/server-settings.ts";
import { CommandError } from "../process/command-error.ts";
import { readSource, reasonOf } from "../sources/source-files.ts";
import { parseEffect } from "./parse-effect.ts";

/** The name of the file with the settings of a project. */
export const PROJECT_FILE = "ngraph.json";

/** The fields of one file. */
interface ProjectSettings {
  readonly path: string;
  readonly allow?: readonly Effect[];
  /** Models for `llm`, by name. */
  readonly models?: Readonly<Record<string, ModelSettings>>;
  /** MCP servers, by name. */
  readonly servers?: Readonly<Record<string, ServerSettings>>;
}

/**
 * The settings in all files, the nearest to the graph first.
 *
 * @param file the graph's file
 * @throws CommandError for a file that cannot be read
 */
export function projectSettings(file: string): readonly ProjectSettings[] {
  return [...projectFiles(file)].map(readSettings);
}

/** The models and MCP servers of all files. For a name in several files, the nearest to the graph applies. */
export function namedSettings(file: string): {
  readonly models: Readonly<Record<string, ModelSettings>>;
  readonly servers: Readonly<Record<string, ServerSettings>>;
} {
  const all = projectSettings(file).toReversed();
  return {
    models: Object.assign(Object.create(null), ...all.map(({ models }) => models)) as Record<string, ModelSettings>,
    servers: Object.assign(Object.create(null), ...all.map(({ servers }) => servers)) as Record<string, ServerSettings>,
  };
}

/** The files `ngraph.json` in the directories of the graph and of the process, and in all directories above them. */
function projectFiles(file: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const start of [dirname(resolve(file)), process.cwd()]) {
    for (let directory = start, above = ""; directory !== above; directory = dirname(directory)) {
      above = dirname(directory) === directory ? directory : "";
      const path = join(directory, PROJECT_FILE);
      if (isFile(path)) found.add(path);
    }
  }
  return found;
}

function isFile(path: string): boolean {
  let stat: Stats | undefined;
  try {
    stat = statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOTDIR") return false;
    throw new CommandError(`cannot read ${path}: ${reasonOf(error)}`);
  }
  if (stat === undefined) return false;
  if (!stat.isFile()) throw new CommandError(`cannot read ${path}: it is not a file`);
  return true;
}

const FIELDS = ["allow", "models", "servers"];

function readSettings(path: string): ProjectSettings {
  const text = readSource(path);
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${path} is not valid JSON: ${printable(reason)}`);
  }
  const repeated = repeatedField(text);
  if (repeated !== undefined)
    throw new CommandError(`${path} has the field ${JSON.stringify(repeated)} twice`, { help: "keep one of them" });
  if (!isObject(settings))
    throw new CommandError(`${path} must be a JSON object`, { help: 'write {"allow": ["net:api.example.com"]}' });
  const unknown = Object.keys(settings).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) {
    const similar = findSimilar(unknown, FIELDS);
    throw new CommandError(`${path} has the unknown field ${JSON.stringify(unknown)}`, {
      help: similar === undefined ? `the fields are ${FIELDS.join(", ")}` : `did you mean \`${similar}\`?`,
    });
  }
  const { allow, models, servers } = settings;
  return {
    path,
    ...(allow === undefined ? {} : { allow: readAllow(path, allow) }),
    ...(models === undefined ? {} : { models: readNamed(path, "models", models, problemOfSettings) }),
    ...(servers === undefined ? {} : { servers: readServers(path, servers) }),
  };
}

function readAllow(path: string, allow: unknown): readonly Effect[] {
  if (!Array.isArray(allow))
    throw new CommandError(`${path}: \`allow\` must be a list of effects`, { help: "[] allows none" });
  return allow.map((effect) => parseEffect(`${path}: \`allow\``, String(effect)));
}

/** Servers, with directories relative to the file. */
function readServers(path: string, given: unknown): Readonly<Record<string, ServerSettings>> {
  const servers = readNamed<ServerSettings>(path, "servers", given, problemOfServer);
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      "command" in server ? { ...server, cwd: resolve(dirname(path), server.cwd ?? ".") } : server,
    ]),
  );
}

/** A field whose value has a field for each name. @param problemOf describes an invalid value */
function readNamed<T>(
  path: string,
  field: "models" | "servers",
  given: unknown,
  problemOf: (value: unknown) => string | undefined,
): Readonly<Record<string, T>> {
  const what = field.slice(0, -1);
  if (!isObject(given)) {
    throw new CommandError(`${path}: \`${field}\` must be an object with a field for each ${what}`, {
      help:
        field === "models"
          ? 'write {"models": {"default": {"provider": "anthropic", "model": "…"}}}'
          : 'write {"servers": {"docs": {"url": "https://…"}}}',
    });
  }
  for (const [name, value] of Object.entries(given)) {
    const problem = problemOf(value);
    if (problem !== undefined) throw new CommandError(`${path}: the ${what} ${JSON.stringify(name)}: ${problem}`);
  }
  return given as Readonly<Record<string, T>>;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The first field that an object of a JSON text has twice. `JSON.parse` keeps the last one, and a reader of the file may see the
 * other.
 *
 * @param json a valid JSON text
 */
function repeatedField(json: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, colon] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[[\]{}]/g)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(token.slice(0, -colon.length)) as string;
      if (open.at(-1)?.has(name) === true) return name;
      open.at(-1)?.add(name);
    }
  }
  return undefined;
}
