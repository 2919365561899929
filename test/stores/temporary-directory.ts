import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** Where many small transactions cost nothing: in memory, where the system has such a place. For tests that end no machine. */
export const FAST_DIRECTORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A directory for each test of the file; gives the path of something in it. */
export function temporaryDirectory(root = tmpdir()): (name: string) => string {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(root, "ngraph-stores-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  return (name) => join(directory, name);
}
