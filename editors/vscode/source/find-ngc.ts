import { join } from "node:path";

/** A program and the arguments before its own ones. No shell reads them. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The `ngc` to start: that of the setting, else the one that a workspace folder installs, else the one of the search path. A script runs
 * with Node, because Windows starts no `.cmd` file without a shell.
 */
export function findNgc(
  setting: string | undefined,
  folders: readonly string[],
  exists: (path: string) => boolean,
): Program {
  const given = setting?.trim() ?? "";
  if (given !== "") return programOf(given);
  for (const folder of folders) {
    const script = join(folder, "node_modules", "ngraph", "dist", "cli", "ngc.js");
    if (exists(script)) return programOf(script);
  }
  return programOf("ngc");
}

function programOf(path: string): Program {
  return /\.[cm]?js$/.test(path) ? { command: "node", args: [path] } : { command: path, args: [] };
}
