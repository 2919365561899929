import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { recordedPlanRuns } from "../../cli/serve/recorded-plan-runs.ts";
import { checkedService } from "./checked-service.ts";

/** A directory with recorded runs: the plans by the ids of their runs, in the order of their starts. */
function recorded(plans: Readonly<Record<string, string>>): string {
  const runs = mkdtempSync(join(tmpdir(), "ngraph-plan-runs-"));
  onTestFinished(() => rmSync(runs, { recursive: true }));
  for (const [index, [id, plan]] of Object.entries(plans).entries()) {
    mkdirSync(join(runs, id, "logs"), { recursive: true });
    const start = { ts: new Date(index).toISOString(), run_id: id, type: "run_start", plan, total_nodes: 1 };
    writeFileSync(join(runs, id, "transitions.jsonl"), `${JSON.stringify(start)}\n`);
    writeFileSync(join(runs, id, "logs", "1.build.log"), "text");
    writeFileSync(join(runs, id, "secret.log"), "secret");
  }
  return runs;
}

test("a page of runs is filled with those that the principal may read", async () => {
  const plans = recordedPlanRuns(recorded({ a1: "own", a2: "own", a3: "own", b1: "foreign", b2: "foreign" }));
  const { get } = checkedService({ graphs: [], plans, authorize: ({ graph }) => graph === "own" });
  expect((await get("/plans/runs?limit=2")).body.runs).toMatchObject([{ id: "a3" }, { id: "a2" }]);
  expect((await get("/plans/runs?plan=foreign")).body.runs).toEqual([]);
  expect((await get("/plans/runs/a1")).status).toBe(200);
  expect(await get("/plans/runs/b1")).toMatchObject({ status: 404, body: { code: "not-found" } });
  expect(await get("/plans/runs/b1/log?log=1.build.log")).toMatchObject({ status: 404 });
});

test("a run is cancelled by those who may, and as often as it is asked for", async () => {
  const runs = recordedPlanRuns(recorded({ a1: "own", b1: "foreign", c1: "hidden" }));
  const asked: string[] = [];
  const plans = {
    ...runs,
    cancel: (id: string) => (asked.push(id) > 2 ? { reason: "it has ended" } : undefined),
  };
  const { post } = checkedService({
    graphs: [],
    plans,
    authorize: ({ graph, action }) => graph === "own" || (graph === "foreign" && action === "read"),
  });
  expect(await post("/plans/runs/a1/cancel")).toMatchObject({ status: 202, body: { id: "a1", plan: "own" } });
  expect(await post("/plans/runs/b1/cancel")).toMatchObject({ status: 403, body: { code: "forbidden" } });
  expect(await post("/plans/runs/c1/cancel")).toMatchObject({ status: 404, body: { code: "not-found" } });
  expect(await post("/plans/runs/a1/cancel", { now: true })).toMatchObject({ status: 422 });
  expect(await post("/plans/runs/a1/cancel", {})).toMatchObject({ status: 202 });
  expect(await post("/plans/runs/a1/cancel")).toMatchObject({ status: 409, body: { detail: "it has ended" } });
  expect(asked).toEqual(["a1", "a1", "a1"]);
});

test("the record of a run that has ended, or of a service without cancels, is not cancelled", async () => {
  const runs = recordedPlanRuns(recorded({ a1: "own" }));
  const ended = checkedService({ graphs: [], plans: runs });
  expect(await ended.post("/plans/runs/a1/cancel")).toMatchObject({ status: 409, body: { code: "not-running" } });
  const { cancel: _, ...readOnly } = runs;
  const without = checkedService({ graphs: [], plans: readOnly });
  expect(await without.post("/plans/runs/a1/cancel")).toMatchObject({ status: 409, body: { code: "not-running" } });
});

test("a log is read from any position, and no file that is not a log of the run", async () => {
  const runs = recorded({ a1: "own" });
  const { get } = checkedService({ graphs: [], plans: recordedPlanRuns(runs) });
  const log = async (name: string, from: number) =>
    get(`/plans/runs/a1/log?log=${encodeURIComponent(name)}&from=${from}`);
  expect((await log("1.build.log", 1)).body).toEqual({ text: "ext", next: 4, bytes: 4, over: true });
  expect((await log("1.build.log", 1e12)).body).toMatchObject({ text: "", bytes: 4 });
  for (const name of ["../secret.log", "secret.log", "../../a1/logs/1.build.log", join(runs, "a1", "secret.log"), ".."])
    expect(await log(name, 0)).toMatchObject({ status: 404, body: { code: "not-found" } });
  for (const id of ["..", "%2e%2e", "..%2fa1", "a1%2flogs", "%2fetc", "a1%00"])
    expect((await get(`/plans/runs/${id}/log?log=1.build.log`)).status).toBe(404);
});
