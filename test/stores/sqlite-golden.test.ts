/**
 * Stores that earlier versions have written, and what they held. `golden/schema-N.db` was written when schema version N was
 * new, and is never written again: a version that cannot read it has lost its users' runs.
 */
import { copyFileSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { SCHEMA_VERSION } from "../../runtime/stores/sqlite/schema.ts";
import { readStore } from "./content.ts";
import { FAST_DIRECTORY, temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory(FAST_DIRECTORY);
const versions = Array.from({ length: SCHEMA_VERSION }, (_, index) => index + 1);

it.each(versions)("5.11 a store of schema version %i is read, and written on", async (version) => {
  const path = inDirectory("runs.db");
  copyFileSync(golden(`schema-${version}.db`), path);
  const expected = JSON.parse(readFileSync(golden(`schema-${version}.json`), "utf8")) as Record<string, string>;
  const store = new SqliteStore(path);
  const answers = await readStore(store);
  for (const [question, answer] of Object.entries(expected)) {
    expect(plain(answers.get(question)!), question).toEqual(plain(answer));
  }
  const head = store.loadLatest("first")!;
  const claim = store.claim("first", { owner: "now", leaseMs: 1000 });
  const { values, versions: counts, ...header } = head;
  store.save(claim, {
    header: { ...header, id: "now", parentId: head.id },
    changes: [{ channel: "log", version: counts["log"]! + 1, kind: "append", items: ["now"] }],
    snapshot: () => ({ values, versions: counts }),
    expectedHead: head.id,
  });
  expect(store.loadLatest("first")?.values["log"]).toEqual([...(values["log"] as unknown[]), "now"]);
  store.close();
});

function golden(name: string): string {
  return fileURLToPath(new URL(`golden/${name}`, import.meta.url));
}

function plain(answer: string): unknown {
  return answer.startsWith("{") || answer.startsWith("[") ? JSON.parse(answer) : answer;
}
