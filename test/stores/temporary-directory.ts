import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** A directory for each test of the file; gives the path of something in it. */
export function temporaryDirectory(): (name: string) => string {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "ngraph-stores-"));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));
  return (name) => join(directory, name);
}
