/** What every later version must read from a store that an earlier version has written. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { createEngine, type NodeContext, type Table } from "../../runtime/index.ts";
import { TABLE_VERSION } from "../../runtime/table/table.ts";
import type { Store } from "../../runtime/interface/store.ts";
import { readStore } from "./content.ts";

export function golden(name: string): string {
  return fileURLToPath(new URL(`golden/${name}`, import.meta.url));
}

/** The store returns what it returned when it was written, and accepts writes. Its content is that of `fillStore`. */
export async function expectGolden(store: Store, version: number): Promise<void> {
  const expected = JSON.parse(readFileSync(golden(`schema-${version}.json`), "utf8")) as Record<string, string>;
  const answers = await readStore(store);
  for (const [question, answer] of Object.entries(expected)) {
    // Later versions may add fields to what they list.
    if (question.endsWith("threads"))
      expect(plain(answers.get(question)!), question).toMatchObject(plain(answer) as object);
    else expect(plain(answers.get(question)!), question).toEqual(plain(answer));
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

/**
 * The runs of `runs-N` resume: `paused` waits for an answer after two nodes and a called graph have run; `crashed` (if
 * it exists)
 * had its answer, and was about to run the last node when its process ended. No body that has finished runs again (5.5).
 */
export async function expectGoldenRuns(store: Store): Promise<void> {
  // The graph, compiled again for this version of tables. The threads know the digest of the old table.
  const current = (key: string, value: unknown): unknown => (key === "version" ? TABLE_VERSION : value);
  const table = JSON.parse(readFileSync(golden("runs-table.json"), "utf8"), current) as Table;
  const ran: string[] = [];
  const functions = {
    work: (name: string) => {
      ran.push(name);
      return [name];
    },
    approve: (context: NodeContext) => context.interrupt<string>({ ask: "may I?" }),
  };
  const engine = createEngine(table, { store, functions, graphs: { child: { functions } } });
  for (const { threadId } of await store.threads!()) {
    const state = (await engine.state(threadId))!;
    const isPaused = state.pauses.length > 0;
    const { status } = await engine.resume(threadId, isPaused ? { answer: "yes" } : {});
    expect(status, threadId).toBe("completed");
    const values = (await store.loadLatest(threadId))?.values;
    expect(values, threadId).toEqual({ log: ["a", "b", "last"], trail: ["c1", "c2"], answer: "yes" });
    expect(ran.splice(0), threadId).toEqual(["last"]);
  }
}

function plain(answer: string): unknown {
  return answer.startsWith("{") || answer.startsWith("[") ? JSON.parse(answer) : answer;
}
