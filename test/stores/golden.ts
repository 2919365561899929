/** What every later version must make of a store that an earlier one has written. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Store } from "../../runtime/store.ts";
import { readStore } from "./content.ts";

export function golden(name: string): string {
  return fileURLToPath(new URL(`golden/${name}`, import.meta.url));
}

/** The store answers as it did when it was written, and can be written on. Its content is that of `fillStore`. */
export async function expectGolden(store: Store, version: number): Promise<void> {
  const expected = JSON.parse(readFileSync(golden(`schema-${version}.json`), "utf8")) as Record<string, string>;
  const answers = await readStore(store);
  for (const [question, answer] of Object.entries(expected)) {
    expect(plain(answers.get(question)!), question).toEqual(plain(answer));
  }
  const { values, versions, ...header } = (await store.loadLatest("first"))!;
  const claim = await store.claim("first", { owner: "now", leaseMs: 1000 });
  await store.save(claim, {
    header: { ...header, id: "now", parentId: header.id },
    changes: [{ channel: "log", version: versions["log"]! + 1, kind: "append", items: ["now"] }],
    snapshot: () => ({ values, versions }),
    expectedHead: header.id,
  });
  const saved = await store.loadLatest("first");
  expect(saved?.id).toBe("now");
  expect(saved?.values["log"]).toEqual([...(values["log"] as unknown[]), "now"]);
}

function plain(answer: string): unknown {
  return answer.startsWith("{") || answer.startsWith("[") ? JSON.parse(answer) : answer;
}
