import { lstatSync, realpathSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { CommandError } from "../process/command-error.ts";

/**
 * The reason not to write a file that the user has not named: it is a symbolic link that leads out of the working directory and out
 * of the link's own directory. A checked-out tree can contain such a link, for example at the name of a generated module.
 */
export function linkOut(path: string): string | undefined {
  const target = linkTarget(path);
  if (target === undefined) return undefined;
  if ([process.cwd(), dirname(resolve(path))].some((root) => isInside(target, realpathSync(root)))) return undefined;
  return `cannot write ${path}: it is a symbolic link to ${target}, outside of the working directory`;
}

/** Refuses to write such files. @throws CommandError before any file is written */
export function refuseLinksOut(paths: readonly string[]): void {
  for (const path of paths) {
    const reason = linkOut(path);
    if (reason !== undefined) {
      throw new CommandError(reason, { help: "remove the link, or name the file that it leads to" });
    }
  }
}

/** The existing file that a symbolic link leads to. A link to a missing file is replaced when it is written. */
function linkTarget(path: string): string | undefined {
  try {
    return lstatSync(path).isSymbolicLink() ? realpathSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function isInside(path: string, root: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}
