import type { NodeContext } from "../../runtime/interface/context.ts";
import { expectEqual } from "../../runtime/stores/conformance/expect.ts";
import { hostCase, type HostCase } from "./host-case.ts";

const FLAKY = `graph flaky { output a: string  output b: string
  node steady = steady() into a  node shaky = shaky() into b { tries 3 backoff 1ms }
  start -> steady, shaky }`;

const ROUTED = `graph routed { output log: string[] reduce append
  node job = work() into log  node other = "other" into log  node rescue = \`\${error.node}: \${error.message}\` into log
  start -> job, other  job -> end  job -> rescue on error }`;

const SLOW = `graph slow { output log: string[] reduce append
  node job = work() into log { timeout 50ms }  node other = other() into log  node late = error.code into log
  start -> job, other  job -> end  job -> late on error }`;

const TRIP = `graph trip { state flight: string | null  state hotel: string | null
  node bookFlight = book("flight") into flight { undo cancel(flight) }
  node bookHotel = book("hotel") into hotel { undo cancel(hotel) }
  node payment = pay()
  start -> bookFlight -> bookHotel -> payment -> end  payment -> rollback on error }`;

/** Functions of which one fails a number of times. */
function failing(times: number) {
  const calls = { steady: 0, shaky: 0 };
  const functions = {
    steady: () => (calls.steady++, "steady"),
    shaky: () => {
      if (calls.shaky++ < times) throw Object.assign(new Error("not yet"), { status: 503 });
      return "shaky";
    },
  };
  return { calls, functions };
}

/** A body that catches the error of a wrong call. */
function careless(call: (context: NodeContext) => unknown) {
  const work = (context: NodeContext): string => {
    try {
      call(context);
    } catch {
      return "caught";
    }
    return "accepted";
  };
  return { functions: { work } };
}

const WRONG_CALLS: readonly (readonly [what: string, call: (context: NodeContext) => unknown, message: string])[] = [
  ["an option of `emit`", ({ emit }) => emit("data", { knd: "x" } as never), "`emit` takes a record of `kind`"],
  [
    "an option of `interrupt`",
    ({ interrupt }) => interrupt("?", { within: "1s" } as never),
    "`interrupt` takes a record",
  ],
  ["a payload of `interrupt`", ({ interrupt }) => interrupt((() => 1) as never), "`interrupt` takes plain JSON"],
];

export const FAILURES: readonly HostCase[] = [
  ...WRONG_CALLS.map(([what, call, message]) =>
    hostCase(
      `4.1 ${what} that does not fit fails the node, also if its body catches the error`,
      { text: ROUTED, code: () => careless(call) },
      async ({ engine }) => {
        const { log = [] } = (await engine.run({}, { thread: "t" })).output as { readonly log?: readonly string[] };
        const rescued = log.find((line) => line.startsWith("job: ")) ?? `no failure in ${log.join(", ")}`;
        expectEqual(rescued.includes(message) ? message : rescued, message, "the failure");
      },
    ),
  ),
  hostCase(
    "4.1 a failed task is tried again",
    { text: FLAKY, code: () => failing(2) },
    async ({ engine }, { calls }) => {
      const result = await engine.run({}, { thread: "t" });
      expectEqual([result.status, calls], ["completed", { steady: 1, shaky: 3 }], "the run");
    },
  ),
  hostCase(
    "4.3 a failed run keeps the results of its step, and a resume runs the rest",
    { text: FLAKY, code: () => failing(3) },
    async ({ engine }, { calls }) => {
      const failed = await engine.run({}, { thread: "t" });
      expectEqual([failed.status, failed.error?.code], ["failed", "NG_NODE_FAILED"], "the run");
      expectEqual(failed.error?.message.includes("not yet"), true, "the message has the cause");
      const done = await engine.resume("t");
      expectEqual([done.status, done.output], ["completed", { a: "steady", b: "shaky" }], "the resume");
      expectEqual(calls, { steady: 1, shaky: 4 }, "the calls");
    },
  ),
  hostCase(
    "4.1 an error that says so is not tried again",
    {
      text: FLAKY,
      code: () => {
        let calls = 0;
        const shaky = (): never => {
          calls++;
          throw Object.assign(new Error("never"), { retryable: false });
        };
        return { calls: () => calls, functions: { steady: () => "steady", shaky } };
      },
    },
    async ({ engine }, { calls }) => {
      expectEqual([(await engine.run({}, { thread: "t" })).status, calls()], ["failed", 1], "the run");
    },
  ),
  hostCase(
    "4.3 a failure follows its edge",
    {
      text: ROUTED,
      code: () => ({
        functions: {
          work: () => {
            throw new TypeError("broken");
          },
        },
      }),
    },
    async ({ engine }) => {
      expectEqual((await engine.run({}, { thread: "t" })).output, { log: ["other", "job: broken"] }, "the output");
    },
  ),
  hostCase(
    "4.4 a timeout reaches the body as a signal",
    {
      text: SLOW,
      code: () => {
        let isAborted = false;
        const work = ({ signal }: NodeContext) =>
          new Promise<string>((_, reject) => {
            signal.addEventListener("abort", () => {
              isAborted = true;
              reject(new Error("aborted"));
            });
          });
        return { wasAborted: () => isAborted, functions: { work, other: () => "other" } };
      },
    },
    async ({ engine }, { wasAborted }) => {
      expectEqual((await engine.run({}, { thread: "t" })).output, { log: ["other", "NG_NODE_TIMEOUT"] }, "the output");
      for (let waited = 0; waited < 5000 && !wasAborted(); waited += 10)
        await new Promise((resolve) => setTimeout(resolve, 10));
      expectEqual(wasAborted(), true, "the signal");
    },
  ),
  hostCase(
    "2.3 a result that does not fit fails its node and is not tried again",
    {
      text: FLAKY,
      code: () => {
        let calls = 0;
        return { calls: () => calls, functions: { steady: () => "steady", shaky: () => (calls++, new Map()) } };
      },
    },
    async ({ engine }, { calls }) => {
      const { error } = await engine.run({}, { thread: "t" });
      expectEqual([error?.code, calls()], ["NG_BAD_RESULT", 1], "the failure");
    },
  ),
  hostCase(
    "10 a rollback undoes the results, the newest first",
    {
      text: TRIP,
      code: () => {
        const undone: string[] = [];
        const functions = {
          book: (what: string) => what,
          cancel: (what: string) => void undone.push(what),
          pay: () => {
            throw new Error("no money");
          },
        };
        return { undone, functions };
      },
    },
    async ({ engine }, { undone }) => {
      expectEqual((await engine.run({}, { thread: "t" })).status, "rolled_back", "the status");
      expectEqual(undone, ["hotel", "flight"], "the undos");
    },
  ),
];
