import type { NodeContext } from "../../runtime/interface/context.ts";
import type { Engine } from "../../runtime/interface/engine-options.ts";
import type { CheckpointHeader } from "../../runtime/interface/checkpoint.ts";
import { expectEqual } from "../../runtime/stores/conformance/expect.ts";
import { expectRefused, hostCase, noCode, type HostCase } from "./host-case.ts";

const REVIEW = `graph review { output answer: string  output log: string[] reduce append
  node write = work() into log  node approve = ask("Send it?") into answer  node send = answer into log
  start -> write, approve  all(write, approve) -> send }`;

const GATE = `graph gate { output log: string[] reduce append
  node first = work() into log  node second = work() into log { pause before }  start -> first -> second }`;

const QUESTIONS = `graph questions { output names: string[] reduce append
  node two = both() into names  node other = "other" into names  start -> two, other }`;

const PARCEL = `graph parcel { output weight: int  output log: string[] reduce append
  node picked = receive("picked_up") into weight  node done = "done" into log  start -> picked -> done }`;

const NAP = `graph nap { output log: string[] reduce append
  node before = "before" into log  node nap = receive("never") { within 300ms }  node late = error.code into log
  start -> before -> nap -> end  nap -> late on error }`;

function counted() {
  let calls = 0;
  return { calls: () => calls, functions: { work: () => `work ${++calls}` } };
}

export const PAUSES: readonly HostCase[] = [
  hostCase(
    "6.2, 6.3 a pause keeps the results beside it",
    { text: REVIEW, code: counted },
    async ({ engine }, { calls }) => {
      const paused = await engine.run({}, { thread: "t" });
      expectEqual([paused.status, paused.pauses.map(({ node }) => node)], ["paused", ["approve"]], "the run");
      const done = await engine.resume("t", { answer: "yes" });
      expectEqual([done.status, done.output], ["completed", { answer: "yes", log: ["work 1", "yes"] }], "the resume");
      expectEqual(calls(), 1, "the calls");
    },
  ),
  hostCase("6.2 an answer is consumed once", { text: REVIEW, code: counted }, async ({ engine }) => {
    const [pause] = (await engine.run({}, { thread: "t" })).pauses;
    const answers = { [pause!.id]: "yes" };
    await engine.resume("t", { answers });
    expectEqual((await engine.resume("t", { answers })).status, "completed", "the same answer again");
    await expectRefused(
      "NG_BAD_ANSWER",
      () => engine.resume("t", { answers: { [pause!.id]: "no" } }),
      "another answer",
    );
  }),
  hostCase("6.2 a gate holds its step", { text: GATE, code: counted }, async ({ engine }, { calls }) => {
    const paused = await engine.run({}, { thread: "t" });
    expectEqual([paused.status, calls()], ["paused", 1], "the run");
    expectEqual((await engine.resume("t")).output, { log: ["work 1", "work 2"] }, "the output");
  }),
  hostCase(
    "6.2 a body asks several questions",
    {
      text: QUESTIONS,
      code: () => ({
        functions: { both: ({ interrupt }: NodeContext) => `${interrupt("first")} ${interrupt("last")}` },
      }),
    },
    async ({ engine }) => {
      const first = await engine.run({}, { thread: "t" });
      expectEqual(
        first.pauses.map(({ payload }) => payload),
        ["first"],
        "the first question",
      );
      const second = await engine.resume("t", { answer: "Ada" });
      expectEqual(
        second.pauses.map(({ payload }) => payload),
        ["last"],
        "the second question",
      );
      const done = await engine.resume("t", { answer: "Lovelace" });
      expectEqual(done.output, { names: ["Ada Lovelace", "other"] }, "the output");
    },
  ),
  hostCase("W4 a signal wakes its thread", { text: PARCEL, code: noCode }, async ({ engine }) => {
    expectEqual((await engine.run({}, { thread: "t" })).status, "paused", "the status");
    await expectRefused("NG_BAD_ANSWER", () => engine.signal("t", "picked_up", "heavy"), "a value that does not fit");
    expectEqual((await engine.signal("t", "picked_up", 7, { id: "s" })).added, true, "the first signal");
    expectEqual((await engine.signal("t", "picked_up", 8, { id: "s" })).added, false, "the same signal");
    expectEqual(await statusOf(engine, "completed"), { weight: 7, log: ["done"] }, "the state");
  }),
  hostCase("W2 a deadline passes without a process that waits", { text: NAP, code: noCode }, async ({ engine }) => {
    expectEqual((await engine.run({}, { thread: "t" })).status, "paused", "the status");
    const { log } = (await statusOf(engine, "completed")) as { log: unknown };
    expectEqual(log, ["before", "NG_NODE_TIMEOUT"], "the log");
  }),
];

/** The state of the thread when it has a status that it reaches by itself. */
async function statusOf(engine: Engine, status: CheckpointHeader["status"]): Promise<unknown> {
  for (let waited = 0; ; waited += 20) {
    const found = await engine.state("t");
    if (found?.status === status || waited >= 20_000) {
      expectEqual(found?.status, status, "the status of the thread");
      return found?.state;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
