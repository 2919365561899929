/** The helpers of `ngraph/stores/contract` and the cases about crashes, with a store of another author. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  cutLastWrite,
  describeStore,
  storeConformance,
  type StoreUnderTest,
} from "../../runtime/stores/conformance/conformance.ts";
import { type IncompleteLine, JsonLinesStore } from "./json-lines-store.ts";
import { FAST_DIRECTORY } from "./temporary-directory.ts";

function jsonLines(incomplete?: IncompleteLine): StoreUnderTest {
  const directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-lines-"));
  const open = (folder: string): JsonLinesStore => new JsonLinesStore(join(folder, "runs.jsonl"), incomplete);
  const store = open(directory);
  return {
    store,
    reopen: () => {
      store.close();
      return open(directory);
    },
    crash: cutLastWrite(directory, open),
    dispose: () => rmSync(directory, { recursive: true, force: true }),
  };
}

describeStore({ describe, it }, "a store that appends lines to a file", () => jsonLines());

describe("the suite finds a store that", () => {
  const torn = storeConformance.filter(({ needs }) => needs.includes("crash"));

  it("parses a line that was not written to its end", async () => {
    await expect(torn[0]!.run(() => jsonLines("parse"))).rejects.toThrow(
      /expected the state before or after it, or a StoreError, got SyntaxError/,
    );
    await expect(torn[1]!.run(() => jsonLines("parse"))).rejects.toThrow("got SyntaxError");
  });

  it("appends to a line that was not written to its end", async () => {
    await expect(torn[0]!.run(() => jsonLines("keep"))).rejects.toThrow(/line \d+ in table `lines` cannot be trusted/);
  });
});
