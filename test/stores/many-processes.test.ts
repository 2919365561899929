/**
 * 5.6 Several processes on one thread: one runs it, and the others are refused. If it dies or stops, one of the others
 * takes over.
 */
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, it, vi } from "vitest";
import { openStore } from "../fault/kill-store.ts";
import { tableOf } from "../support/graph.ts";
import { PostgresServer } from "./postgres-server.ts";
import { runProgram, type RunningProgram } from "./program.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const PROCESSES = 8;
const STEPS = Array.from({ length: PROCESSES + 1 }, (_, index) => `s${index}`);
const table = tableOf(
  `graph g { output log: string[] reduce append
     ${STEPS.map((name) => `node ${name} = stop("${name}") into log`).join("\n")}
     start -> ${STEPS.join(" -> ")} }`,
  ["stop"],
);

const inDirectory = temporaryDirectory();
let server: PostgresServer | undefined;
let schemas = 0;
afterAll(() => server?.dispose());

/** A location for each test, in both stores. */
const PLACES = [
  ["SQLite", async () => inDirectory("runs.db")],
  ["Postgres", async () => `${(server ??= await PostgresServer.start()).url}#many_${++schemas}`],
] as const;

describe.each(PLACES)("5.6 eight processes on one thread: %s", (_, nextPlace) => {
  it(
    "one runs it, and the others are refused; if it dies, one of the others takes over",
    { timeout: 300_000 },
    async () => {
      await race(await nextPlace());
    },
  );

  it("run, resume, edit, fork and abandon it", { timeout: 300_000 }, async () => {
    const place = await nextPlace();
    const rivals = await startRivals(place);
    const [holder, ...others] = rivals as [RunningProgram, ...RunningProgram[]];
    tell(holder, "try");
    expect(await holder.line()).toBe("at s0");
    tell(holder, "step");
    expect(await holder.line()).toBe("at s1");
    const wants = ["run", "resume", "update", "fork", "abandon", "resume", "update"];
    for (const [index, other] of others.entries()) tell(other, wants[index]!);
    for (const other of others) expect(await other.line()).toBe("NG_THREAD_CONFLICT");
    const store = openStore(place);
    expect((await store.list("thread")).map(({ step, phase }) => `${step} ${phase}`)).toEqual([
      "0 completed",
      "-1 input",
    ]);
    // After the kill, the first process takes over, and the checkpoints still form one chain.
    holder.process.kill("SIGKILL");
    await holder.ended;
    for (const other of others.slice(1, 4)) tell(other, ["resume", "update", "fork"][others.indexOf(other) - 1]!);
    const answers = await Promise.all(others.slice(1, 4).map((other) => other.line()));
    for (const answer of answers) expect(["at s1", "updated", "forked", "NG_THREAD_CONFLICT"]).toContain(answer);
    expect(answers.some((answer) => answer !== "NG_THREAD_CONFLICT")).toBe(true);
    for (const { process, ended } of others) {
      process.kill("SIGKILL");
      await ended;
    }
    // The server may still finish the last statement of a killed process.
    await vi.waitFor(() => expectOneChain(store), { timeout: 60_000 });
    await store.close();
  });

  it(
    "a process that was stopped until its lease expired writes nothing when it continues",
    { timeout: 300_000 },
    async () => {
      const place = await nextPlace();
      const [stopped, heir] = (await startRivals(place, 2, 3000)) as [RunningProgram, RunningProgram];
      tell(stopped, "try");
      expect(await stopped.line()).toBe("at s0");
      stopped.process.kill("SIGSTOP");
      expect(await resumeLater(heir)).toBe("at s0");
      // Its node finishes before the process notices that another process owns the thread.
      tell(stopped, "step");
      stopped.process.kill("SIGCONT");
      expect(await stopped.line()).toBe("NG_THREAD_CONFLICT");
      const store = openStore(place);
      const [head] = await store.list("thread");
      expect(head?.phase).toBe("input");
      expect(await store.getWrites("thread", head!.id)).toEqual([]);
      for (let n = 1; n < STEPS.length; n++) {
        tell(heir, "step");
        expect(await heir.line()).toBe(`at s${n}`);
      }
      tell(heir, "step");
      expect(await heir.line()).toBe("completed");
      const log = STEPS.map((name) => `${name} by ${heir.process.pid}`);
      expect((await store.loadLatest("thread"))?.values).toEqual({ log });
      await expectOneChain(store);
      await store.close();
      for (const { process, ended } of [stopped, heir]) {
        process.stdin!.end();
        await ended;
      }
    },
  );

  it(
    "a runner on another machine keeps the thread until its lease expires, dead or not",
    { timeout: 300_000 },
    async () => {
      const place = await nextPlace();
      const [far] = (await onAnotherMachine(() => startRivals(place, 1, LEASE_MS))) as [RunningProgram];
      const [near] = (await startRivals(place, 1)) as [RunningProgram];
      tell(far, "try");
      expect(await far.line()).toBe("at s0");
      far.process.kill("SIGKILL");
      await far.ended;
      tell(near, "resume");
      expect(await near.line()).toBe("NG_THREAD_CONFLICT");
      expect(await resumeLater(near)).toBe("at s0");
      near.process.kill("SIGKILL");
      await near.ended;
    },
  );
});

