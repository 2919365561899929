import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/**
 * A directory in memory if the system has one: many small transactions are cheap there. For tests that do not simulate
 * a power cut.
 */
export const FAST_DIRECTORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A directory for each test of the file; returns the path of a name in it. */
export function temporaryDirectory(root = tmpdir()): (name: string) => string {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(root, "ngraph-stores-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  return (name) => join(directory, name);
}
