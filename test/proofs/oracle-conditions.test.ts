import { describeFamily } from "./oracle/compare-family.ts";

describeFamily("conditions", { graphs: 10_000 });
