/**
 * 5.2 to 5.6 under SIGKILL, at every statement that a run asks of its store. The suite takes a sample; with NGRAPH_TEST_SOAK=1
 * (`npm run test:soak`) every point is followed by every point of the recovery.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresServer } from "../stores/postgres-server.ts";
import { FAST_DIRECTORY } from "../stores/temporary-directory.ts";
import { tableOf } from "../support/graph.ts";
import { KILL_FUNCTIONS, KILL_GRAPH } from "./kill-graph.ts";
import { runTrial, runUntil, type Trial } from "./kill-sweep.ts";

const SOAK = process.env["NGRAPH_TEST_SOAK"] === "1";
/** Trials of each store in the suite. */
const SAMPLE = 24;
const NEVER = -1;
const TIMEOUT = SOAK ? 6 * 3_600_000 : 300_000;

const table = tableOf(KILL_GRAPH, KILL_FUNCTIONS);
let directory: string;
let trials = 0;
let server: PostgresServer | undefined;

beforeAll(() => {
  directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-kill-"));
  writeFileSync(join(directory, "table.json"), JSON.stringify(table));
});
afterAll(async () => {
  await server?.dispose();
  rmSync(directory, { recursive: true, force: true });
});

describe("5.2 to 5.6 a run that is killed at any statement, and its recovery at any of its own", () => {
  it("SQLite", { timeout: TIMEOUT }, () => sweep(() => join(directory, `${++trials}.db`)));

  it("Postgres", { timeout: TIMEOUT }, async () => {
    const started = (server = await PostgresServer.start());
    const place = () => `${started.url}?application_name=kill_${++trials}#kill_${trials}`;
    await sweep(place, async (of) => {
      const name = new URL(of).searchParams.get("application_name");
      const others = `SELECT pid FROM pg_stat_activity WHERE application_name = '${name}'`;
      while ((await started.query(others)).length > 0);
    });
  });
});

async function sweep(nextPlace: () => string, settle: Trial["settle"] = async () => {}): Promise<void> {
  const points = (await runUntil(makeTrial(nextPlace(), []), NEVER))!;
  expect(points).toBeGreaterThan(200);
  const { result: expected } = await runTrial(makeTrial(nextPlace(), []));
  const firsts: readonly number[] = SOAK ? Array.from({ length: points }, (_, point) => point) : sample(points);
  const next = [...firsts];
  const random = randomNumbers();
  const known = new Set<string>();
  let killedTwice = 0;
  await Promise.all([work(), work()]);
  // A recovery may end before its own kill.
  expect(killedTwice).toBeGreaterThan(firsts.length / 2);

  async function work(): Promise<void> {
    for (let first = next.shift(); first !== undefined; first = next.shift()) {
      const left = await trial(first, random(Math.max(20, points - first)));
      // A recovery knows nothing but what was left: where that is the same, so is every recovery.
      if (!SOAK || known.has(left.state)) continue;
      known.add(left.state);
      for (let second = 0; (await trial(first, second)).killed === 2; second++);
    }
  }

  async function trial(
    ...kills: readonly [number, number]
  ): Promise<{ readonly state: string; readonly killed: number }> {
    const trial = { ...makeTrial(nextPlace(), kills), settle };
    const { result, killed, left } = await runTrial(trial);
    expect(result, `killed at ${kills.join(" and ")} of ${points}`).toEqual(expected);
    if (killed === 2) killedTwice++;
    if (!trial.place.startsWith("postgres:")) removeDatabase(trial.place);
    rmSync(trial.ledger, { force: true });
    return { state: left, killed };
  }
}

function makeTrial(place: string, kills: readonly number[]): Trial {
  const ledger = join(directory, `${trials}.ledger`);
  return { place, table, tableFile: join(directory, "table.json"), ledger, kills };
}

function removeDatabase(path: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
}

/** Spread over the whole run. */
function sample(points: number): number[] {
  const random = randomNumbers();
  return Array.from({ length: SAMPLE }, (_, index) => {
    return Math.floor((index * points) / SAMPLE) + random(Math.floor(points / SAMPLE));
  });
}

/** Always the same ones. */
function randomNumbers(): (below: number) => number {
  let seed = 20_240_917;
  return (below) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}
