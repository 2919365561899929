/** What a crash leaves behind: the state before an operation, or the one after it. */
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { fillStore, readStore } from "./content.ts";
import { runProgram } from "./program.ts";
import { watchStatements } from "./statements.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory();

describe.each(["wal", "rollback"] as const)("5.3 a crash (%s)", (journal) => {
  it("before any statement leaves an operation undone or done, never half", async () => {
    const states = await statesOf();
    const path = inDirectory("runs.db");
    const store = new SqliteStore({ path, journal });
    let done = 0;
    const crashes: { readonly at: string; readonly done: number }[] = [];
    // A process that ends now leaves the files as they are now.
    const restore = watchStatements(() => {
      const at = inDirectory(String(crashes.length));
      mkdirSync(at);
      for (const end of ["", "-wal", "-journal"]) {
        if (existsSync(path + end)) copyFileSync(path + end, join(at, `runs.db${end}`));
      }
      crashes.push({ at, done });
    });
    try {
      await fillStore(store, (operation) => (done = operation));
    } finally {
      restore();
    }
    store.close();
    expect(crashes.length).toBeGreaterThan(90);
    for (const crash of crashes) {
      const after = new SqliteStore({ path: join(crash.at, "runs.db"), journal });
      const answers = await readStore(after);
      after.close();
      expect([states[crash.done], states[crash.done + 1]]).toContainEqual(answers);
    }
  });

  it("of the process keeps everything acknowledged, and the thread is free at once", async () => {
    const states = await statesOf();
    for (const dieAt of [10, 23, 36, 49, 62, 77, 90]) {
      const path = inDirectory(`${dieAt}.db`);
      const program = runProgram("fill-and-die", path, journal, String(dieAt));
      let acknowledged = 0;
      for (let line = await program.line(); line !== undefined; line = await program.line())
        acknowledged = Number(line);
      expect(await program.ended).toBe("SIGKILL");
      const store = new SqliteStore({ path, journal });
      const answers = await readStore(store);
      expect([states[acknowledged], states[acknowledged + 1]]).toContainEqual(answers);
      // The dead process claimed the thread for a minute, and the test does not wait for it.
      expect((await SampleRun.start(store, "first", "heir")).claim.epoch).toBeGreaterThan(0);
      store.close();
    }
  });
});

it("5.3 a process that is killed while it writes loses nothing that it has acknowledged", async () => {
  const path = inDirectory("runs.db");
  const program = runProgram("append-forever", path);
  let acknowledged = -1;
  const counter = (async () => {
    for (let line = await program.line(); line !== undefined; line = await program.line()) {
      acknowledged = Number(line);
      if (acknowledged === 150) program.process.kill("SIGKILL");
    }
  })();
  expect(await program.ended).toBe("SIGKILL");
  await counter;
  const store = new SqliteStore(path);
  const history = store.list("thread", { limit: 100_000 });
  expect(history.length - 1 - acknowledged).toBeOneOf([0, 1]);
  for (const [age, { values }] of history.entries()) {
    const last = history.length - 1 - age;
    expect(values).toEqual({ last, log: Array.from({ length: last + 1 }, (_, n) => n) });
  }
  store.close();
});

/** The readable content of the store after each operation; the first entry is the empty store. */
async function statesOf(): Promise<readonly ReadonlyMap<string, string>[]> {
  const store = new SqliteStore(":memory:");
  const states = [await readStore(store)];
  await fillStore(store, async () => states.push(await readStore(store)));
  store.close();
  return states;
}
