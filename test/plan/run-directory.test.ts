import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, afterEach, expect, test } from "vitest";
import { createRunDirectory, readJsonLines } from "../../cli/plan/run-directory.ts";
import { readRunIndex, recordedDurations, writeRunIndex } from "../../cli/plan/run-index.ts";

let root: string;
let file: string;
let runs: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "ngraph-runs-")));
  file = join(root, "ship.ngraph");
  runs = join(root, ".ngraph", "runs");
  writeFileSync(file, 'plan p {\r\n  task a = shell("true")  // é\n}');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("K-37: the file as it was at the start, byte for byte", () => {
  const before = readFileSync(file);
  const directory = createRunDirectory(runs, "r1", file);
  writeFileSync(file, 'plan p { task b = shell("false") }');
  directory.close();
  expect(readFileSync(join(directory.path, "plan.ngraph"))).toEqual(before);
});

test("K-38: the summary is written once, the log only grows", () => {
  const directory = createRunDirectory(runs, "r1", file);
  directory.appendEvent({ type: "run_start" });
  directory.writeSummary({ outcome: "clean" });
  expect(() => directory.writeSummary({ outcome: "stuck" })).toThrow(/already exists/);
  directory.appendEvent({ type: "run_end" });
  directory.close();
  expect(JSON.parse(readFileSync(join(directory.path, "summary.json"), "utf8"))).toEqual({ outcome: "clean" });
  expect(readJsonLines(join(directory.path, "transitions.jsonl"))).toEqual([
    { type: "run_start" },
    { type: "run_end" },
  ]);
  expect(readdirSync(directory.path).filter((name) => name.includes("tmp"))).toEqual([]);
  expect(() => createRunDirectory(runs, "r1", file)).toThrow(/cannot write the run's log/);
});

test("a line that a crash truncated is ignored", () => {
  const path = join(root, "log.jsonl");
  writeFileSync(path, `{"a":1}\n{"a":2}\n{"a":`);
  expect(readJsonLines(path)).toEqual([{ a: 1 }, { a: 2 }]);
});

test("an invalid id does not lead out of the directory", () => {
  expect(() => createRunDirectory(runs, "../evil", file)).toThrow(/is not a valid run id/);
});

test("the index can be rebuilt from the runs, and has the durations of tasks", () => {
  const log = (id: string, start: string, took: number, ended: boolean, attempt: object = {}): void => {
    const directory = createRunDirectory(runs, id, file);
    const at = (ms: number): string => new Date(Date.parse(start) + ms).toISOString();
    directory.appendEvent({ type: "run_start", ts: at(0), plan: "p" });
    directory.appendEvent({ type: "node_transition", ts: at(0), node_id: "a", from: "ready", to: "running" });
    directory.appendEvent({ type: "node_attempt", ts: at(took), node_id: "a", attempt: 1, ...attempt });
    directory.appendEvent({ type: "node_transition", ts: at(took), node_id: "a", from: "running", to: "done" });
    if (ended) directory.appendEvent({ type: "run_end", ts: at(took), outcome: "clean" });
    directory.close();
  };
  log("r2", "2026-01-02T00:00:00.000Z", 700, true);
  log("r1", "2026-01-01T00:00:00.000Z", 300, false);
  const expected = [
    { id: "r1", outcome: null, durations: { a: 300 } },
    { id: "r2", outcome: "clean", durations: { a: 700 } },
  ];
  expect(readRunIndex(runs)).toMatchObject(expected);
  writeRunIndex(runs);
  expect(readRunIndex(runs)).toMatchObject(expected);
  writeFileSync(join(runs, "index.json"), "{ half");
  expect(readRunIndex(runs)).toMatchObject(expected);
  expect(recordedDurations(runs, "p")("a")).toBe(700);
  expect(recordedDurations(runs, "other")("a")).toBe(undefined);
  log("r3", "2026-01-03T00:00:00.000Z", 2, true, { cached: true });
  writeRunIndex(runs);
  expect(recordedDurations(runs, "p")("a"), "a result from the cache is not a duration").toBe(700);
});
