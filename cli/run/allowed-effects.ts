/** The effects that a user allows: the flag `--allow`, and `allow` in the files `ngraph.json` above the graph and above the working directory. */
import { statSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { findSimilar } from "../../diagnostics/similar.ts";
import { effectOfHost, GENERAL_EFFECTS, intersectEffects, type Effect } from "../../runtime/table/effects.ts";
import { CommandError } from "../process/command-error.ts";
import { readSource, reasonOf } from "../sources/source-files.ts";

/** The name of the file with the settings of a project. */
export const PROJECT_FILE = "ngraph.json";

/** The effects in help texts. */
export const EFFECT_NAMES = `${GENERAL_EFFECTS.join(",")}, net:HOST for one host,`;

/**
 * Reads an effect: `shell`, `net:api.example.com`, `net:*.example.com`.
 *
 * @param where names the place of the text in messages
 */
export function parseEffect(where: string, text: string): Effect {
  const general = GENERAL_EFFECTS.find((effect) => effect === text);
  if (general !== undefined) return general;
  if (text.startsWith("net:")) {
    const effect = effectOfHost(text.slice(4));
    if (effect !== undefined) return effect;
    throw new CommandError(`${where}: \`${text}\` does not name a host`, {
      help: "write net:api.example.com, net:localhost:8080, or net:*.example.com for each name below a host",
    });
  }
  const similar = findSimilar(text, GENERAL_EFFECTS);
  throw new CommandError(`${where} takes ${GENERAL_EFFECTS.join(", ")} and net:HOST, not \`${text}\``, {
    help: similar === undefined ? undefined : `did you mean \`${similar}\`?`,
  });
}

/**
 * The effects that `--allow` and each `ngraph.json` allow together; `undefined` if none of them restricts effects. A file can only
 * restrict, so a directory that holds untrusted graphs cannot allow more than the directories above it.
 *
 * @param file the graph's file
 * @throws CommandError for a file that cannot be read
 */
export function allowedEffects(flag: readonly Effect[] | undefined, file: string): readonly Effect[] | undefined {
  let allow = flag;
  for (const path of projectFiles(file)) {
    const own = readAllow(path);
    if (own !== undefined) allow = allow === undefined ? own : intersectEffects(allow, own);
  }
  return allow;
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

function readAllow(path: string): readonly Effect[] | undefined {
  let settings: unknown;
  try {
    settings = JSON.parse(readSource(path));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (typeof settings !== "object" || settings === null || Array.isArray(settings))
    throw new CommandError(`${path} must be a JSON object`, { help: 'write {"allow": ["net:api.example.com"]}' });
  const unknown = Object.keys(settings).find((name) => name !== "allow");
  if (unknown !== undefined)
    throw new CommandError(`${path} has the unknown field ${JSON.stringify(unknown)}`, {
      help: "`allow` is the only field",
    });
  const { allow } = settings as { readonly allow?: unknown };
  if (allow === undefined) return undefined;
  if (!Array.isArray(allow))
    throw new CommandError(`${path}: \`allow\` must be a list of effects`, { help: "[] allows none" });
  return allow.map((effect) => parseEffect(`${path}: \`allow\``, String(effect)));
}
