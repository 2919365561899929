/** 5.6 Eight processes on one thread: one runs it, all others are told so; when it dies, one of those left takes over. */
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { openStore } from "../fault/kill-store.ts";
import { tableOf } from "../support/graph.ts";
import { PostgresServer } from "./postgres-server.ts";
import { runProgram } from "./program.ts";
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
afterAll(() => server?.dispose());

describe("5.6 eight processes on one thread", () => {
  it("SQLite", () => race(inDirectory("runs.db")));

  it("Postgres", async () => {
    server = await PostgresServer.start();
    await race(`${server.url}#many`);
  }, 120_000);
});

async function race(place: string): Promise<void> {
  const tableFile = inDirectory("table.json");
  writeFileSync(tableFile, JSON.stringify(table));
  let living = Array.from({ length: PROCESSES }, () => runProgram("stepper", place, tableFile));
  for (const { line } of living) expect(await line()).toBe("ready");
  const winners: number[] = [];
  for (let round = 0; living.length > 0; round++) {
    for (const { process } of living) process.stdin!.write("try\n");
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
  // Every step once, by who ran the thread then; one line of checkpoints, and none beside it.
  const log = STEPS.map((name, index) => `${name} by ${winners[Math.min(index, PROCESSES - 1)]}`);
  expect(history[0]).toMatchObject({ status: "completed", values: { log } });
  expect(history.map(({ step }) => step)).toEqual([-1, ...STEPS.keys()].toReversed());
  for (const [index, { parentId }] of history.entries()) expect(parentId).toBe(history[index + 1]?.id ?? null);
  expect((await store.threads())[0]?.checkpoints).toBe(history.length);
  await store.close();
}
