import { describeEngine } from "./engine/compare-engine.ts";

// The rest of the 20,000 graphs of `oracle-engine.test.ts`.
if (process.env["SEED"] === undefined) describeEngine(12_500, 7500, 100);
