/** Execution, 5.6: a run that has lost its claim is rejected, also if it notices between two calls of the store. */
import { expect, test } from "vitest";
import { LOADED_LINKER } from "../../runtime/engine/loaded-linker.ts";
import { StoreError } from "../../runtime/interface/errors.ts";
import { compileProgram } from "../../runtime/program/program.ts";
import { Cancellation } from "../../runtime/run/cancellation.ts";
import { executeRun } from "../../runtime/run/execute-run.ts";
import { NO_LIMITS } from "../../runtime/run/limits.ts";
import { MemoryNodeCache } from "../../runtime/run/node-cache.ts";
import { cancelledEnd } from "../../runtime/run/run-end.ts";
import { createCore, createShared } from "../../runtime/run/run-settings.ts";
import { Run } from "../../runtime/run/run.ts";
import { LOADED_CODE } from "../../runtime/engine/loaded-code.ts";
import { compiledTable } from "../support/compiled-engine.ts";

const table = compiledTable(`graph g { output n: int = 0  node a = 1 into n  start -> a }`);
const core = createCore(
  compileProgram(table, {}, LOADED_LINKER),
  {},
  () => new MemoryNodeCache({ now: () => 0 }),
  LOADED_CODE.openMemory,
);
const fault = new StoreError("NG_STORE_FAILED", "the claim is lost");

function ended(stop: (cancellation: Cancellation) => void): Promise<{ readonly status: string }> {
  const cancellation = new Cancellation(true);
  const run = new Run(core.program, createShared(core, {}, { threadId: "t" }), { cancellation, limits: NO_LIMITS });
  return executeRun(run, false, (of) => {
    stop(cancellation);
    return cancelledEnd(of);
  });
}

test("nobody has cancelled a run that has lost its claim", async () => {
  await expect(ended((cancellation) => cancellation.fail(fault))).rejects.toBe(fault);
});

test("a run that was cancelled before it lost its claim is cancelled", async () => {
  expect((await ended((cancellation) => cancellation.cancel(new Error("enough")))).status).toBe("cancelled");
  const both = await ended((cancellation) => {
    cancellation.cancel(new Error("enough"));
    cancellation.fail(fault);
  });
  expect(both.status).toBe("cancelled");
});
