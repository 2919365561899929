/**
 * 5.2 to 5.6 under SIGKILL, at every statement that a run asks of its store, with a second kill somewhere in the
 * recovery. Of many kills that leave the same state, some recoveries are run. With NGRAPH_TEST_DEPTH=soak (`npm run test:soak`) every point is followed by every point of the recovery;
 * NGRAPH_TEST_SHARD=2/4 takes the second quarter of the points.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresServer } from "../stores/postgres-server.ts";
import { FAST_DIRECTORY } from "../stores/temporary-directory.ts";
import { everyNth, isBroad, isDeep, isSoak, scale } from "../support/depth.ts";
import { tableOf } from "../support/graph.ts";
import { KILL_FUNCTIONS, KILL_GRAPH } from "./kill-graph.ts";
import { type KillPlace, PostgresPlaces, sqlitePlace } from "./kill-place.ts";
import { readPictures } from "./kill-pictures.ts";
import { endsTransaction, type KillPoint } from "./kill-points.ts";
import { lookAt, NEVER, nothingSeen, runTrial, runUntil, type Trial, type TrialEnd } from "./kill-sweep.ts";

const [SHARD, SHARDS] = (process.env["NGRAPH_TEST_SHARD"] ?? "1/1").split("/").map(Number) as [number, number];
const TIMEOUT = isSoak ? 24 * 3_600_000 : 3_600_000;

const table = tableOf(KILL_GRAPH, KILL_FUNCTIONS);
let directory: string;
let trials = 0;

beforeAll(() => {
  directory = mkdtempSync(join(FAST_DIRECTORY, "ngraph-kill-"));
  writeFileSync(join(directory, "table.json"), JSON.stringify(table));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("5.2 to 5.6 a run that is killed at any statement, and its recovery at any of its own", () => {
  it("SQLite", { timeout: TIMEOUT }, async () => {
    await sweep("SQLite", () => sqlitePlace(join(directory, `${++trials}.db`), "auto"), ofDepth(everyCommit));
  });

  it("SQLite with a rollback journal", { timeout: TIMEOUT }, async () => {
    const choose = isSoak ? everyPoint : scale(isBroad ? everyTenth : everyFifth, someCommits);
    await sweep("SQLite (rollback)", () => sqlitePlace(join(directory, `${++trials}.db`), "rollback"), choose);
  });

  it("Postgres", { timeout: TIMEOUT }, async () => {
    const server = await PostgresServer.start();
    const places = new PostgresPlaces(server);
    try {
      await sweep("Postgres", () => places.place(`kill_${++trials}`), ofDepth(someCommits), 3);
    } finally {
      await places.close();
      await server.dispose();
    }
  });
});

/** The state that the recovery left when a signal killed it. */
interface RealKill {
  readonly point: number;
  readonly left: string;
}

/**
 * Which of the kills that leave the same state are followed by a recovery, each with another second kill: recoveries depend on the stored state
 * alone.
 */
const isRecovered = (earlier: number): boolean => isSoak || earlier < 3 || earlier % 8 === 0;

type Choose = (points: readonly KillPoint[]) => readonly number[];

const everyPoint: Choose = (points) => [...points.keys()];
const everyFifth: Choose = (points) => everyNth(everyPoint(points), 5);
const everyTenth: Choose = (points) => everyNth(everyPoint(points), 10);
const ofDepth = (quick: Choose): Choose => scale(isBroad ? everyFifth : everyPoint, quick);
/** A kill for each state that the store can be left in: the empty store, and after the end of each transaction. */
const everyCommit: Choose = (points) => everyPoint(points).filter((at) => at === 0 || points[at]!.when === "after");
/** Every twenty-fourth commit: before and after the statement. Before it, a rollback journal is on disk. */
const someCommits: Choose = (points) => {
  const commits = everyPoint(points).filter((point) => endsTransaction(points[point]!.sql));
  return commits.filter((_, index) => index % 48 < 2);
};

