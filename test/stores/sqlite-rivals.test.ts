/** Several processes on one file. */
import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { SampleRun } from "../../runtime/stores/conformance/sample-run.ts";
import { hasExited, thisProcess } from "../../runtime/stores/contract/holder-process.ts";
import { SqliteStore } from "../../runtime/stores/sqlite.ts";
import { runProgram } from "./program.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const inDirectory = temporaryDirectory();

it("5.6 one of the processes that claim a thread together wins; when it dies, the next takes over at once", async () => {
  const path = inDirectory("runs.db");
  const rivals = ["a", "b", "c"].map((owner) => ({ owner, program: runProgram("rival", path, owner) }));
  // All open the same new file at once: one of them creates it.
  expect(await Promise.all(rivals.map(({ program }) => program.line()))).toEqual(["ready", "ready", "ready"]);
  for (const { program } of rivals) program.process.stdin!.write("go\n");
  const results = await Promise.all(rivals.map(async (rival) => ({ ...rival, result: await rival.program.line() })));
  expect(results.map(({ result }) => result).sort()).toEqual(["NG_THREAD_CONFLICT", "NG_THREAD_CONFLICT", "won"]);

  const winner = results.find(({ result }) => result === "won")!;
  const store = new SqliteStore(path);
  expect(store.loadLatest("thread")?.values).toEqual({ owner: winner.owner });
  expect(() => store.claim("thread", { owner: "heir", leaseMs: 1000 })).toThrow(
    expect.objectContaining({
      code: "NG_THREAD_CONFLICT",
      message: expect.stringContaining(String(winner.program.process.pid)),
    }),
  );
  winner.program.process.kill("SIGKILL");
  await winner.program.ended;
  expect(store.claim("thread", { owner: "heir", leaseMs: 1000 }).owner).toBe("heir");
  store.close();
  for (const { program } of rivals) program.process.stdin!.end();
  await Promise.all(rivals.map(({ program }) => program.ended));
});

it("5.6 a runner that is alive keeps the thread until its lease expires", async () => {
  let now = 1_000_000;
  const store = new SqliteStore({ path: ":memory:", now: () => now });
  await SampleRun.start(store);
  now += 59_999;
  expect(() => store.claim("thread", { owner: "heir", leaseMs: 1000 })).toThrow("is being run by owner (process");
  now += 1;
  expect(store.claim("thread", { owner: "heir", leaseMs: 1000 }).owner).toBe("heir");
  store.close();
});

it("a process counts as dead only if that is certain", () => {
  const here = thisProcess();
  const { pid } = spawnSync(process.execPath, ["--version"]);
  expect(hasExited(here)).toBe(false);
  expect(hasExited({ ...here, pid })).toBe(true);
  expect(hasExited({ ...here, pid, host: "elsewhere" })).toBe(false);
  // Process 1 is alive, and belongs to another user unless tests run as root.
  expect(hasExited({ ...here, pid: 1, started: "" })).toBe(false);
});

it.runIf(thisProcess().started !== "")("a process counts as dead if its id belongs to a newer process", () => {
  expect(hasExited({ ...thisProcess(), started: "1" })).toBe(true);
});
