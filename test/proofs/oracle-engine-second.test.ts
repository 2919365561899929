import { describeEngine } from "./engine/compare-engine.ts";

// The second half of the graphs of `oracle-engine.test.ts`, for a second processor.
if (process.env["SEED"] === undefined) describeEngine(5000, 5000, 100);
