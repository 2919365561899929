import { describeEngine } from "./engine/compare-engine.ts";

// More graphs than those of `oracle-engine.test.ts`, for a second processor.
if (process.env["SEED"] === undefined) describeEngine(5000, 7500, 100);