async function sweep(name: string, nextPlace: () => KillPlace, choose: Choose, abreast = 2): Promise<void> {
  const unkilled = makeTrial(nextPlace(), []);
  const points = (await runUntil(unkilled, NEVER))!;
  const expected = (await runTrial(unkilled)).result!;
  const chosen = choose(points);
  // In order, because neighbouring points leave the same state.
  const firsts = chosen.slice(((SHARD - 1) * chosen.length) / SHARDS, (SHARD * chosen.length) / SHARDS);
  if (isDeep) expect(chosen.length).toBeGreaterThan(80);
  const next = [...firsts];
  const random = randomNumbers();
  /** The state before and after the end of a transaction. */
  const atCommits = new Map<number, string>();
  /** The kills that have left each state. */
  const known = new Map<string, number>();
  const begun = Date.now();
  let [done, killedInTime, lastReport] = [0, 0, begun];
  await Promise.all(Array.from({ length: abreast }, work));
  report();
  // A recovery may end before its own kill.
  expect(killedInTime).toBeGreaterThan(firsts.length / 2);
  if (SHARDS === 1 && choose === everyPoint) expectCommitsToMatter();
  if (choose === everyCommit) expect(known.size).toBeGreaterThan(25);

  async function work(): Promise<void> {
    for (let first = next.shift(); first !== undefined; first = next.shift()) {
      const second = random(Math.max(20, points.length - first));
      // In quick, every third recovery is killed.
      const kills = isDeep || next.length % 3 === 0 ? [first, second] : [first];
      let isNew = false;
      const recovers = (left: string): boolean => {
        const earlier = known.get(left) ?? 0;
        known.set(left, earlier + 1);
        isNew = earlier === 0;
        return isRecovered(earlier);
      };
      const { left } = await check(kills, runTrial(makeTrial(nextPlace(), kills), nothingSeen(), recovers));
      if (endsTransaction(points[first]!.sql)) atCommits.set(first, left[0]!);
      if (isSoak && isNew) await killEveryRecovery(first, { point: second, left: left[1]! });
    }
  }

  async function killEveryRecovery(first: number, real: RealKill): Promise<void> {
    const base = makeTrial(nextPlace(), [first]);
    const { at } = base.place;
    if (at !== undefined) return killInPictures(base, first, at, real);
    for (let [second, killed] = [0, 2]; killed === 2; second++) {
      const kills = [first, second];
      ({ killed } = await check(kills, runTrial(makeTrial(nextPlace(), kills))));
    }
  }

  async function killInPictures(
    base: Trial,
    first: number,
    at: NonNullable<KillPlace["at"]>,
    real: RealKill,
  ): Promise<void> {
    const album = mkdtempSync(join(directory, "pictures-"));
    const seen = nothingSeen();
    await runUntil(base, first);
    await lookAt(base, seen);
    await runUntil(base, NEVER, album);
    await base.place.remove();
    for (const { path, ledger, point, points } of readPictures(album)) {
      const trial = { ...base, place: at(path), ledger, kills: [] };
      const known = structuredClone(seen);
      const left = await lookAt(trial, known);
      if (point <= real.point && real.point < point + points) expect(real.left, "a real kill").toBe(left);
      await check([first, point], runTrial(trial, known));
      killedInTime += points;
      done += points - 1;
    }
    rmSync(album, { recursive: true });
  }

  async function check(kills: readonly number[], trial: Promise<TrialEnd>): Promise<TrialEnd> {
    const at = points[kills[0]!]!;
    const where = `killed at ${kills.join(" and ")} of ${points.length}, ${at.when} ${at.sql}`;
    const end = await trial.catch((error: unknown) => {
      throw new Error(`${where}: ${String(error)}`, { cause: error });
    });
    if (end.result !== undefined) expectExpected(end.result, where);
    if (end.killed === (end.result === undefined ? 1 : kills.length)) killedInTime++;
    done++;
    if (isSoak && Date.now() - lastReport > 10_000) report();
    return end;
  }

  function expectExpected(result: string, where: string): void {
    expect(
      result.split("\n").map((line) => JSON.parse(line) as unknown),
      where,
    ).toEqual(expected.split("\n").map((line) => JSON.parse(line) as unknown));
    expect(result, where).toBe(expected);
  }

  /** Checks the points: a transaction that has ended has left a state. */
  function expectCommitsToMatter(): void {
    let differ = 0;
    for (const [point, left] of atCommits)
      if (points[point]!.when === "after" && left !== (atCommits.get(point - 1) ?? left)) differ++;
    // At least one for each step of both graphs.
    expect(differ).toBeGreaterThan(16);
  }

  function report(): void {
    lastReport = Date.now();
    const seconds = Math.round((lastReport - begun) / 1000);
    process.stderr.write(
      `${name}: ${firsts.length - next.length} of ${firsts.length} points, ${known.size} states, ` +
        `${done} trials, ${killedInTime} killed, ${seconds} s\n`,
    );
  }
}

function makeTrial(place: KillPlace, kills: readonly number[]): Trial {
  const ledger = join(directory, `${trials}.ledger`);
  return { place, table, tableFile: join(directory, "table.json"), ledger, kills };
}

/** The same points in every run. */
function randomNumbers(): (below: number) => number {
  let seed = 20_240_917;
  return (below) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}
