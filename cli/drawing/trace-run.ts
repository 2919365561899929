import type { GivenTrace } from "../replay/read-traces.ts";
import type { RunFacts } from "./drawn-run.ts";

/** The run of a counterexample. */
export function traceRun({ trace, code, message, end = "" }: GivenTrace): RunFacts {
  const about = [code, message].filter((text) => text !== undefined).join(": ");
  const barriers = Object.entries(trace.at(-1)?.barriers ?? {});
  return {
    kind: "trace",
    title: about === "" ? "a trace" : `counterexample of ${about}`,
    steps: trace.map(({ step, ran, chose }) => ({ step, ran, chose })),
    end,
    stopped: new Map(
      barriers.map(([id, arrived]) => [`[${id}]`, { state: "waits", text: `arrived: ${arrived.join(", ")}` }]),
    ),
    completed: false,
  };
}
