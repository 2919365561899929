import { chmodSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { CommandError } from "../process/command-error.ts";
import { makeDirectory } from "./make-directory.ts";
import { reasonOf } from "../sources/source-files.ts";

/**
 * Writes a temporary file beside the target and renames it, so that readers never see an incomplete file. Keeps permissions, writes
 * through a symbolic link, and creates missing directories. A device or a pipe is written directly: the renamed file would replace it.
 */
export function writeAtomically(path: string, text: string | Uint8Array): void {
  let temporary: string | undefined;
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile() && !found.isDirectory()) {
      writeFileSync(path, text);
      return;
    }
    const target = existing(path);
    makeDirectory(dirname(target));
    temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
    writeFileSync(temporary, text);
    if (found !== undefined) chmodSync(temporary, found.mode & 0o7777);
    renameSync(temporary, target);
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { force: true });
    throw new CommandError(`cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Refuses an output file that is the source itself, also by another path. @throws CommandError */
export function refuseSource(output: string | undefined, source: string, option = "-o"): void {
  if (output === undefined || existing(resolve(output)) !== existing(resolve(source))) return;
  throw new CommandError(`${option} ${output} would replace the source ${source}`, { help: "name another file" });
}

function existing(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