/** Much longer than the end of one process and an attempt of another. */
const LEASE_MS = 8000;

/** Processes that start while this runs have another host name. */
async function onAnotherMachine<T>(start: () => Promise<T>): Promise<T> {
  const before = process.env["NODE_OPTIONS"];
  const code = `import os from "node:os"; import { syncBuiltinESMExports } from "node:module"; os.hostname = () => "elsewhere"; syncBuiltinESMExports();`;
  process.env["NODE_OPTIONS"] = `--import=data:text/javascript,${encodeURIComponent(code)}`;
  try {
    return await start();
  } finally {
    if (before === undefined) delete process.env["NODE_OPTIONS"];
    else process.env["NODE_OPTIONS"] = before;
  }
}

async function startRivals(place: string, count = PROCESSES, leaseMs = 30_000): Promise<RunningProgram[]> {
  const tableFile = inDirectory("table.json");
  writeFileSync(tableFile, JSON.stringify(table));
  const rivals = Array.from({ length: count }, () => runProgram("stepper", place, tableFile, String(leaseMs)));
  for (const { line } of rivals) expect(await line()).toBe("ready");
  return rivals;
}

function tell({ process }: RunningProgram, line: string): void {
  process.stdin!.write(`${line}\n`);
}

/** Resumes the thread when its lease has expired. */
async function resumeLater(program: RunningProgram): Promise<string | undefined> {
  for (;;) {
    tell(program, "resume");
    const answer = await program.line();
    if (answer !== "NG_THREAD_CONFLICT") return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function race(place: string): Promise<void> {
  let living = await startRivals(place);
  const winners: number[] = [];
  for (let round = 0; living.length > 0; round++) {
    for (const rival of living) tell(rival, "try");
    const answers = await Promise.all(living.map(({ line }) => line()));
    expect(answers.toSorted()).toEqual([...living.slice(1).map(() => "NG_THREAD_CONFLICT"), `at s${round}`]);
    const winner = living[answers.indexOf(`at s${round}`)]!;
    winners.push(winner.process.pid!);
    winner.process.stdin!.write("step\n");
    expect(await winner.line()).toBe(`at s${round + 1}`);
    living = living.filter((program) => program !== winner);
    if (living.length > 0) {
      // Its next node has begun and is not finished: the next winner runs it again.
      winner.process.kill("SIGKILL");
    } else {
      winner.process.stdin!.write("step\n");
      expect(await winner.line()).toBe("completed");
      winner.process.stdin!.end();
    }
    await winner.ended;
  }
  const store = openStore(place);
  const history = await store.list("thread");
  // Each step ran once, in the process that owned the thread; the checkpoints form one chain without branches.
  const log = STEPS.map((name, index) => `${name} by ${winners[Math.min(index, PROCESSES - 1)]}`);
  expect(history[0]).toMatchObject({ status: "completed", values: { log } });
  expect(history.map(({ step }) => step)).toEqual([-1, ...STEPS.keys()].toReversed());
  await expectOneChain(store);
  await store.close();
}

async function expectOneChain(store: ReturnType<typeof openStore>): Promise<void> {
  const history = await store.list("thread");
  for (const [index, { parentId }] of history.entries()) expect(parentId).toBe(history[index + 1]?.id ?? null);
  expect((await store.threads())[0]?.checkpoints).toBe(history.length);
}
